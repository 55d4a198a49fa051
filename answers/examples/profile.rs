//! Writes the profile of the samples of a trace for the Firefox Profiler, and prints how long each step took.

#![allow(clippy::print_stdout, reason = "an example")]

use etw_layouts_answers::profile::{Format, ProfileBuilder, Subject};
use etw_layouts_answers::{Frames, Functions};
use etw_layouts_trace::Trace;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(trace), Some(output)) = (args.next(), args.next()) else {
        return Err("usage: profile TRACE.etl PROFILE.json".into());
    };
    let start = Instant::now();
    let trace = Trace::open(trace)?;
    println!("{:.3} s: read once", start.elapsed().as_secs_f64());

    let mut builder = ProfileBuilder::new(&trace, Subject::Samples, &Functions::default());
    for event in trace.events() {
        builder.add(&event?, true, false)?;
    }
    let profile = builder.finish();
    println!("{:.3} s: {} samples, {} stacks", start.elapsed().as_secs_f64(), profile.samples.len(), profile.stacks.len());
    let mut out = BufWriter::new(File::create(output)?);
    profile.write(Format::Firefox, &mut out)?;
    out.flush()?;
    println!("{:.3} s: written", start.elapsed().as_secs_f64());

    // The stacks of all events, with names.
    let mut frames: Vec<_> = (0..trace.sessions().len()).filter_map(|session| trace.names(session)).map(Frames::new).collect();
    let mut stacks = Vec::new();
    for event in trace.events() {
        let event = event?;
        if let Some(stack) = event.stack()? {
            stacks.push((event, stack));
        }
    }
    let (start, mut count) = (Instant::now(), 0);
    for (event, stack) in &stacks {
        count += frames[event.session_index()].of_stack(event, stack)?.len();
    }
    let rate = stacks.len() as f64 / start.elapsed().as_secs_f64();
    println!("{} stacks with {count} frames: {rate:.0} stacks/s with names", stacks.len());
    Ok(())
}
