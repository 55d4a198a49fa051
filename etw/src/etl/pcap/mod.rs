//! `pcap`.

mod capture;
mod drop_reasons;
mod fragments;
mod length;
mod names;
mod pcapng;
mod summary;
mod target;

use super::merged::Loaded;
use crate::carried;
use crate::input::Files;
use crate::output::line::Origin;
use crate::output::printer::none_matches;
use crate::output::stop::Stop;
use crate::output::tally::Tally;
use crate::output::{Grouped, Output, Several, no_table};
use crate::selection::Wanted;
use capture::{Capture, Read, Source};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::{Diagnostic, Event, Filter, LogFile, Schemas, Trace, merge};
use fragments::{Fragments, Key};
use names::Names;
use pcapng::{Interface, LinkType, Packet, Pcapng};
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use summary::Summary;
use target::Target;

/// Write the packets of trace files as a pcapng file, for Wireshark and similar tools. Exit with status 1 if there are
/// diagnostics, packets out of order, incomplete packets or packets that cannot be written.
///
/// The sources are events of the providers Microsoft-Windows-PktMon (`pktmon start --capture`) and
/// Microsoft-Windows-NDIS-PacketCapture, or ndiscap (`netsh trace start capture=yes`). Ethernet, WiFi (802.11) and IP
/// packets are written. Packets of several files are sorted by time. Files are read into memory; several files can
/// have up to 4 GiB together. While it is written, the new file has the name NAME.PID.part. Existing files are not
/// overwritten.
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
    pub(crate) files: Files,
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
const MOST: usize = 1 << 16;

/// Writes the packets of the traces.
pub fn run(args: &Args, traces: &[(&Loaded<'_>, Trace<'_>)], out: &mut Output) -> Result<Outcome, Stop> {
    if traces.is_empty() {
        return Ok(Outcome::Good);
    }
    let names: Vec<_> = traces.iter().map(|(file, _)| file.name).collect();
    let own = carried::of_traces(&names, traces.iter().map(|(_, trace)| trace), out);
    let schemas: Vec<_> = traces.iter().map(|(_, trace)| args.wanted.schemas.of_trace(trace.log_file(), own.clone())).collect();
    let mut parts: Vec<_> =
        traces.iter().zip(&schemas).map(|((file, trace), schemas)| Part::new(args, file, trace, schemas)).collect();
    if !parts.iter().any(|part| part.names.has_packets) {
        return Err(Stop::Input(without_packets(&parts)));
    }
    let target = Target::create(&args.output)?;
    let mut writing = Writing::new(args, traces, &target)?;
    let mut order = merge(traces.iter().map(|(_, trace)| trace));
    while let Some((file, event)) = order.next_event() {
        let part = &mut parts[file];
        match event {
            Ok(timed) => {
                let origin = Origin { buffer: timed.buffer, offset: timed.buffer_offset, processor: timed.processor };
                if let Some(kind) = timed.event.fault() {
                    part.diagnostic(&origin.diagnostic(&timed.event, kind), out);
                }
                writing.event(file, &timed.event, origin, part)?;
            }
            Err(diagnostic) => part.diagnostic(&diagnostic, out),
        }
    }
    for (part, lost) in parts.iter_mut().zip(writing.finish()?) {
        part.summary.incomplete_fragments = lost;
    }
    end(args, target, &parts, out)
}

/// The message for traces without packets.
fn without_packets(parts: &[Part<'_>]) -> String {
    let all = Several(parts.len() as u64, "file");
    let events = parts.iter().map(|part| part.names.events).sum();
    let providers = "Microsoft-Windows-PktMon or Microsoft-Windows-NDIS-PacketCapture";
    let found = match events {
        0 => format!("no events of {providers} in {all}"),
        _ => format!("{} of {providers} in {all}, none of them with a packet", Several(events, "event")),
    };
    let damaged = match parts.iter().any(|part| part.names.is_damaged) {
        true => "; parts cannot be read, see `etw etl check`",
        false => "",
    };
    format!(
        "no packets: {found}{damaged}; capture packets with `pktmon start --capture` or `netsh trace start capture=yes`, and name \
         the trace file that it writes"
    )
}

/// One of the input files.
struct Part<'a> {
    log: &'a LogFile,
    schemas: &'a Schemas,
    filter: Filter,
    names: Names,
    tally: Tally,
    summary: Summary<'a>,
}

impl<'a> Part<'a> {
    fn new(args: &Args, file: &Loaded<'a>, trace: &'a Trace<'_>, schemas: &'a Schemas) -> Self {
        let log = trace.log_file();
        Self {
            log,
            schemas,
            filter: args.wanted.filter(log.start_time, schemas),
            names: Names::of(trace, schemas),
            tally: Tally::default(),
            summary: Summary::new(file.name, args.output.display().to_string()),
        }
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &Output) {
        if let Some(line) = self.tally.add(Some(self.summary.file), diagnostic) {
            out.aside(&line);
        }
    }
}

/// The state of the new file.
struct Writing<'a> {
    args: &'a Args,
    target: &'a Target,
    pcapng: Pcapng<Box<dyn Write + 'a>>,
    /// For each input file, the index of the first file from the same boot of the same system.
    systems: Vec<usize>,
    /// Names of the input files, if they are from several systems.
    names: Vec<Option<&'a str>>,
    /// The numbers of the interfaces: by system and source, and by their descriptions.
    numbers: HashMap<(usize, Source, LinkType), u32>,
    described: HashMap<Interface, u32>,
    fragments: Fragments,
    /// The latest time so far.
    latest: i64,
}

impl<'a> Writing<'a> {
    fn new(args: &'a Args, traces: &[(&Loaded<'a>, Trace<'_>)], target: &'a Target) -> Result<Self, Stop> {
        let logs: Vec<_> = traces.iter().map(|(_, trace)| trace.log_file()).collect();
        let first_of = |log: &LogFile| logs.iter().position(|first| LogFile::join(&[first, log]).is_ok()).unwrap_or(0);
        let systems: Vec<_> = logs.iter().map(|log| first_of(log)).collect();
        let are_several = systems.iter().any(|system| *system != 0);
        let names = traces.iter().map(|(file, _)| are_several.then_some(file.name)).collect();
        Ok(Self {
            args,
            target,
            pcapng: Pcapng::new(target.writer()).map_err(|error| target.unwritable(error))?,
            systems,
            names,
            numbers: HashMap::new(),
            described: HashMap::new(),
            fragments: Fragments::new(logs.len()),
            latest: i64::MIN,
        })
    }

    /// Adds the packet of an event, if it has one that matches.
    fn event(&mut self, file: usize, event: &Event<'_>, origin: Origin, part: &mut Part<'_>) -> Result<(), Stop> {
        let clock = part.log.to_clock();
        part.summary.read += 1;
        if !part.filter.takes(event, origin.processor, &clock) {
            return Ok(());
        }
        let read = capture::read(event, part.schemas, part.log.build);
        if matches!(&read, Read::Packet(capture) if !self.is_wanted(capture.source)) {
            return Ok(());
        }
        part.summary.matching += 1;
        let capture = match read {
            Read::Packet(capture) => capture,
            Read::None => {
                part.summary.without_packet += 1;
                return Ok(());
            }
            Read::Skipped(reason) => {
                part.summary.skip(reason);
                return Ok(());
            }
        };
        let Capture { source, link_type, direction, .. } = capture;
        let thread = event.thread();
        let idle = (thread == Some(0)).then_some(origin.processor);
        let key = Key { file, thread, idle, source, link_type, direction };
        let Some((data, fragments)) = self.fragments.add(key, capture.part, capture.data) else { return Ok(()) };
        let stated = if capture.original.is_none() { length::stated(link_type, &data) } else { None };
        let original = capture.original.or(stated.and_then(|length| u32::try_from(length).ok())).unwrap_or(0);
        let original = original.max(data.len() as u32);
        let Some(interface) = self.interface(file, source, link_type, part)? else {
            part.summary.skip(format!("more than {} interfaces", Grouped(MOST as u64)));
            return Ok(());
        };
        let mut comment = String::new();
        for (name, number) in [("PID", event.process()), ("TID", thread), ("CPU", Some(origin.processor.into()))] {
            // Kernel events may have no process and no thread.
            if let Some(number) = number.filter(|number| *number != u32::MAX) {
                comment += &format!("{name}={number} ");
            }
        }
        comment += capture.comment.trim_start();
        if fragments > 1 {
            comment += &format!(" Fragments={fragments}");
        }
        let time = clock.system_time(event.time_stamp().unwrap_or(0));
        part.summary.packets += 1;
        part.summary.out_of_order += u64::from(time < self.latest);
        self.latest = self.latest.max(time);
        part.summary.assumed += u64::from(capture.is_assumed);
        part.summary.truncated += u64::from(original as usize > data.len());
        let packet = Packet { interface, time, data: &data, original, direction, comment: &comment };
        self.pcapng.packet(&packet).map_err(|error| self.target.unwritable(error))
    }

    /// Whether --component matches.
    fn is_wanted(&self, source: Source) -> bool {
        let wanted = &self.args.component;
        wanted.is_empty() || wanted.iter().any(|id| source == Source::Component(*id))
    }

    /// The number of an interface. The interface is described before its first packet. `None` if there are too many interfaces.
    fn interface(&mut self, file: usize, source: Source, link_type: LinkType, part: &Part<'_>) -> Result<Option<u32>, Stop> {
        let key = (self.systems[file], source, link_type);
        if let Some(number) = self.numbers.get(&key) {
            return Ok(Some(*number));
        }
        let interface = part.names.interface(source, link_type, part.log, self.names[file]);
        let number = match self.described.get(&interface) {
            Some(number) => *number,
            None if self.described.len() >= MOST => return Ok(None),
            None => self.pcapng.interface(&interface).map_err(|error| self.target.unwritable(error))?,
        };
        self.described.insert(interface, number);
        self.numbers.insert(key, number);
        Ok(Some(number))
    }

    /// Completes the file. Returns the number of fragments of incomplete packets for each input file.
    fn finish(self) -> Result<Vec<u64>, Stop> {
        self.pcapng.finish().map_err(|error| self.target.unwritable(error))?;
        Ok(self.fragments.finish())
    }
}

/// Gives the new file its name and reports its content.
fn end(args: &Args, target: Target, parts: &[Part<'_>], out: &mut Output) -> Result<Outcome, Stop> {
    let is_stdout = target.is_stdout();
    target.finish()?;
    let mut outcome = Outcome::Good;
    for Part { tally, summary, .. } in parts {
        for line in tally.more(Some(summary.file)) {
            out.aside(&line);
        }
        if !summary.is_whole() || tally.outcome() == Outcome::Differs {
            outcome = Outcome::Differs;
        }
        match is_stdout {
            true => out.aside(summary),
            false => out.line(summary)?,
        }
    }
    let sum = |of: fn(&Summary<'_>) -> u64| parts.iter().map(|part| of(&part.summary)).sum::<u64>();
    if sum(|summary| summary.matching) == 0 {
        none_matches(sum(|summary| summary.read), &args.wanted, out);
    }
    Ok(outcome)
}
