//! `info`.

use super::lost::Lost;
use crate::input::{Files, Opened};
use crate::output::line::Origin;
use crate::output::stop::Stop;
use crate::output::tally::{DiagnosticLine, Tally};
use crate::output::{Escaped, Grouped, Output, Several, no_table};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::wire::LOG_FILE_MODE;
use etw_layouts_etl::{ClockType, FileTime, HeaderType, LogFile};
use etw_layouts_trace::Losses;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// Summarize trace files: settings of the session, lost events, buffers and events. Exit with status 1 if there
/// are diagnostics.
///
/// The numbers of lost events and buffers are those of the session up to the end of the file. The time zone is that at
/// the start. Diagnostics are one line for each kind; a file of a session that was still running has a note.
///
/// In JSON, `original_file` is the file name in the log file header. `buffers_with_events_lost` and
/// `buffers_with_buffer_lost` are the numbers of buffers with the flags EVENTS_LOST and BUFFER_LOST.
///
///     etw etl info trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
}

/// The summary of a file. `None` means that the file does not state the value.
#[derive(Default, Serialize)]
pub struct Info<'a> {
    file: &'a str,
    session: String,
    /// The file name in the log file header.
    original_file: String,
    version: String,
    build: u32,
    pointer_size: u32,
    processors: u32,
    mode: u32,
    mode_names: String,
    clock: u32,
    clock_name: Option<&'static str>,
    /// Whether the file states no clock, so that events have no times: `etw etl carve` wrote it without the log file header.
    has_no_times: bool,
    perf_frequency: i64,
    cpu_mhz: u32,
    boot_time: Option<i64>,
    boot_time_utc: Option<String>,
    start_time: i64,
    start_time_utc: Option<String>,
    end_time: Option<i64>,
    end_time_utc: Option<String>,
    /// In minutes: local time at the start of the session is UTC plus this value.
    time_zone_minutes: i64,
    is_daylight_saving_time: bool,
    #[serde(flatten)]
    lost: Lost,
    buffer_size: u32,
    buffers: u32,
    compressed_buffers: u32,
    events: u64,
    headers: BTreeMap<&'static str, u64>,
    diagnostics_total: u64,
    /// One of each kind with the number of others; or the first hundred of each kind, then the number of others.
    diagnostics: Vec<DiagnosticLine<'a>>,
}

pub fn run(source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    let info = read(source, Tally::new(out.is_detailed))?;
    out.line(&info)?;
    Ok(if info.diagnostics_total > 0 { Outcome::Differs } else { Outcome::Good })
}

/// Reads a file as a stream, and counts its diagnostics in a tally.
pub fn read(source: Opened<'_>, mut tally: Tally) -> Result<Info<'_>, Stop> {
    let name = source.name;
    let mut buffers = source.reader()?;
    let mut info = Info::new(name, buffers.log_file());
    let mut types: BTreeMap<HeaderType, u64> = BTreeMap::new();
    let mut losses = Losses::default();
    while let Some(buffer) = buffers.next()? {
        let decoded = match buffer {
            Ok(decoded) => decoded,
            Err(diagnostic) => {
                info.diagnostics.extend(tally.add(None, &diagnostic));
                continue;
            }
        };
        let origin = Origin::new(decoded.buffer());
        info.buffers += 1;
        losses.add(decoded.buffer().header());
        info.compressed_buffers += u32::from(decoded.buffer().header().is_compressed());
        for event in decoded.events() {
            match event {
                Ok(event) => {
                    *types.entry(event.header_type()).or_default() += 1;
                    if let Some(kind) = event.fault() {
                        info.diagnostics.extend(tally.add(None, &origin.diagnostic(&event, kind)));
                    }
                }
                Err(diagnostic) => info.diagnostics.extend(tally.add(None, &diagnostic)),
            }
        }
    }
    info.lost.add(losses);
    drop(buffers);
    info.events = types.values().sum();
    info.headers = types.into_iter().map(|(ty, count)| (ty.name(), count)).collect();
    info.diagnostics_total = tally.total();
    info.diagnostics.extend(tally.more(None));
    Ok(info)
}

impl<'a> Info<'a> {
    fn new(file: &'a str, log: &LogFile) -> Self {
        let [major, minor, ..] = log.version;
        let offset = log.utc_offset(log.start_time);
        let utc = |time: i64| stated(time).map(|time| FileTime(time).rfc3339().to_string());
        Self {
            file,
            session: log.logger_name.clone(),
            original_file: log.file_name.clone(),
            version: format!("{major}.{minor}"),
            build: log.build,
            pointer_size: log.pointer_size,
            processors: log.processors,
            mode: log.mode,
            mode_names: if log.mode == 0 { String::new() } else { format!("{:?}", LOG_FILE_MODE(log.mode)) },
            clock: log.clock,
            clock_name: ClockType::from_value(log.clock).map(ClockType::name),
            has_no_times: !log.states_times(),
            perf_frequency: log.perf_frequency,
            cpu_mhz: log.cpu_mhz,
            boot_time: stated(log.boot_time),
            boot_time_utc: utc(log.boot_time),
            start_time: log.start_time,
            start_time_utc: utc(log.start_time),
            end_time: stated(log.end_time),
            end_time_utc: utc(log.end_time),
            time_zone_minutes: offset.minutes,
            is_daylight_saving_time: offset.is_daylight,
            lost: Lost::stated([log]),
            buffer_size: log.buffer_size,
            ..Self::default()
        }
    }
}

impl Display for Info<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", Escaped(self.file))?;
        writeln!(f, "  session        {}", Escaped(&self.session))?;
        writeln!(f, "  original file  {}", Escaped(&self.original_file))?;
        let Self { version, build, .. } = self;
        let processors = Several(self.processors.into(), "processor");
        if self.has_no_times {
            writeln!(f, "  windows        unknown, {}-bit, {processors}", self.pointer_size * 8)?;
        } else {
            writeln!(f, "  windows        {version}.{build}, {}-bit, {processors}", self.pointer_size * 8)?;
        }
        writeln!(f, "  mode           {}", if self.mode == 0 { "none" } else { &self.mode_names })?;
        match (self.clock_name, self.clock) {
            (Some(name), 1) => writeln!(f, "  clock          {name}, {} Hz", self.perf_frequency)?,
            (Some(name), 3) => writeln!(f, "  clock          {name}, {} MHz", self.cpu_mhz)?,
            (Some(name), _) => writeln!(f, "  clock          {name}")?,
            (None, 0) if self.has_no_times => writeln!(f, "  clock          unknown: events have no times")?,
            (None, clock) => writeln!(f, "  clock          unknown type {clock}; read as performance counter")?,
        }
        for (what, time, without) in [
            ("booted ", self.boot_time, "unknown"),
            ("started", stated(self.start_time), "unknown"),
            ("ended  ", self.end_time, "unknown: file was not closed"),
        ] {
            match time {
                Some(time) => writeln!(f, "  {what}        {}", FileTime(time))?,
                None => writeln!(f, "  {what}        {without}")?,
            }
        }
        let (sign, zone) = (if self.time_zone_minutes < 0 { '-' } else { '+' }, self.time_zone_minutes.unsigned_abs());
        let saving = if self.is_daylight_saving_time { ", daylight saving time" } else { "" };
        writeln!(f, "  time zone      UTC{sign}{:02}:{:02}{saving}", zone / 60, zone % 60)?;
        writeln!(f, "  lost           {}", self.lost)?;
        let Self { buffer_size, compressed_buffers, .. } = self;
        let buffers = Several(self.buffers.into(), "buffer");
        writeln!(f, "  buffers        {buffers} of {buffer_size:#x} bytes, {compressed_buffers} compressed")?;
        write!(f, "  events         {}", Grouped(self.events))?;
        for (name, count) in &self.headers {
            write!(f, "\n    {count:>10} {name}")?;
        }
        for diagnostic in &self.diagnostics {
            write!(f, "\n  diagnostic     {diagnostic}")?;
        }
        Ok(())
    }
}

/// A time; 0 in a file means that the time is unknown.
fn stated(time: i64) -> Option<i64> {
    (time != 0).then_some(time)
}
