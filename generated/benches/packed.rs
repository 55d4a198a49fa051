//! The cost of the table of layouts: to check a file, to open the built-in table, to select a layout, to find a member, and to read it.

use etw_layouts::members::WMI_LOGGER_CONTEXT;
use etw_layouts::runtime::packed::Layouts;
use etw_layouts::{Arch, Build, LAYOUTS, structures};
use std::hint::black_box;
use std::time::{Duration, Instant};

const READS: usize = 1_000;

fn main() {
    let bytes = LAYOUTS.bytes();
    let sum = time(20, || black_box(bytes).iter().fold(0_u64, |sum, byte| sum + u64::from(*byte)));
    let check = time(20, || u64::from(Layouts::from_bytes(black_box(bytes)).is_ok()));
    let open = time(1_000_000, || Layouts::trusted(black_box(bytes)).bytes().len() as u64);
    let build = Build::new(10, 0, 19041, 1415);
    let search = {
        let builds: Vec<_> = LAYOUTS.examined().map(|seen| (seen.build, seen.arch)).collect();
        time(1_000, || black_box(&builds).partition_point(|other| *other < black_box((build, Arch::X64))) as u64)
    };
    let structure = structures::WMI_LOGGER_CONTEXT;
    let select = time(1_000, || structure.select(black_box(build), Arch::X64).map_or(0, |chosen| chosen.layout.size as u64));
    let layout = structure.select(build, Arch::X64).expect("an examined build").layout;
    let find = time(1_000, || layout.find(black_box(WMI_LOGGER_CONTEXT::EVENTS_LOST)).map_or(0, |member| member.offset as u64));
    let member = layout.find(WMI_LOGGER_CONTEXT::EVENTS_LOST).expect("a member");
    let memory = vec![7; layout.size * READS];
    let chunks = || black_box(&memory[..]).chunks_exact(layout.size);
    let offset = black_box(member.offset);
    let fixed = time(1_000, || {
        let read = |chunk: &[u8]| chunk.get(offset..).and_then(|rest| rest.first_chunk()).map_or(0, |it| u32::from_le_bytes(*it));
        chunks().map(|chunk| u64::from(read(chunk))).sum()
    }) / READS as f64;
    let read = time(1_000, || chunks().map(|chunk| member.unsigned(chunk).unwrap_or(0)).sum()) / READS as f64;
    println!("the table of layouts, {} bytes", bytes.len());
    println!("  check all          {:.0} µs, {:.1} times the sum of its bytes", check / 1e3, check / sum);
    println!("  open the built-in  {open:.2} ns");
    println!("  select a layout    {select:.0} ns, {:.1} times a binary search among the examined builds", select / search);
    println!("  find a token       {find:.0} ns");
    println!("  read a member      {read:.2} ns, {:.1} times a fixed offset", read / fixed);
}

/// Nanoseconds of one run, the best of many rounds.
fn time(runs: u32, work: impl Fn() -> u64) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..50 {
        let start = Instant::now();
        for _ in 0..runs {
            black_box(work());
        }
        best = best.min(start.elapsed());
    }
    best.as_nanos() as f64 / f64::from(runs)
}
