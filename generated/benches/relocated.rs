//! The cost of declared members beside offsets written by hand: 20 members of a session, found in a build, and read from memory.

use etw_layouts::runtime::Uuid;
use etw_layouts::runtime::relocated::{Memory, MemorySlice, Relocated};
use etw_layouts::{Arch, Build, LAYOUTS};
use etw_layouts_macros::Relocated;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

#[allow(non_snake_case)]
#[derive(Debug, PartialEq, Relocated)]
#[relocated(WMI_LOGGER_CONTEXT)]
struct Session {
    LoggerId: u32,
    BufferSize: u32,
    MaximumEventSize: u32,
    LoggerMode: u32,
    AcceptNewEvents: i32,
    LoggerStatus: i32,
    ClockType: u32,
    FlushTimer: u32,
    MinimumBuffers: u32,
    BuffersAvailable: i32,
    NumberOfBuffers: i32,
    MaximumBuffers: u32,
    EventsLost: u32,
    BuffersWritten: u32,
    LogBuffersLost: u32,
    InstanceGuid: Uuid,
    NumConsumers: u32,
    StartTime: i64,
    BufferSequenceNumber: i64,
    Flags: u32,
}

/// Errors of the same size as those of plans would favour neither.
fn by_hand(memory: &MemorySlice, address: u64) -> Result<Session, &'static str> {
    fn bytes<const N: usize>(memory: &MemorySlice, address: u64, offset: u64) -> Result<[u8; N], &'static str> {
        let mut bytes = [0; N];
        let read: Result<usize, Infallible> = memory.read(address.checked_add(offset).ok_or("address")?, &mut bytes);
        if read == Ok(N) { Ok(bytes) } else { Err("missing") }
    }
    let u32 = |offset| bytes(memory, address, offset).map(u32::from_le_bytes);
    let i32 = |offset| bytes(memory, address, offset).map(i32::from_le_bytes);
    let i64 = |offset| bytes(memory, address, offset).map(i64::from_le_bytes);
    Ok(Session {
        LoggerId: u32(0x000)?,
        BufferSize: u32(0x004)?,
        MaximumEventSize: u32(0x008)?,
        LoggerMode: u32(0x00C)?,
        AcceptNewEvents: i32(0x010)?,
        LoggerStatus: i32(0x038)?,
        ClockType: u32(0x0D8)?,
        FlushTimer: u32(0x0E0)?,
        MinimumBuffers: u32(0x0F0)?,
        BuffersAvailable: i32(0x0F4)?,
        NumberOfBuffers: i32(0x0F8)?,
        MaximumBuffers: u32(0x0FC)?,
        EventsLost: u32(0x100)?,
        BuffersWritten: u32(0x108)?,
        LogBuffersLost: u32(0x10C)?,
        InstanceGuid: bytes(memory, address, 0x124).map(Uuid::from_bytes_le)?,
        NumConsumers: u32(0x168)?,
        StartTime: i64(0x328)?,
        BufferSequenceNumber: i64(0x338)?,
        Flags: u32(0x340)?,
    })
}

fn main() {
    const SESSIONS: u64 = 1_000;
    let build = Build::new(10, 0, 19041, 1415);
    let plan = Session::plan(&LAYOUTS, build, Arch::X64).expect("an examined build");
    let size = plan.layout().size as u64;
    let bytes: Vec<u8> = (0..size * SESSIONS).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let memory = MemorySlice { address: 0xFFFF_9000_0000_0000, bytes: &bytes };
    let addresses = || (0..SESSIONS).map(|index| 0xFFFF_9000_0000_0000 + index * size);
    assert!(addresses().all(|address| plan.read(&memory, address).ok() == by_hand(&memory, address).ok()));

    let select = time(1_000, || {
        LAYOUTS.structure("WMI_LOGGER_CONTEXT").map_or(0, |it| it.select(black_box(build), Arch::X64).is_ok().into())
    });
    let planned = time(1_000, || Session::plan(black_box(&LAYOUTS), black_box(build), Arch::X64).is_ok().into());
    let sum = |session: Session| u64::from(session.EventsLost) ^ session.StartTime as u64 ^ session.InstanceGuid.as_u128() as u64;
    let (mut hand, mut read) = (f64::MAX, f64::MAX);
    // In turns, so that both run on the same clock of the processor.
    for _ in 0..20 {
        let memory = black_box(&memory);
        hand = hand.min(time(20, || addresses().map(|at| by_hand(memory, at).map_or(0, sum)).fold(0, u64::wrapping_add)));
        let plan = black_box(&plan);
        read = read.min(time(20, || addresses().map(|at| plan.read(memory, at).map_or(0, sum)).fold(0, u64::wrapping_add)));
    }
    let (hand, read) = (hand / SESSIONS as f64, read / SESSIONS as f64);
    println!("20 declared members");
    println!("  plan     {:.2} µs, of which {:.2} µs select the layout", planned / 1e3, select / 1e3);
    println!("  by hand  {hand:.1} ns");
    println!("  read     {read:.1} ns, {:.2} times by hand", read / hand);
}

/// Nanoseconds of one run, the best of many rounds.
fn time(runs: u32, work: impl Fn() -> u64) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        for _ in 0..runs {
            black_box(work());
        }
        best = best.min(start.elapsed());
    }
    best.as_nanos() as f64 / f64::from(runs)
}
