//! Trace files.

use etw_layouts::LAYOUTS;
use etw_layouts::runtime::View;
use etw_layouts_etl::check::check;
use etw_layouts_etl::wire::Arch;
use etw_layouts_etl::{Buffer, ClockType, DiagnosticKind, Event, Reader, Scratch, Trace};
use test_support::logging::logging;
use test_support::traces;

/// All reading methods give the same events. Each event has the same bytes when it is written again. Diagnostics can be
/// displayed. If the header of one buffer of an intact file is destroyed, only events of that buffer are lost.
pub fn run(input: &[u8]) {
    views(input);
    let streamed = streamed(input);
    let Ok(trace) = Trace::from_bytes(input) else {
        assert_eq!(streamed, None);
        return;
    };
    let (mut scratch, mut events) = (Scratch::default(), 0);
    for buffer in trace.buffers().filter_map(Result::ok) {
        let decoded = buffer.decode(&mut scratch);
        let most = decoded.bytes().len() / 8 + 1;
        let before = events;
        for event in decoded.events() {
            match event {
                Ok(event) => {
                    touch(&event, &trace);
                    events += 1;
                }
                Err(diagnostic) => assert!(!diagnostic.to_string().is_empty()),
            }
        }
        assert!(events - before <= most);
        assert_eq!(traces::written_again_differs(&buffer, &decoded), None);
    }
    assert_eq!(streamed, Some(events));
    assert_eq!(trace.events().flatten().count(), events);
    check(&trace, &mut |diagnostic| assert!(!diagnostic.to_string().is_empty()));
    survivors(input, &trace);
}

/// Destroys the header of one buffer, selected by the input: the events of all others remain, with a diagnostic.
fn survivors(input: &[u8], trace: &Trace<'_>) {
    let buffers: Result<Vec<_>, _> = trace.buffers().collect();
    let Some(buffers) = buffers.ok().filter(|buffers| !has_other_headers(input, trace, buffers)) else {
        return;
    };
    let choice = input.iter().fold(input.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let buffer = &buffers[choice % buffers.len()];
    let size = |size: u32| size.to_le_bytes().to_vec();
    let ways = [vec![0; 0x48], vec![0xA5; 0x48], size(0), size(0x50), size(u32::MAX), size(buffer.header().size + 8)];
    let way = &ways[choice / 7 % ways.len()];
    let start = buffer.offset() as usize;
    let Some(place) = input.get(start..start + 0x48) else { return };
    let mut damaged = input.to_vec();
    damaged[start..start + way.len()].copy_from_slice(way);
    let range = buffer.offset()..buffer.offset() + buffer.bytes().len() as u64;
    let others = |bytes: &[u8]| {
        let Ok(trace) = Trace::from_bytes(bytes) else { return Vec::new() };
        let (mut scratch, mut events) = (Scratch::default(), Vec::new());
        for buffer in trace.buffers().flatten().filter(|buffer| !range.contains(&buffer.offset())) {
            let decoded = buffer.decode(&mut scratch);
            events.extend(decoded.events().flatten().map(|event| (buffer.offset(), event.offset(), event.bytes().to_vec())));
        }
        events
    };
    assert!(others(&damaged) == others(input), "events of other buffers are lost");
    let is_found = Trace::from_bytes(&damaged).is_ok_and(|trace| trace.buffers().any(|buffer| buffer.is_err()));
    assert!(is_found || way[..] == place[..way.len()] || trace.log_file().buffers_written == 0, "damage is not found");
}

/// Whether bytes within a buffer resemble headers. If so, the bytes after the damage can be read as buffers.
fn has_other_headers(input: &[u8], trace: &Trace<'_>, buffers: &[Buffer<'_>]) -> bool {
    let word = |at: usize| input.get(at..at + 4).map_or(0, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let log = trace.log_file();
    let fits = |size: u32| (0x48..=log.buffer_size).contains(&size);
    let is_other = |at: usize| {
        let end = word(at + 0x30);
        let header = fits(word(at))
            && fits(end)
            && (end == word(at + 4) || log.version[0] < 6 && word(at + 4) == 0)
            && word(at + 0x34) < 8 << 16;
        let trace = matches!(word(at + 0x48) >> 16, 0xC001 | 0xC002) && word(at + 0x4C) >> 16 == 0;
        header || trace
    };
    let mut starts = buffers.iter().map(|buffer| buffer.offset() as usize).peekable();
    (0..input.len()).any(|at| starts.next_if_eq(&at).is_none() && is_other(at))
}

/// Number of events from streaming; `None` if it is not a trace.
fn streamed(input: &[u8]) -> Option<usize> {
    let mut reader = Reader::new(input).ok()?;
    let mut events = 0;
    while let Some(decoded) = reader.next_buffer().expect("memory does not fail") {
        let Ok(decoded) = decoded else { continue };
        events += decoded.events().filter(Result::is_ok).count();
    }
    Some(events)
}

fn touch(event: &Event<'_>, trace: &Trace<'_>) {
    let time = event.time_stamp().map(|stamp| trace.clock().system_time(stamp));
    let _ = (time, event.thread(), event.process(), event.provider(), event.id(), event.version(), event.opcode());
    let _ = (event.level(), event.keyword(), event.task(), event.channel(), event.flags(), event.activity_id());
    let _ = event.related_activity_id();
    let items: usize = event.items().map(|item| item.size()).sum();
    assert!(items + event.payload().len() <= event.bytes().len());
    let _ = event.header();
    if let Some(logging) = event.trace_logging() {
        // The number of steps is proportional to the size of the event, for any stated counts.
        assert!(logging.steps().count() <= 300 * (64 + event.bytes().len()));
    }
}

/// Reads the input as a structure in memory; the input selects structure and build.
fn views(input: &[u8]) {
    let Some((&[which, kernel, arch, at], memory)) = input.split_first_chunk() else { return };
    let structure = LAYOUTS.structures().nth(usize::from(which) % LAYOUTS.structures().count().max(1));
    let kernel = LAYOUTS.revisions().nth(usize::from(kernel) % LAYOUTS.revisions().count().max(1));
    let Some((structure, kernel)) = structure.zip(kernel) else { return };
    let arch = if arch % 2 == 0 { Arch::X86 } else { Arch::X64 };
    let selected = structure.select(kernel.build, arch);
    let view = selected.ok().and_then(|selected| View::at(selected.layout, memory, at.into()).ok());
    if let Some(view) = view {
        assert_eq!(view.members().count(), view.layout().members().count());
        assert!(view.members().all(|(member, value)| value.bytes().len() == member.size));
        assert!(!format!("{view:?}").is_empty());
    }
}

/// A small file for every valid combination of target, clock and compression.
pub fn seeds() -> Vec<Vec<u8>> {
    let wanted = traces::all(1).into_iter().filter(|trace| !trace.name.contains(&format!("{:?}", ClockType::SystemTime)));
    wanted.map(|trace| trace.bytes).chain([logging().trace()]).collect()
}

/// The number of events in a trace that was saved from damaged memory. All must be complete; times and buffer numbers can be
/// arbitrary.
pub(crate) fn saved_events(file: &[u8]) -> u64 {
    let trace = Trace::from_bytes(file).expect("the saved trace");
    let mut events = 0;
    for event in trace.events() {
        match event.map_err(|diagnostic| diagnostic.kind) {
            Ok(_) => events += 1,
            Err(
                DiagnosticKind::Copy(_)
                | DiagnosticKind::BufferTime(_)
                | DiagnosticKind::StartTime(_)
                | DiagnosticKind::NotClosed { .. }
                | DiagnosticKind::ImplausibleRate(_)
                | DiagnosticKind::ClockStamp { .. },
            ) => {}
            Err(what) => panic!("not a complete event: {what:?}"),
        }
    }
    events
}
