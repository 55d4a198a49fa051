//! Member offsets that the kernel itself states for debuggers. This evidence needs no symbols except one address.

use crate::address::Address;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::walk::Walk;
use alloc::vec::Vec;
use etw_layouts::Arch;
use etw_layouts::members::WMI_BUFFER_HEADER as BUFFER;
use etw_layouts::runtime::{LayoutOf, Token};
use etw_layouts::structures;

/// A member offset of WMI_BUFFER_HEADER, as stated by the kernel and by the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The member.
    pub member: &'static str,
    /// The offset that the kernel states, in bytes.
    pub stated: u64,
    /// The offset in the layout; `None` if it lacks the member.
    pub layout: Option<u64>,
}

impl Stated {
    /// Whether both are equal.
    pub fn agrees(&self) -> bool {
        self.layout == Some(self.stated)
    }
}

/// Offset of the statements in `EtwpDebuggerData`, after two bytes of unknown meaning.
const FIRST: u64 = 2;
/// Number of statements, one byte each.
const STATEMENTS: usize = 5;
/// Offset of the pointer to the table of sessions, in a 64-bit kernel.
const TABLE: u64 = 0x10;

/// Name and offset of each member that the kernel states, in order.
fn members<M: Memory + ?Sized>(walk: &Walk<'_, M>) -> [(&'static str, Option<u64>); STATEMENTS] {
    let layout = walk.kernel().layout(&structures::WMI_BUFFER_HEADER);
    fn of<K>(layout: Option<LayoutOf<'_, BUFFER::Type>>, token: Token<BUFFER::Type, K>) -> (&'static str, Option<u64>) {
        (token.name(), layout.and_then(|layout| layout.find(token)).map(|member| member.offset as u64))
    }
    [
        of(layout, BUFFER::STATE),
        of(layout, BUFFER::CURRENT_OFFSET),
        of(layout, BUFFER::SAVED_OFFSET),
        of(layout, BUFFER::GLOBAL_ENTRY),
        of(layout, BUFFER::REFERENCE_COUNT),
    ]
}

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// Verifies the member offsets of WMI_BUFFER_HEADER that the kernel states in `EtwpDebuggerData` against the layout. Each
    /// difference adds a finding, as the layout is not that of the kernel. Empty if the address is unknown or cannot be read.
    ///
    /// The meaning of these bytes is known from public research on 64-bit kernels of 6.1 and later; symbols have no type for
    /// them. The result is therefore empty for 32-bit kernels.
    pub fn published_offsets(&mut self) -> Vec<Stated> {
        let Some(data) = data(self) else { return Vec::new() };
        let mut bytes = [0; STATEMENTS];
        let Some(at) = data.plus(FIRST) else { return Vec::new() };
        let place = MemberLocation { structure: "EtwpDebuggerData", address: data, member: "" };
        let holes = self.read(at, &mut bytes);
        if !holes.is_empty() {
            self.report(place, FindingKind::Unreadable { requested: STATEMENTS as u64, read: 0 });
            return Vec::new();
        }
        let stated = members(self).into_iter().zip(bytes);
        let stated: Vec<_> = stated.map(|((member, layout), byte)| Stated { member, stated: byte.into(), layout }).collect();
        for one in stated.iter().filter(|one| !one.agrees()) {
            let kind = FindingKind::PublishedOffset { stated: one.stated, layout: one.layout };
            self.report(MemberLocation { structure: "WMI_BUFFER_HEADER", address: Address::NULL, member: one.member }, kind);
        }
        stated
    }
}

/// The table of sessions in `EtwpDebuggerData`.
pub(crate) fn table<M: Memory + ?Sized>(walk: &mut Walk<'_, M>) -> Option<Address> {
    let table = data(walk)?.plus(TABLE)?;
    walk.pointer(table).filter(|table| walk.is_kernel_address(*table))
}

fn data<M: Memory + ?Sized>(walk: &Walk<'_, M>) -> Option<Address> {
    let kernel = walk.kernel();
    let known = kernel.arch() != Arch::X86 && kernel.build().number >= [6, 1, 0];
    kernel.global("EtwpDebuggerData").filter(|_| known)
}
