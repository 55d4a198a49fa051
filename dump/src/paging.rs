//! Translation of virtual to physical addresses with the processor's page tables.
//!
//! Implemented here because the maintained crate for such dumps, `kdmp-parser`, supports only x64, and inserts every page that a
//! header states into a map, so that a small file can exhaust memory.

use etw_layouts::Arch;

/// Format of a processor's page tables, from the manuals of Intel, AMD and Arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    /// x86 with 32-bit entries, in two levels.
    Two,
    /// x86 with 64-bit entries, in three levels.
    Pae,
    /// x64 in four levels.
    Four,
    /// x64 in five levels.
    Five,
    /// ARM64 in four levels, with pages of 4 KiB. Windows keeps both halves of the address space in one top-level table.
    Arm,
}

/// Mask of the physical address in a 64-bit entry.
const FRAME: u64 = 0x000F_FFFF_FFFF_F000;
const ARM_FRAME: u64 = 0x0000_FFFF_FFFF_F000;

const PRESENT: u64 = 1;
/// Flag of an x86 entry for a large page instead of a table.
const LARGE: u64 = 1 << 7;
/// Flag of a software entry of Windows, invalid for the processor: the page is in transition, which means still in memory.
const TRANSITION: u64 = 1 << 11;
const PROTOTYPE: u64 = 1 << 10;
/// Mask of the physical address in a transition entry on x64 and with PAE. Bits 45 to 47 are excluded: kernels with the L1
/// Terminal Fault mitigation set bit 45, so that the address is outside of memory, according to several readers of memory images.
/// ARM64 has no such bit.
const TRANSITION_FRAME: u64 = 0x0000_1FFF_FFFF_F000;

impl Paging {
    /// The possible formats of an architecture, the most likely first.
    pub fn of(arch: Arch, is_pae: bool) -> &'static [Self] {
        match arch {
            Arch::X86 if is_pae => &[Self::Pae],
            Arch::X86 => &[Self::Two, Self::Pae],
            Arch::X64 => &[Self::Four, Self::Five],
            Arch::Arm64 => &[Self::Arm],
        }
    }

    /// The architecture of the format.
    pub fn arch(self) -> Arch {
        match self {
            Self::Two | Self::Pae => Arch::X86,
            Self::Four | Self::Five => Arch::X64,
            Self::Arm => Arch::Arm64,
        }
    }

    /// The formats of which a page at a physical address can be a table with an entry for itself, as Windows has in the kernel's half of the top-level
    /// table; with PAE, in the last of four directories.
    pub fn with_reference_to(page: u64, content: &[u8]) -> Vec<Self> {
        let entry = |index: usize| content.get(index * 8..index * 8 + 8).map_or(0, number);
        let mut formats = Vec::new();
        if (256..512).any(|index| entry(index) & (PRESENT | LARGE) == PRESENT && entry(index) & FRAME == page) {
            formats.extend([Self::Four, Self::Five]);
        }
        if (256..512).any(|index| entry(index) & 3 == 3 && entry(index) & ARM_FRAME == page) {
            formats.push(Self::Arm);
        }
        if (0..4).all(|index| entry(index) & PRESENT != 0) && entry(3) & FRAME == page {
            formats.push(Self::Pae);
        }
        // The tables are at 0xC0000000.
        let own = content.get(0xC00..0xC04).map_or(0, number);
        if own & (PRESENT | LARGE) == PRESENT && own & 0xFFFF_F000 == page {
            formats.push(Self::Two);
        }
        formats
    }

    /// The physical address of a virtual address, with the tables at `root`; `None` if it is unmapped, or a table is missing.
    pub fn translate(self, root: u64, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Option<u64> {
        self.walk(root, address, read).ok().map(|(physical, _)| physical)
    }

    /// As [`translate`](Self::translate), with the number of address bits in the page; or that of the entry that maps nothing.
    pub fn walk(self, root: u64, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Result<(u64, u32), u32> {
        match self {
            Self::Two => two(root, address, read),
            Self::Pae => {
                // The four entries of the highest level have only the Present flag.
                let entry = read((root & !0x1F) + (address >> 30 & 3) * 8, 8).unwrap_or(0);
                if address > u32::MAX.into() || entry & PRESENT == 0 {
                    return Err(30);
                }
                tables(entry & FRAME, 21, address, read)
            }
            Self::Four if is_extended(address, 48) => tables(root & FRAME, 39, address, read),
            Self::Five if is_extended(address, 57) => tables(root & FRAME, 48, address, read),
            Self::Arm if is_extended(address, 48) => arm(root & ARM_FRAME, address, read),
            Self::Four | Self::Five | Self::Arm => Err(12),
        }
    }
}

/// The physical address in a 64-bit entry; 0 if it is not present.
pub fn frame(entry: &[u8]) -> u64 {
    let entry = number(entry);
    if entry & PRESENT == 0 { 0 } else { entry & FRAME }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Whether the bits from `bits` upward equal the bit below.
fn is_extended(address: u64, bits: u32) -> bool {
    let high = (address as i64) >> (bits - 1);
    high == 0 || high == -1
}

/// The physical address in a page. The offset within the page has the given number of bits.
fn within(frame: u64, bits: u32, address: u64) -> u64 {
    let low = (1 << bits) - 1;
    frame & !low | address & low
}

/// Walks tables of 512 entries; an entry of the first one covers an address range of the given number of bits.
fn tables(mut table: u64, first: u32, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Result<(u64, u32), u32> {
    let mut bits = first;
    loop {
        let entry = read(table + (address >> bits & 0x1FF) * 8, 8).ok_or(bits)?;
        // Like other pages, a table can be in transition.
        let next = match entry & PRESENT {
            0 => is_in_transition(entry).then_some(entry & TRANSITION_FRAME).ok_or(bits)?,
            _ if bits > 12 && entry & LARGE != 0 => {
                return (bits <= 30).then(|| (within(entry & FRAME, bits, address), bits)).ok_or(bits);
            }
            _ => entry & FRAME,
        };
        if bits == 12 {
            return Ok((within(next, bits, address), bits));
        }
        (table, bits) = (next, bits - 9);
    }
}

fn is_in_transition(entry: u64) -> bool {
    entry & (PRESENT | TRANSITION | PROTOTYPE) == TRANSITION
}

fn two(root: u64, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Result<(u64, u32), u32> {
    let address = u32::try_from(address).map(u64::from).map_err(|_| 22u32)?;
    let entry = read((root & 0xFFFF_F000) + (address >> 22) * 4, 4).ok_or(22u32)?;
    let is_there = |entry| entry & PRESENT != 0 || is_in_transition(entry);
    if !is_there(entry) {
        return Err(22);
    }
    if entry & (PRESENT | LARGE) == PRESENT | LARGE {
        // The entry has eight more bits of the address.
        let high = (entry >> 13 & 0xFF) << 32;
        return Ok((high | within(entry & 0xFFC0_0000, 22, address), 22));
    }
    let entry = read((entry & 0xFFFF_F000) + (address >> 12 & 0x3FF) * 4, 4).ok_or(12u32)?;
    is_there(entry).then(|| (within(entry & 0xFFFF_F000, 12, address), 12)).ok_or(12)
}

fn arm(mut table: u64, address: u64, read: impl Fn(u64, usize) -> Option<u64>) -> Result<(u64, u32), u32> {
    let mut bits = 39;
    loop {
        let entry = read(table + (address >> bits & 0x1FF) * 8, 8).ok_or(bits)?;
        // Valid bit; then the bit for a table, or for a page at the lowest level.
        match (entry & 1, entry >> 1 & 1, bits) {
            (1, 1, 12) => return Ok((within(entry & ARM_FRAME, 12, address), 12)),
            (1, 1, _) => (table, bits) = (entry & ARM_FRAME, bits - 9),
            (1, 0, 21 | 30) => return Ok((within(entry & ARM_FRAME, bits, address), bits)),
            (0, _, 12) if is_in_transition(entry) => return Ok((within(entry & ARM_FRAME, 12, address), 12)),
            (0, _, _) if is_in_transition(entry) => (table, bits) = (entry & ARM_FRAME, bits - 9),
            _ => return Err(bits),
        }
    }
}
