//! The call stack of an event.

use crate::error::Error;
use crate::event::Event;
use crate::runtime_stacks;
use crate::specified::number;
use crate::stacks::{Found, KEY_32, KEY_64, Owner, STACK_WALK, StackSource};
use etw_layouts_etl::Schemas;
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::wire::EVENT_HEADER_EXT_TYPE;
use std::io;

/// The call stack of an event: up to three parts in traces of Windows, those of the kernel first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Stack {
    parts: Vec<StackPart>,
}

/// A part of a call stack: its addresses in the kernel, or those in user mode, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StackPart {
    /// Where the trace has it.
    pub source: StackSource,
    /// Its key, if the event refers to it by a key. Keys are reused.
    pub key: Option<u64>,
    /// Return addresses, the innermost first. `None` if the trace does not define the key after the event.
    pub frames: Option<Vec<u64>>,
    /// Whether it begins in the kernel.
    pub is_kernel: bool,
}

/// Types of extended items with addresses.
const STACK_32: EVENT_HEADER_EXT_TYPE = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_STACK_TRACE32;
const STACK_64: EVENT_HEADER_EXT_TYPE = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_STACK_TRACE64;

impl Event<'_> {
    /// The call stack; `None` if the trace has none for this event. It is read from extended items of the event, from StackWalk events with
    /// its time stamp and thread, and from the CLRStackWalk event that follows an event of the .NET runtime on the same thread. A stack key
    /// refers to its next definition at or after the reference.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn stack(&self) -> Result<Option<Stack>, Error> {
        let mut parts: Vec<_> = self.header().items().filter_map(|item| of_item(item.ty, item.data)).collect();
        for found in self.found_parts()? {
            parts.push(self.part(&found)?);
        }
        parts.sort_by_key(|part| (!part.is_kernel, part.source));
        Ok(Some(Stack { parts }).filter(|stack| !stack.parts.is_empty()))
    }

    /// Identifier of the process whose addresses are in the call stack: that of the thread that wrote the event, of the sampled thread, or of the
    /// thread that a context switch switched to. `None` if it is not known.
    #[must_use]
    pub fn stack_process(&self) -> Option<u32> {
        let header = self.header();
        let of_header = header.process().filter(|process| *process != u32::MAX);
        let of_thread = || self.session().threads().at(thread(&header)?, self.tick());
        of_header.or_else(of_thread).or_else(|| self.who().by.process)
    }

    /// The parts that are not in the event itself.
    pub(crate) fn found_parts(&self) -> Result<Vec<Found>, Error> {
        let stacks = &self.session().stacks;
        let failed = |error: io::Error| Error::new(self.file().name(), error);
        match self.header().time_stamp() {
            Some(tick) if stacks.has(tick).map_err(failed)? => match self.owner() {
                Some(owner) => stacks.parts(tick, owner, self.processor()).map_err(failed),
                None => Ok(Vec::new()),
            },
            _ => Ok(Vec::new()),
        }
    }

    /// How the parts of its stack refer to the event.
    pub(crate) fn owner(&self) -> Option<Owner> {
        let header = self.header();
        match header.hook() {
            None => {
                let has_key = || header.items().any(|item| matches!(item.ty, KEY_32 | KEY_64));
                (runtime_stacks::can_have_stack(&header) || has_key()).then(|| Owner::Item(self.place()))
            }
            Some(hook) if hook >> 8 == STACK_WALK => None,
            Some(_) => Some(thread(&header).map_or(Owner::Processor, Owner::Thread)),
        }
    }

    fn part(&self, found: &Found) -> Result<StackPart, Error> {
        let event = found.at.map(|at| self.trace().event_at(at)).transpose()?.flatten();
        let frames = event.and_then(|event| {
            let header = event.header();
            if found.source == StackSource::Runtime {
                let width = header.pointer_size()?;
                return Some((addresses(runtime_stacks::addresses(header.payload(), width.bytes())?, width), width));
            }
            let decoded = header.decode(Schemas::BUILT_IN)?;
            let width = decoded.fields.pointers;
            // The addresses are the rest of the payload.
            let first = decoded.get("Stack").or_else(|| decoded.get("StackFrame"));
            let start = first.map_or(header.payload().len(), |first| {
                let fields = (first.bytes.as_ptr() as usize).wrapping_sub(header.payload().as_ptr() as usize);
                fields.min(header.payload().len())
            });
            Some((addresses(&header.payload()[start..], width), width))
        });
        let begins = frames.as_ref().is_some_and(|(frames, width)| is_kernel(frames, *width));
        let is_kernel = match found.source {
            StackSource::KernelKey => true,
            StackSource::UserKey | StackSource::Runtime => false,
            _ => begins,
        };
        Ok(StackPart { source: found.source, key: found.key, frames: frames.map(|(frames, _)| frames), is_kernel })
    }
}

impl Stack {
    /// The parts, those of the kernel first.
    #[must_use]
    pub fn parts(&self) -> &[StackPart] {
        &self.parts
    }

    /// The return addresses of all parts, the innermost first. The part of the .NET runtime is left out if another part has addresses in user mode,
    /// because both are of the same stack.
    pub fn frames(&self) -> impl Iterator<Item = u64> {
        let is_user = |part: &StackPart| !part.is_kernel && part.source != StackSource::Runtime && part.frames.is_some();
        let has_user = self.parts.iter().any(is_user);
        let parts = self.parts.iter().filter(move |part| !has_user || part.source != StackSource::Runtime);
        parts.filter_map(|part| part.frames.as_ref()).flatten().copied()
    }
}

/// The part in an extended item, which begins with a number that relates the kernel and the user part of a stack.
fn of_item(ty: EVENT_HEADER_EXT_TYPE, data: &[u8]) -> Option<StackPart> {
    let width = match ty {
        STACK_32 => PointerSize::Bits32,
        STACK_64 => PointerSize::Bits64,
        _ => return None,
    };
    let frames = addresses(data.get(8..)?, width);
    Some(StackPart { source: StackSource::Item, key: None, is_kernel: is_kernel(&frames, width), frames: Some(frames) })
}

fn addresses(bytes: &[u8], width: PointerSize) -> Vec<u64> {
    let address = |bytes: &[u8]| bytes.iter().rev().fold(0, |address, byte| address << 8 | u64::from(*byte));
    bytes.chunks_exact(width.bytes()).map(address).collect()
}

/// Whether the first address is in the upper half of the address space.
fn is_kernel(frames: &[u64], width: PointerSize) -> bool {
    frames.first().is_some_and(|first| first >> (8 * width.bytes() - 1) == 1)
}

/// The thread by which StackWalk events identify an event: the thread in its header; without one, the thread that ran when the event was
/// written. `None` if the event states neither. Thread/ReadyThread states another thread.
fn thread(event: &etw_layouts_etl::Event<'_>) -> Option<u32> {
    event.thread().or_else(|| {
        let decoded = event.decode(Schemas::BUILT_IN).filter(|decoded| decoded.schema.event != "ReadyThread")?;
        let thread = number(&decoded.fields, &["ThreadId", "TThreadId", "NewThreadId"])?;
        u32::try_from(thread).ok()
    })
}
