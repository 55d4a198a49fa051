//! `pcap`.

mod capture;
mod drop_reasons;
mod fragments;
mod length;
mod names;
mod pcapng;
mod summary;
mod target;

use super::Done;
use super::traces::Reported;
use super::traces::{Files, Opened};
use crate::input::{self, Input};
use crate::output::Format;
use crate::output::printer::none_matches;
use crate::output::stop::Stop;
use crate::output::{Grouped, Output, Several, no_table};
use crate::selection::Wanted;
use capture::{Capture, Read, Source};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::{Filter, LogFile};
use etw_layouts_trace::{BytesSource, TraceFile};
use etw_layouts_trace::{Event, Trace};
use fragments::{Fragments, Key};
use names::Names;
use pcapng::{Interface, LinkType, Packet, Pcapng};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use summary::Summary;
use target::Target;

/// Write the packets of trace files as a pcapng file, for Wireshark and similar tools. Exit with status 1 if there are
/// diagnostics, packets out of order, incomplete packets or packets that cannot be written.
///
/// The sources are events of the providers Microsoft-Windows-PktMon (`pktmon start --capture`) and
/// Microsoft-Windows-NDIS-PacketCapture, or ndiscap (`netsh trace start capture=yes`). Ethernet, WiFi (802.11) and IP
/// packets are written. Packets of several files are sorted by time. While it is written, the new file has the name
/// NAME.PID.part. Existing files are not overwritten.
///
/// Each component of PktMon and each network interface is an interface of the pcapng file, with its name if the trace
/// has it. PktMon reports a packet once for each component that it passes; select components with --component. The
/// comment of a packet contains the process ID, the direction, the component and the reason of a drop, such as
/// `PID=4 TID=92 CPU=0 Component=12 Edge=1 Direction=Rx DropReason=8 Filtered DropLocation=0xe0004500`. The process is
/// the one that ran when the packet was logged; often it is not the one that sent or received the packet.
///
/// A packet that spans several events is joined, and gets the time of the last event. If one of its events is missing,
/// the others are skipped and counted. Truncated packets keep their original length; for ndiscap, this is the length
/// in the IP header. Packets are written as captured. If Wireshark shows decrypted WiFi packets as encrypted,
/// set its preference `Ignore the Protection bit` of IEEE 802.11.
///
/// JSON contains these numbers:
///   read                  events, including the log file header
///   packets               packets written
///   truncated             packets written that the capture contains only in part
///   assumed               packets of ndiscap without keywords for medium, start and end; they are assumed to be whole
///                         Ethernet packets, and have `Assumed=Ethernet` in their comment
///   out_of_order          packets written after a packet with a later time
///   incomplete_fragments  events skipped because other events of their packet are missing
///   skipped               other packets not written, by reason
///   without_packet        matching events without a packet
///
/// Without any packet, no file is written, and the exit status is 2. With `-o -`, the summary is printed to
/// standard error.
///
///     etw etl pcap -o packets.pcapng PktMon.etl
///     etw etl pcap -o card.pcapng --component 12 PktMon.etl
///     etw etl pcap -o drops.pcapng --event Microsoft-Windows-PktMon/170 PktMon.etl
///     etw etl pcap -o moment.pcapng --from 1.5 --to 2 folder
///     etw etl pcap -o - NetTrace.etl | tshark -r -
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
    /// Write the new file to this path, which must not exist; - for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Match packets of this component of PktMon. Repeatable.
    #[arg(long, value_name = "ID", help_heading = "Event selection", value_parser = component)]
    component: Vec<u16>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

fn component(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "invalid component; expected a number such as 12".to_owned())
}

/// The maximum number of interfaces in a file.
const MAX_INTERFACES: usize = 1 << 16;

/// Writes the packets of the traces.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let files = Files::open(inputs, out);
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    let opened = Opened::read(files.files, &args.wanted.schemas, out)?;
    done.unusable += opened.unusable;
    if !opened.files.iter().any(|file| file.is_readable) {
        return Ok(done);
    }
    let names = names::of_sessions(&opened.trace)?;
    if !names.iter().any(|names| names.has_packets) {
        return Err(Stop::Input(without_packets(&opened, &names)));
    }
    let target = Target::create(&args.output)?;
    let summaries = write(args, &opened, &names, &mut *target.writer(), out).map_err(|stop| target.named(stop))?;
    done.add(opened.end(out));
    done.add(end(args, target, &summaries, out)?);
    Ok(done)
}

/// Writes the packets, and returns the summaries of the input files that can be read.
fn write<'a>(
    args: &'a Args,
    opened: &'a Opened,
    names: &'a [Names],
    target: &mut dyn Write,
    out: &Output,
) -> Result<Vec<Summary<'a>>, Stop> {
    let mut writing = Writing::new(args, opened, names, target)?;
    let events = opened.trace.events();
    if !events.is_ordered()
        && let Some(file) = opened.files.first()
    {
        file.note("buffers are so far out of order that only parts are sorted".into(), out);
    }
    for event in events {
        writing.event(&event?)?;
    }
    writing.finish()
}

/// The packets of a trace in memory as a pcapng file, and their number.
pub fn packets(trace: Vec<u8>) -> Result<(Vec<u8>, u64), Stop> {
    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }
    let args = <Cli as clap::Parser>::parse_from(["etw", "-o", "-", "-"]).args;
    let out = Output::to(Box::new(io::sink()), Format::Text);
    let file = TraceFile::new("trace", BytesSource(trace))?;
    let opened = Opened::with(vec![file], vec![Reported::new("trace", &out)], &args.wanted.schemas, &mut None, &out)?;
    let names = names::of_sessions(&opened.trace)?;
    let mut bytes = Vec::new();
    let packets = write(&args, &opened, &names, &mut bytes, &out)?.iter().map(|summary| summary.packets).sum();
    Ok((bytes, packets))
}

/// The message for traces without packets.
fn without_packets(opened: &Opened, names: &[Names]) -> String {
    let files = opened.files.iter().filter(|file| file.is_readable);
    let all = Several(files.clone().count() as u64, "file");
    let events = names.iter().map(|names| names.events).sum();
    let providers = "Microsoft-Windows-PktMon or Microsoft-Windows-NDIS-PacketCapture";
    let found = match events {
        0 => format!("no events of {providers} in {all}"),
        _ => format!("{} of {providers} in {all}, none of them with a packet", Several(events, "event")),
    };
    let damaged = match files.clone().any(|file| file.is_damaged) {
        true => "; parts cannot be read, see `etw etl check`",
        false => "",
    };
    format!(
        "no packets: {found}{damaged}; capture packets with `pktmon start --capture` or `netsh trace start capture=yes`, and name \
         the trace file that it writes"
    )
}

/// The state of the new file.
struct Writing<'a, 't> {
    args: &'a Args,
    pcapng: Pcapng<&'t mut dyn Write>,
    files: Vec<File<'a>>,
    /// The numbers of the interfaces: by system and source, and by their descriptions.
    numbers: HashMap<(usize, Source, LinkType), u32>,
    described: HashMap<Interface, u32>,
    fragments: Fragments,
    /// The latest time so far.
    latest: i64,
}

/// One of the input files.
struct File<'a> {
    filter: Filter,
    /// The index of its session, and the names in it.
    session: usize,
    names: &'a Names,
    /// The index of the first file from the same boot of the same system.
    system: usize,
    summary: Summary<'a>,
    is_readable: bool,
}

impl<'a, 't> Writing<'a, 't> {
    fn new(args: &'a Args, opened: &'a Opened, names: &'a [Names], target: &'t mut dyn Write) -> Result<Self, Stop> {
        let Opened { trace, files, .. } = opened;
        let mut sessions = vec![0; files.len()];
        for (number, session) in trace.sessions().iter().enumerate() {
            session.files().iter().for_each(|file| sessions[*file] = number);
        }
        let properties = opened.filters(&args.wanted).into_iter().zip(sessions).zip(systems(trace));
        let files = files.iter().zip(properties).map(|(file, ((filter, session), system))| File {
            filter,
            session,
            names: &names[session],
            system,
            summary: Summary { file: &file.name, output: args.output.display().to_string(), ..Summary::default() },
            is_readable: file.is_readable,
        });
        let files: Vec<_> = files.collect();
        Ok(Self {
            args,
            pcapng: Pcapng::new(target)?,
            fragments: Fragments::new(files.len()),
            files,
            numbers: HashMap::new(),
            described: HashMap::new(),
            latest: i64::MIN,
        })
    }

    /// Adds the packet of an event, if it has one that matches.
    fn event(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        let (number, processor, header) = (event.file_index(), event.processor(), event.header());
        let (log, clock) = (event.file().log_file(), event.file().clock());
        let file = &mut self.files[number];
        file.summary.read += 1;
        if !event.matches(&file.filter) {
            return Ok(());
        }
        let read = capture::read(&header, event.schemas(), log.build);
        if matches!(&read, Read::Packet(capture) if !is_wanted(self.args, capture.source)) {
            return Ok(());
        }
        file.summary.matching += 1;
        let capture = match read {
            Read::Packet(capture) => capture,
            Read::None => {
                file.summary.without_packet += 1;
                return Ok(());
            }
            Read::Skipped(reason) => {
                file.summary.skip(reason);
                return Ok(());
            }
        };
        let Capture { source, link_type, direction, .. } = capture;
        let thread = header.thread();
        let idle = (thread == Some(0)).then_some(processor);
        let key = Key { session: file.session, thread, idle, source, link_type, direction };
        let Some((data, fragments)) = self.fragments.add(number, key, capture.part, capture.data) else { return Ok(()) };
        let stated = if capture.original.is_none() { length::stated(link_type, &data) } else { None };
        let original = capture.original.or(stated.and_then(|length| u32::try_from(length).ok())).unwrap_or(0);
        let original = original.max(data.len() as u32);
        let Some(interface) = self.interface(number, source, link_type, log)? else {
            self.files[number].summary.skip(format!("more than {} interfaces", Grouped(MAX_INTERFACES as u64)));
            return Ok(());
        };
        let mut comment = String::new();
        for (name, number) in [("PID", header.process()), ("TID", thread), ("CPU", Some(processor.into()))] {
            // Kernel events may have no process and no thread.
            if let Some(number) = number.filter(|number| *number != u32::MAX) {
                comment += &format!("{name}={number} ");
            }
        }
        comment += capture.comment.trim_start();
        if fragments > 1 {
            comment += &format!(" Fragments={fragments}");
        }
        let time = clock.system_time(event.tick());
        let summary = &mut self.files[number].summary;
        summary.packets += 1;
        summary.out_of_order += u64::from(time < self.latest);
        self.latest = self.latest.max(time);
        summary.assumed += u64::from(capture.is_assumed);
        summary.truncated += u64::from(original as usize > data.len());
        let packet = Packet { interface, time, data: &data, original, direction, comment: &comment };
        Ok(self.pcapng.packet(&packet)?)
    }

    /// The number of an interface. The interface is described before its first packet. `None` if there are too many interfaces.
    fn interface(&mut self, file: usize, source: Source, link_type: LinkType, log: &LogFile) -> Result<Option<u32>, Stop> {
        let File { names, system, summary, .. } = &self.files[file];
        let key = (*system, source, link_type);
        if let Some(number) = self.numbers.get(&key) {
            return Ok(Some(*number));
        }
        let are_several = self.files.iter().any(|file| file.system != 0);
        let interface = names.interface(source, link_type, log, are_several.then_some(summary.file));
        let number = match self.described.get(&interface) {
            Some(number) => *number,
            None if self.described.len() >= MAX_INTERFACES => return Ok(None),
            None => self.pcapng.interface(&interface)?,
        };
        self.described.insert(interface, number);
        self.numbers.insert(key, number);
        Ok(Some(number))
    }

    /// Completes the file. Returns the summaries of the input files that can be read.
    fn finish(self) -> Result<Vec<Summary<'a>>, Stop> {
        self.pcapng.finish()?;
        let files = self.files.into_iter().zip(self.fragments.finish()).filter(|(file, _)| file.is_readable);
        let summary = |(file, lost): (File<'a>, u64)| {
            let mut summary = file.summary;
            summary.incomplete_fragments = lost;
            summary
        };
        Ok(files.map(summary).collect())
    }
}

/// For each file, the index of the first file from the same boot of the same system.
fn systems(trace: &Trace) -> Vec<usize> {
    let logs: Vec<_> = trace.files().iter().map(|file| file.log_file()).collect();
    let first_of = |log: &LogFile| logs.iter().position(|first| LogFile::join(&[first, log]).is_ok()).unwrap_or(0);
    logs.iter().map(|log| first_of(log)).collect()
}

/// Whether --component matches.
fn is_wanted(args: &Args, source: Source) -> bool {
    args.component.is_empty() || args.component.iter().any(|id| source == Source::Component(*id))
}

/// Gives the new file its name and reports its content.
fn end(args: &Args, target: Target, summaries: &[Summary<'_>], out: &mut Output) -> Result<Outcome, Stop> {
    let is_stdout = target.is_stdout();
    target.finish()?;
    for summary in summaries {
        match is_stdout {
            true => out.aside(summary),
            false => out.line(summary)?,
        }
    }
    let sum = |of: fn(&Summary<'_>) -> u64| summaries.iter().map(of).sum::<u64>();
    if sum(|summary| summary.matching) == 0 {
        none_matches(sum(|summary| summary.read), &args.wanted, out);
    }
    Ok(if summaries.iter().all(Summary::is_whole) { Outcome::Good } else { Outcome::Differs })
}
