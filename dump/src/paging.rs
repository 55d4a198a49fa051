//! From virtual addresses to physical ones, by the page tables of the processor.
//!
//! By hand: the crate that is kept for such dumps, `kdmp-parser`, translates for x64 alone, and enters every page that a header claims
//! into a map, so that a few bytes take all memory.

use etw_layouts::Arch;

/// How a processor's page tables are made, by the manuals of Intel, AMD and Arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    /// x86 with entries of 32 bits, in two levels.
    Two,
    /// x86 with entries of 64 bits, in three levels.
    Pae,
    /// x64 in four levels.
    Four,
    /// x64 in five levels.
    Five,
    /// ARM64 in four levels, with pages of 4 KiB. Windows has both halves of the address space in one table of the highest level.
    Arm,
}

/// Where entries of 64 bits have a page's physical address.
const FRAME: u64 = 0x000F_FFFF_FFFF_F000;
const ARM_FRAME: u64 = 0x0000_FFFF_FFFF_F000;

const PRESENT: u64 = 1;
/// An entry of x86 that is no table but a large page.
const LARGE: u64 = 1 << 7;
/// An entry of Windows' own, not valid for the processor: the page is in transition, that is still in memory.
const TRANSITION: u64 = 1 << 11;
const PROTOTYPE: u64 = 1 << 10;
/// Where such an entry has the physical address on x64 and with PAE. Bits 45 to 47 are no part of it: since the fix of L1 Terminal Fault
/// these kernels set bit 45, so that the address is that of no memory, as several readers of memory images state. ARM64 has no such bit.
const TRANSITION_FRAME: u64 = 0x0000_1FFF_FFFF_F000;

impl Paging {
    /// What an architecture's kernels may have, the likelier first.
    pub fn of(arch: Arch, is_pae: bool) -> &'static [Self] {
        match arch {
            Arch::X86 if is_pae => &[Self::Pae],
            Arch::X86 => &[Self::Two, Self::Pae],
            Arch::X64 => &[Self::Four, Self::Five],
            Arch::Arm64 => &[Self::Arm],
        }
    }

    /// The physical address of a virtual one, through the tables that begin at `root`; `None` where nothing is mapped, or a table is missing.
    pub fn translate(self, root: u64, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Option<u64> {
        match self {
            Self::Two => two(root, address, read),
            Self::Pae => {
                // The four entries of the highest level have no flags but one.
                let entry = read((root & !0x1F) + (address >> 30 & 3) * 8, 8)?;
                (address <= u32::MAX.into() && entry & PRESENT != 0).then_some(())?;
                tables(entry & FRAME, 21, address, read)
            }
            Self::Four => is_extended(address, 48).then(|| tables(root & FRAME, 39, address, read))?,
            Self::Five => is_extended(address, 57).then(|| tables(root & FRAME, 48, address, read))?,
            Self::Arm => is_extended(address, 48).then(|| arm(root & ARM_FRAME, address, read))?,
        }
    }
}

/// Whether the bits from that one on are as the one below it.
fn is_extended(address: u64, bits: u32) -> bool {
    let high = (address as i64) >> (bits - 1);
    high == 0 || high == -1
}

/// The address in a page of so many bits.
fn within(frame: u64, bits: u32, address: u64) -> u64 {
    let low = (1 << bits) - 1;
    frame & !low | address & low
}

/// Tables of 512 entries, the first of which has an entry for so many bits of the address.
fn tables(mut table: u64, first: u32, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Option<u64> {
    let mut bits = first;
    loop {
        let entry = read(table + (address >> bits & 0x1FF) * 8, 8)?;
        // A table can be in transition as any page can.
        let next = match entry & PRESENT {
            0 => is_in_transition(entry).then_some(entry & TRANSITION_FRAME)?,
            _ if bits > 12 && entry & LARGE != 0 => return (bits <= 30).then(|| within(entry & FRAME, bits, address)),
            _ => entry & FRAME,
        };
        if bits == 12 {
            return Some(within(next, bits, address));
        }
        (table, bits) = (next, bits - 9);
    }
}

fn is_in_transition(entry: u64) -> bool {
    entry & (PRESENT | TRANSITION | PROTOTYPE) == TRANSITION
}

fn two(root: u64, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Option<u64> {
    let address = u32::try_from(address).ok().map(u64::from)?;
    let entry = read((root & 0xFFFF_F000) + (address >> 22) * 4, 4)?;
    let is_there = |entry| entry & PRESENT != 0 || is_in_transition(entry);
    if !is_there(entry) {
        return None;
    }
    if entry & (PRESENT | LARGE) == PRESENT | LARGE {
        // Eight more bits of the address, in front of it.
        let high = (entry >> 13 & 0xFF) << 32;
        return Some(high | within(entry & 0xFFC0_0000, 22, address));
    }
    let entry = read((entry & 0xFFFF_F000) + (address >> 12 & 0x3FF) * 4, 4)?;
    is_there(entry).then(|| within(entry & 0xFFFF_F000, 12, address))
}

fn arm(mut table: u64, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Option<u64> {
    let mut bits = 39;
    loop {
        let entry = read(table + (address >> bits & 0x1FF) * 8, 8)?;
        // Valid, and whether it is a table, or on the lowest level a page.
        match (entry & 1, entry >> 1 & 1, bits) {
            (1, 1, 12) => return Some(within(entry & ARM_FRAME, 12, address)),
            (1, 1, _) => (table, bits) = (entry & ARM_FRAME, bits - 9),
            (1, 0, 21 | 30) => return Some(within(entry & ARM_FRAME, bits, address)),
            (0, _, 12) if is_in_transition(entry) => return Some(within(entry & ARM_FRAME, 12, address)),
            (0, _, _) if is_in_transition(entry) => (table, bits) = (entry & ARM_FRAME, bits - 9),
            _ => return None,
        }
    }
}
