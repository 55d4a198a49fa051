//! The buffers of a session, which begin with a WMI_BUFFER_HEADER.

use crate::address::Address;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::object::Object;
use crate::session::Session;
use crate::walk::Walk;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use etw_layouts::constants::{ETW_BUFFER_FLAG, ETW_BUFFER_TYPE};
use etw_layouts::members::{
    ETW_BUFFER_CONTEXT, WMI_BUFFER_HEADER as BUFFER, WMI_BUFFER_STATE, WMI_CLIENT_CONTEXT, WMI_LOGGER_CONTEXT as LOGGER,
};
use etw_layouts::runtime::View;
use etw_layouts::runtime::packed::Type;
use etw_layouts::structures;

/// A buffer in memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Current use of the buffer.
    pub state: State,
    /// Processor that writes its events.
    pub processor: Option<u16>,
    /// Number of the session, according to the buffer.
    pub session: Option<u16>,
    /// Time when it was taken into use or written out, by the session's clock.
    pub time_stamp: Option<i64>,
    /// Sequence number within the session. `None` before 6.0.
    pub sequence: Option<i64>,
    /// Flags. `None` before 5.2.
    pub flags: Option<ETW_BUFFER_FLAG>,
    /// Type of the buffer. `None` before 5.2.
    pub ty: Option<ETW_BUFFER_TYPE>,
    /// Whether the session's list of all buffers contains it.
    pub is_listed: bool,
    /// Whether events are currently written to it, by one processor or for the whole session.
    pub is_current: bool,
    /// The WMI_BUFFER_HEADER structure.
    pub header: Object<BUFFER::Type>,
}

/// The bytes of a buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferBytes {
    /// The bytes; zeros where memory is missing.
    pub bytes: Vec<u8>,
    /// Ranges of missing bytes, in order.
    pub holes: Vec<Range<usize>>,
}

/// Use of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waiting for use; its contents have been written out.
    Free,
    /// Events are being written to it.
    Logging,
    /// Context switches are being written to it.
    ContextSwitch,
    /// Waiting to be written out.
    Flush,
    /// Waiting to be compressed.
    PendingCompression,
    /// Contains compressed buffers.
    Compressed,
    /// Reserves space between compressed buffers.
    Placeholder,
    /// Another state, or unknown: 5.0 stores none.
    Other,
}

/// Maximum size of a session's buffers, in bytes.
pub const MAX_BUFFER_SIZE: u32 = 16 << 20;

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The buffers of a session: those in its list of all buffers, in order, then those referenced only by a processor or the
    /// session itself.
    pub fn buffers(&mut self, session: &Session) -> Vec<Buffer> {
        let context = &session.context;
        let listed = self.list(context, LOGGER::GLOBAL_LIST, &structures::WMI_BUFFER_HEADER, BUFFER::GLOBAL_ENTRY);
        let place = |member| MemberLocation { structure: context.layout().name, address: context.address(), member };
        if let Some(stated) = session.buffers.filter(|stated| *stated != listed.len() as i64) {
            let stated = u64::try_from(stated).unwrap_or(0);
            self.report(place("NumberOfBuffers"), FindingKind::Count { stated, found: listed.len() as u64 });
        }
        let mut buffers: Vec<Buffer> = listed.into_iter().filter_map(|at| self.buffer(session, at)).collect();
        buffers.iter_mut().for_each(|buffer| buffer.is_listed = true);
        let processors = buffers.iter().filter_map(|buffer| buffer.processor).max().map_or(1, |last| usize::from(last) + 1);
        let listed: BTreeMap<Address, usize> =
            buffers.iter().enumerate().map(|(index, buffer)| (buffer.header.address(), index)).collect();
        for at in self.current(session, processors) {
            match listed.get(&at).and_then(|index| buffers.get_mut(*index)) {
                Some(buffer) => buffer.is_current = true,
                None => buffers.extend(self.buffer(session, at).map(|buffer| Buffer { is_current: true, ..buffer })),
            }
        }
        buffers
    }

    /// The buffer at an address.
    fn buffer(&mut self, session: &Session, at: Address) -> Option<Buffer> {
        let header = self.object(&structures::WMI_BUFFER_HEADER, at)?;
        let context = header.get(BUFFER::CLIENT_CONTEXT_VALUE).and_then(|context| context.view());
        let number = |new, old| {
            let new = context?.of::<ETW_BUFFER_CONTEXT::Type>().and_then(|context| context.unsigned(new));
            new.or_else(|| context?.of::<WMI_CLIENT_CONTEXT::Type>()?.unsigned(old))
        };
        let flags = header.unsigned(BUFFER::BUFFER_FLAG).map(|flags| ETW_BUFFER_FLAG(flags as u16));
        let stated = number(ETW_BUFFER_CONTEXT::LOGGER_ID, WMI_CLIENT_CONTEXT::LOGGER_ID).map(|session| session as u16);
        let index = context.and_then(|context| context.of()?.unsigned(ETW_BUFFER_CONTEXT::PROCESSOR_INDEX));
        let of_byte = number(ETW_BUFFER_CONTEXT::PROCESSOR_NUMBER, WMI_CLIENT_CONTEXT::PROCESSOR_NUMBER);
        let has_index = flags.is_some_and(|flags| flags.contains(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX));
        let buffer = Buffer {
            state: State::of(&header),
            processor: index.filter(|_| has_index).map(|index| index & PROCESSOR_INDEX).or(of_byte).map(|number| number as u16),
            session: stated,
            time_stamp: header.quad(BUFFER::TIME_STAMP),
            sequence: header.signed(BUFFER::SEQUENCE_NUMBER),
            flags,
            ty: header.unsigned(BUFFER::BUFFER_TYPE).map(|ty| ETW_BUFFER_TYPE(ty as u16)),
            is_listed: false,
            is_current: false,
            header,
        };
        // 5.0 clears the number, and a free buffer may lack it.
        let owner = stated.filter(|stated| *stated != 0 && u32::from(*stated) != session.number && buffer.state != State::Free);
        if let Some(stated) = owner {
            let place = MemberLocation { structure: "WMI_BUFFER_HEADER", address: at, member: "ClientContext" };
            self.report(place, FindingKind::Owner { session: session.number, stated: stated.into() });
        }
        Some(buffer)
    }

    /// The current buffers: those of processors in 5.x and since 1703, and the common buffer of a session, if it has one, in 6.1 and
    /// later. From 6.0 to 1607, this walk cannot find the buffers of processors.
    fn current(&mut self, session: &Session, processors: usize) -> Vec<Address> {
        let context = &session.context;
        let of_session = self.fast_ref(context, LOGGER::CURRENT_BUFFER);
        let mut current: Vec<Address> = of_session.into_iter().collect();
        let processors = self.processors().unwrap_or(processors);
        let at = context.unsigned(LOGGER::PROCESSOR_BUFFERS).map(|at| self.kernel().address(at));
        let pointers = context.layout().find(LOGGER::PROCESSOR_BUFFERS).is_some_and(|member| member.c.ends_with("**"));
        if let Some(at) = at.filter(|at| !at.is_null()) {
            match pointers {
                true => current.extend(self.pointers(at, processors).into_iter().flatten()),
                false => current.extend(self.lists(at, processors)),
            }
        }
        current.extend(self.of_silo(session, processors));
        let mut seen = BTreeSet::new();
        current.retain(|at| !at.is_null() && seen.insert(*at));
        current
    }

    /// The current buffers of processors for a session. In 1703 and later, a silo references them: it has one block for each
    /// processor, with a slot for each session.
    fn of_silo(&mut self, session: &Session, processors: usize) -> Vec<Address> {
        let state = session.context.unsigned(LOGGER::SILO_STATE).map(|at| self.kernel().address(at)).filter(|at| !at.is_null());
        let [in_state, block] = ["ETW_SILODRIVERSTATE", "ETW_SILO_TRACING_BLOCK"].map(|name| self.kernel().named(name));
        let (Some(state), Some(in_state), Some(block)) = (state, in_state, block) else { return Vec::new() };
        let blocks = in_state.member("ProcessorBlocks").and_then(|member| state.plus(member.offset as u64));
        let blocks = blocks.and_then(|at| self.pointer(at)).filter(|at| !at.is_null());
        let (Some(blocks), Some(buffers)) = (blocks, block.member("ProcessorBuffers")) else { return Vec::new() };
        let mut found = Vec::new();
        for processor in 0..processors as u64 {
            let place = blocks.plus(processor * block.size as u64 + buffers.offset as u64);
            // Up to 1703 the slots are in the block itself.
            let places = match buffers.ty {
                Type::Pointer => place.and_then(|place| self.pointer(place)).filter(|at| !at.is_null()),
                _ => place,
            };
            let own = places.and_then(|at| at.plus(u64::from(session.number) * self.kernel().arch().pointer_size()));
            let Some(reference) = own.and_then(|at| self.pointer(at)) else { break };
            found.extend(self.untagged(reference));
        }
        found
    }

    /// The entries of an array of interlocked lists, one for each processor, as in 5.1.
    fn lists(&mut self, at: Address, processors: usize) -> Vec<Address> {
        let Some(layout) = self.kernel().layout(&structures::SLIST_HEADER) else { return Vec::new() };
        let mut found = Vec::new();
        for index in 0..processors.min(self.limits().entries) as u64 {
            if found.len() >= self.limits().entries {
                break;
            }
            let Some(head) = at.plus(index * layout.size as u64) else { break };
            let Some(head) = self.object_of(layout, head) else { break };
            found.extend(self.interlocked(&head, &structures::WMI_BUFFER_HEADER, BUFFER::SLIST_ENTRY));
        }
        found
    }

    /// Number of processors, from the caller or the kernel.
    pub fn processors(&mut self) -> Option<usize> {
        let stated = self.kernel().time().processors.map(|stated| stated as usize);
        // Before 6.0 the variable had one byte.
        let size = if self.kernel().build().number < [6, 0, 0] { 1 } else { 4 };
        let global = || self.integer(self.kernel().global("KeNumberProcessors")?, size).map(|count| count as usize);
        stated.or_else(global).filter(|count| (1..=MAX_PROCESSORS).contains(count))
    }

    /// The bytes of a buffer that can contain events, header included: up to its valid end, with holes where memory is missing. For a
    /// [compressed](Buffer::is_compressed) buffer, all of its bytes, still compressed; for an uncompressed placeholder, only the
    /// header.
    pub fn events_of(&mut self, session: &Session, buffer: &Buffer) -> BufferBytes {
        let place = MemberLocation { structure: "WMI_BUFFER_HEADER", address: buffer.header.address(), member: "" };
        let Some(size) = session.buffer_size.filter(|size| (buffer.header.layout().size as u32..=MAX_BUFFER_SIZE).contains(size))
        else {
            self.report(place, FindingKind::Offset(session.buffer_size.unwrap_or(0).into()));
            return BufferBytes::default();
        };
        let end = if buffer.is_compressed() { Ok(size) } else { buffer.valid_end(size) };
        let mut end = end.unwrap_or_else(|offset| {
            self.report(place, FindingKind::Offset(offset));
            size
        });
        let header = buffer.header.layout().size as u32;
        if buffer.state == State::Placeholder && !buffer.is_compressed() && end > header {
            // Neither published references nor available dumps show the contents of a placeholder.
            self.report(place, FindingKind::Placeholder(u64::from(end - header)));
            end = header;
        }
        let mut bytes = vec![0; end as usize];
        let holes = self.read(buffer.header.address(), &mut bytes);
        if !holes.is_empty() {
            let missing = holes.iter().map(|hole| hole.len() as u64).sum::<u64>();
            self.report(place, FindingKind::Unreadable { requested: end.into(), read: u64::from(end) - missing });
        }
        BufferBytes { bytes, holes }
    }
}

/// Mask of a processor index.
const PROCESSOR_INDEX: u64 = 0x07FF;

/// Number of processors that such an index can distinguish.
const MAX_PROCESSORS: usize = PROCESSOR_INDEX as usize + 1;

impl Buffer {
    /// Whether it is compressed, or contains compressed buffers.
    pub fn is_compressed(&self) -> bool {
        let has_flag = self.flags.is_some_and(|flags| flags.contains(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED));
        has_flag || self.state == State::Compressed
    }

    /// The end of its events, from its start; the invalid value if it is not an offset within a buffer of `size` bytes.
    ///
    /// While events are being written, this is the offset of the next event, or the saved offset if that one exceeds the buffer.
    /// Afterwards it is the saved offset.
    pub fn valid_end(&self, size: u32) -> Result<u32, u64> {
        let header = &self.header;
        let [current, saved, offset] =
            [BUFFER::CURRENT_OFFSET, BUFFER::SAVED_OFFSET, BUFFER::OFFSET].map(|token| header.unsigned(token));
        let order = match self.state {
            State::Logging | State::ContextSwitch | State::Other => [current, saved, offset],
            _ => [saved, offset, current],
        };
        let fits = |end: &u64| (header.layout().size as u64..=size.into()).contains(end);
        let end = order.into_iter().flatten().find(fits);
        end.map(|end| end as u32).ok_or(current.unwrap_or(0))
    }
}

impl State {
    /// The state in a header.
    fn of(header: &Object<BUFFER::Type>) -> Self {
        let Some(state) = header.get(BUFFER::STATE_VALUE) else { return Self::Other };
        if let Some(bits) = state.view().and_then(View::of) {
            let is = |token| bits.unsigned(token) == Some(1);
            return match () {
                () if is(WMI_BUFFER_STATE::FREE) => Self::Free,
                () if is(WMI_BUFFER_STATE::FLUSH) => Self::Flush,
                () if is(WMI_BUFFER_STATE::IN_USE) => Self::Logging,
                () => Self::Other,
            };
        }
        let mut constants = state.values().into_iter().flat_map(|values| values.constants());
        let name = constants.find(|(_, value)| *value == state.signed()).map(|(name, _)| name);
        match name.and_then(|name| name.strip_prefix("EtwBufferState")) {
            Some("Free") => Self::Free,
            Some("GeneralLogging") => Self::Logging,
            Some("CSwitch") => Self::ContextSwitch,
            Some("Flush") => Self::Flush,
            Some("PendingCompression") => Self::PendingCompression,
            Some("Compressed") => Self::Compressed,
            Some("Placeholder") => Self::Placeholder,
            _ => Self::Other,
        }
    }
}
