//! What it costs to read members by the layout of a build that is known only at run time: through tokens, and by name through a
//! hash map as other tools do it, against the static type of that build. Each reads the same six members of the same structures.

use etw_layouts::members::WMI_LOGGER_CONTEXT as CONTEXT;
use etw_layouts::runtime::packed::Member;
use etw_layouts::runtime::{LayoutOf, MemberOf, View};
use etw_layouts::win10_2004::x64::WMI_LOGGER_CONTEXT;
use etw_layouts::{Arch, Build, bytemuck, structures};
use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

const STRUCTURES: usize = 1_000;
const READS: usize = 6 * STRUCTURES;

fn main() {
    let mut contexts = vec![bytemuck::Zeroable::zeroed(); STRUCTURES];
    contexts.iter_mut().enumerate().for_each(|(i, context): (usize, &mut WMI_LOGGER_CONTEXT)| {
        (context.BuffersWritten, context.LoggerStatus) = (i as u32, 3);
        context.set_Persistent(i as u32 & 1);
    });
    let size = size_of::<WMI_LOGGER_CONTEXT>();
    let memory: &[u8] = bytemuck::cast_slice(&contexts);
    let selected = structures::WMI_LOGGER_CONTEXT.select(black_box(Build::new(10, 0, 19041, 0)), Arch::X64);
    let layout = selected.expect("the build is on the axis").layout;
    let by_name: HashMap<&str, Member> = layout.members().map(|member| (member.name, member)).collect();

    let fixed = time(|| {
        let read = |context: &WMI_LOGGER_CONTEXT| {
            u64::from(context.BuffersWritten)
                + u64::from(context.NumberOfBuffers as u32)
                + u64::from(context.EventsLost)
                + context.LoggerStatus as u64
                + context.LoggerThread.0
                + u64::from(context.Persistent())
        };
        black_box(&contexts).iter().map(read).fold(0, u64::wrapping_add)
    });
    let tokens =
        time(|| black_box(memory).chunks_exact(size).map(|bytes| through_tokens(layout, bytes)).fold(0, u64::wrapping_add));
    let resolved = members(layout);
    let resolved = time(|| {
        black_box(memory).chunks_exact(size).map(|bytes| through_members(layout, resolved, bytes)).fold(0, u64::wrapping_add)
    });
    let names = time(|| {
        let names = ["BuffersWritten", "NumberOfBuffers", "EventsLost", "LoggerStatus", "LoggerThread", "Persistent"];
        let read = |bytes: &[u8]| black_box(&names).iter().map(|name| by_hash(&by_name, name, bytes)).fold(0, u64::wrapping_add);
        black_box(memory).chunks_exact(size).map(read).fold(0, u64::wrapping_add)
    });
    println!("nanoseconds to read one member of WMI_LOGGER_CONTEXT (10.0.19041, x64)");
    println!("  static type  {fixed:.2}");
    println!("  token        {tokens:.2}, {:.1} times the static type", tokens / fixed);
    println!("  resolved     {resolved:.2}, {:.1} times the static type", resolved / fixed);
    println!("  hash map     {names:.2}, {:.1} times the token", names / tokens);
}

fn through_tokens(layout: LayoutOf<'_, CONTEXT::Type>, bytes: &[u8]) -> u64 {
    let Ok(view) = View::new(layout, bytes) else { return 0 };
    view.unsigned(CONTEXT::BUFFERS_WRITTEN).unwrap_or(0)
        + view.signed(CONTEXT::NUMBER_OF_BUFFERS).unwrap_or(0) as u64
        + view.unsigned(CONTEXT::EVENTS_LOST).unwrap_or(0)
        + view.signed(CONTEXT::LOGGER_STATUS).unwrap_or(0) as u64
        + view.unsigned(CONTEXT::LOGGER_THREAD).unwrap_or(0)
        + view.unsigned(CONTEXT::PERSISTENT).unwrap_or(0)
}

type Members<'a> = [MemberOf<'a, CONTEXT::Type>; 6];

fn members(layout: LayoutOf<'_, CONTEXT::Type>) -> Members<'_> {
    let tokens = [
        CONTEXT::BUFFERS_WRITTEN,
        CONTEXT::NUMBER_OF_BUFFERS,
        CONTEXT::EVENTS_LOST,
        CONTEXT::LOGGER_STATUS,
        CONTEXT::LOGGER_THREAD,
        CONTEXT::PERSISTENT,
    ];
    tokens.map(|token| layout.resolved(token).expect("a member of the layout"))
}

fn through_members<'a>(layout: LayoutOf<'a, CONTEXT::Type>, members: Members<'a>, bytes: &'a [u8]) -> u64 {
    let Ok(view) = View::new(layout, bytes) else { return 0 };
    members.into_iter().map(|member| view.read(member).map_or(0, |value| value.unsigned())).fold(0, u64::wrapping_add)
}

fn by_hash(members: &HashMap<&str, Member>, name: &str, bytes: &[u8]) -> u64 {
    let Some(member) = members.get(name) else { return 0 };
    let mut word = [0; 8];
    word[..member.size].copy_from_slice(&bytes[member.offset..member.offset + member.size]);
    let word = u64::from_le_bytes(word);
    member.bits.map_or(word, |(position, width)| word >> position & ((1 << width) - 1))
}

/// Nanoseconds a read, the best of many rounds.
fn time(mut work: impl FnMut() -> u64) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..500 {
        let start = Instant::now();
        black_box(work());
        best = best.min(start.elapsed());
    }
    best.as_nanos() as f64 / READS as f64
}
