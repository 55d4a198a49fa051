//! What the kernel itself states of its layouts, for debuggers: a witness that needs no symbols but one address.

use crate::address::Address;
use crate::finding::{Place, What};
use crate::memory::Memory;
use crate::walk::Walk;
use alloc::vec::Vec;
use etw_layouts::Arch;
use etw_layouts::members::WMI_BUFFER_HEADER as BUFFER;
use etw_layouts::runtime::{LayoutOf, Token};
use etw_layouts::structures;

/// What the kernel states of a member of WMI_BUFFER_HEADER, and what the layout has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The member.
    pub member: &'static str,
    /// Its offset as the kernel states it.
    pub stated: u64,
    /// Its offset in the layout; none if the layout lacks it.
    pub layout: Option<u64>,
}

impl Stated {
    /// Whether the two agree.
    pub fn agrees(&self) -> bool {
        self.layout == Some(self.stated)
    }
}

/// Where the statements begin in `EtwpDebuggerData`: after two bytes of which nothing is known.
const FIRST: u64 = 2;
/// How many they are, a byte each.
const STATEMENTS: usize = 5;
/// Where the pointer to the table of sessions is, in a 64-bit kernel.
const TABLE: u64 = 0x10;

/// Name and offset of each member that the kernel states, in the order of its statements.
fn members<M: Memory + ?Sized>(walk: &Walk<'_, M>) -> [(&'static str, Option<u64>); STATEMENTS] {
    let layout = walk.kernel().layout(&structures::WMI_BUFFER_HEADER);
    fn of<K>(layout: Option<LayoutOf<BUFFER::Type>>, token: Token<BUFFER::Type, K>) -> (&'static str, Option<u64>) {
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
    /// What the kernel states in `EtwpDebuggerData` of where members of WMI_BUFFER_HEADER are, beside what the layout has. Each that differs
    /// is a finding: the layout is not the kernel's. Empty if the address was not given or cannot be read.
    ///
    /// What those bytes are is known from public research on 64-bit kernels from 6.1 on; they have no type in symbols. So nothing is read
    /// of 32-bit kernels.
    pub fn witness(&mut self) -> Vec<Stated> {
        let Some(data) = data(self) else { return Vec::new() };
        let mut bytes = [0; STATEMENTS];
        let Some(at) = data.plus(FIRST) else { return Vec::new() };
        let place = Place { structure: "EtwpDebuggerData", address: data, member: "" };
        let holes = self.read(at, &mut bytes);
        if !holes.is_empty() {
            self.find(place, What::Unreadable { wanted: STATEMENTS as u64, read: 0 });
            return Vec::new();
        }
        let stated = members(self).into_iter().zip(bytes);
        let stated: Vec<_> = stated.map(|((member, layout), byte)| Stated { member, stated: byte.into(), layout }).collect();
        for one in stated.iter().filter(|one| !one.agrees()) {
            let what = What::Witness { stated: one.stated, layout: one.layout };
            self.find(Place { structure: "WMI_BUFFER_HEADER", address: Address::NULL, member: one.member }, what);
        }
        stated
    }
}

/// The table of sessions that `EtwpDebuggerData` points to.
pub(crate) fn table<M: Memory + ?Sized>(walk: &mut Walk<'_, M>) -> Option<Address> {
    let table = data(walk)?.plus(TABLE)?;
    walk.pointer(table).filter(|table| walk.is_kernel_address(*table))
}

fn data<M: Memory + ?Sized>(walk: &Walk<'_, M>) -> Option<Address> {
    let kernel = walk.kernel();
    let known = kernel.arch() != Arch::X86 && kernel.build().number >= [6, 1, 0];
    kernel.global("EtwpDebuggerData").filter(|_| known)
}
