//! Writes the report of a trace as a web page, and prints how long each step took.

#![allow(clippy::print_stdout, reason = "an example")]

use etw_layouts_report::{Options, Report};
use etw_layouts_trace::Trace;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(trace), Some(output)) = (args.next(), args.next()) else {
        return Err("usage: report TRACE.etl REPORT.html".into());
    };
    let start = Instant::now();
    let trace = Trace::open(trace)?;
    println!("{:.3} s: read once, {} events", start.elapsed().as_secs_f64(), trace.event_count());
    let report = Report::new(&trace, &Options::default())?;
    println!("{:.3} s: summed", start.elapsed().as_secs_f64());
    let page = report.page();
    std::fs::write(output, &page)?;
    println!("{:.3} s: {} bytes written", start.elapsed().as_secs_f64(), page.len());
    Ok(())
}
