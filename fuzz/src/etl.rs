//! Trace files.

use etw_layouts::runtime::View;
use etw_layouts::structures;
use etw_layouts_etl::check::check;
use etw_layouts_etl::wire::Arch;
use etw_layouts_etl::{ClockType, Event, Parts, Reader, Scratch, Trace};
use test_support::logging::logging;
use test_support::traces;

/// Read in every way, a file has the same events; what is taken apart is put together as it was; findings can be told.
pub fn run(input: &[u8]) {
    views(input);
    let streamed = streamed(input);
    let Ok(trace) = Trace::new(input) else {
        assert_eq!(streamed, None);
        return;
    };
    let (mut scratch, mut events) = (Scratch::default(), 0);
    for buffer in trace.buffers().filter_map(Result::ok) {
        let image = buffer.image(&mut scratch);
        let most = image.bytes().len() / 8 + 1;
        let before = events;
        for event in image.events() {
            match event {
                Ok(event) => {
                    touch(&event, &trace);
                    events += 1;
                }
                Err(finding) => assert!(!finding.to_string().is_empty()),
            }
        }
        assert!(events - before <= most);
        assert!(Parts::of(&buffer, &image).bytes().expect("what was read") == buffer.bytes());
    }
    assert_eq!(streamed, Some(events));
    let (mut order, mut timed) = (trace.by_time(), 0);
    while let Some(event) = order.next_event() {
        timed += usize::from(event.is_ok());
    }
    assert_eq!(timed, events);
    check(&trace, &mut |finding| assert!(!finding.to_string().is_empty()));
}

/// The events that are read as the bytes come; `None` if it is no trace.
fn streamed(input: &[u8]) -> Option<usize> {
    let mut reader = Reader::new(input).ok()?;
    let mut events = 0;
    while let Some(image) = reader.next_image().expect("memory does not fail") {
        let Ok(image) = image else { continue };
        events += image.events().filter(Result::is_ok).count();
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
        // In proportion to the event, whatever it says of itself.
        assert!(logging.steps().count() <= 300 * (64 + event.bytes().len()));
    }
}

/// The input as a structure in memory, which and of which build it tells itself.
fn views(input: &[u8]) {
    let Some((&[which, kernel, arch, at], memory)) = input.split_first_chunk() else { return };
    let structure = structures::ALL[usize::from(which) % structures::ALL.len()];
    let kernels = structure.axis.kernels;
    let arch = if arch % 2 == 0 { Arch::X86 } else { Arch::X64 };
    let selected = structure.select(kernels[usize::from(kernel) % kernels.len()].build, arch);
    let view = selected.ok().and_then(|selected| View::at(selected.layout, memory, at.into()).ok());
    if let Some(view) = view {
        assert_eq!(view.members().len(), view.layout().members.len());
        assert!(view.members().all(|(member, value)| value.bytes().len() == member.size));
        assert!(!format!("{view:?}").is_empty());
    }
}

/// A small file for every target, clock and compression that goes together.
pub fn seeds() -> Vec<Vec<u8>> {
    let wanted = traces::all(1).into_iter().filter(|trace| !trace.name.contains(&format!("{:?}", ClockType::SystemTime)));
    wanted.map(|trace| trace.bytes).chain([logging().trace()]).collect()
}
