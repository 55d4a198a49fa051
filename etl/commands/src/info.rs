//! `cargo xtask etl info`.

use super::{Files, Format, Found, Progress, with_trace};
use crate::{Error, Outcome};
use etw_layouts_etl::layout::LOG_FILE_MODE;
use etw_layouts_etl::{Kind, LogFile, Scratch, Stamp, Trace};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// Tell how trace files were made, and what they hold.
///
///     cargo xtask etl info trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    input: Files,
}

/// What a file holds.
#[derive(Serialize)]
struct Info<'a> {
    file: &'a str,
    buffers: u32,
    compressed_buffers: u32,
    events: u64,
    headers: BTreeMap<&'static str, u64>,
    pointer_size: u32,
    clock: u32,
    processors: u32,
    build: u32,
    start_time: i64,
    findings: Vec<Found<'a>>,
}

pub fn run(args: &Args, out: &mut impl Write) -> Result<Outcome, Error> {
    for path in &args.input.files {
        with_trace(path, |name, trace| {
            let info = info(name, trace)?;
            match args.input.format {
                Format::Text => text(&info, trace.log_file(), out)?,
                Format::Json => writeln!(out, "{}", serde_json::to_string(&info)?)?,
            }
            Ok(())
        })?;
    }
    Ok(Outcome::Good)
}

fn info<'a>(name: &'a str, trace: &Trace<'_>) -> Result<Info<'a>, Error> {
    let log = trace.log_file();
    let mut info = Info {
        file: name,
        buffers: 0,
        compressed_buffers: 0,
        events: 0,
        headers: BTreeMap::new(),
        pointer_size: log.pointer_size,
        clock: log.clock,
        processors: log.processors,
        build: log.build,
        start_time: log.start_time,
        findings: Vec::new(),
    };
    let progress = Progress::new(name, trace)?;
    let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
    let mut scratch = Scratch::default();
    for buffer in trace.buffers() {
        let buffer = match buffer {
            Ok(buffer) => buffer,
            Err(finding) => {
                info.findings.push(Found::new(None, &finding));
                continue;
            }
        };
        progress.at(buffer.offset());
        info.buffers += 1;
        info.compressed_buffers += u32::from(buffer.head().is_compressed());
        for event in buffer.image(&mut scratch).events() {
            match event {
                Ok(event) => *kinds.entry(event.kind()).or_default() += 1,
                Err(finding) => info.findings.push(Found::new(None, &finding)),
            }
        }
    }
    info.events = kinds.values().sum();
    info.headers = kinds.into_iter().map(|(kind, count)| (kind.name(), count)).collect();
    Ok(info)
}

fn text(info: &Info<'_>, log: &LogFile, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}", info.file)?;
    let [major, minor, ..] = log.version;
    writeln!(out, "  logger      {}", log.logger_name)?;
    writeln!(out, "  made as     {}", log.file_name)?;
    writeln!(out, "  windows     {major}.{minor}.{}, {}-bit, {} processors", log.build, log.pointer_size * 8, log.processors)?;
    writeln!(out, "  mode        {:?}", LOG_FILE_MODE(log.mode))?;
    let rate = match log.clock {
        2 => "system time".to_owned(),
        3 => format!("processor cycles, {} MHz", log.cpu_mhz),
        _ => format!("performance counter, {} Hz", log.perf_frequency),
    };
    writeln!(out, "  clock       {rate}")?;
    writeln!(out, "  booted      {}", Stamp(log.boot_time))?;
    writeln!(out, "  started     {}", Stamp(log.start_time))?;
    match log.end_time {
        0 => writeln!(out, "  ended       never closed")?,
        time => writeln!(out, "  ended       {}", Stamp(time))?,
    }
    writeln!(out, "  time zone   UTC{:+} minutes", -i64::from(log.time_zone.Bias))?;
    writeln!(out, "  lost        {} events, {} buffers", log.events_lost, log.buffers_lost)?;
    writeln!(out, "  buffers     {} of {:#x} bytes, {} compressed", info.buffers, log.buffer_size, info.compressed_buffers)?;
    writeln!(out, "  events      {}", info.events)?;
    for (name, count) in &info.headers {
        writeln!(out, "    {count:>10} {name}")?;
    }
    for found in &info.findings {
        writeln!(out, "  finding     buffer at {:#x}, {:#x} within: {}", found.buffer, found.offset, found.what)?;
    }
    Ok(())
}
