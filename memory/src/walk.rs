//! A walk through kernel memory, which reads within limits and collects findings.

use crate::address::Address;
use crate::finding::{Finding, FindingKind, MemberLocation};
use crate::kernel::Kernel;
use crate::memory::Memory;
use crate::object::Object;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use etw_layouts::members::{EX_FAST_REF, UNICODE_STRING};
use etw_layouts::runtime::packed::Structure;
use etw_layouts::runtime::token::{Nested, Tokens};
use etw_layouts::runtime::{Arch, LayoutOf, Token, View};
use etw_layouts::structures;

/// A walk through memory. Irregularities are collected in [`findings`](Self::findings), and never abort it.
pub struct Walk<'a, M: ?Sized> {
    memory: &'a M,
    kernel: &'a Kernel,
    limits: Limits,
    read: u64,
    findings: Vec<Finding>,
}

/// Limits of a walk, independent of the contents of memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of entries of a list or table.
    pub entries: usize,
    /// Maximum number of bytes read in the whole walk.
    pub bytes: u64,
    /// Maximum number of findings kept.
    pub findings: usize,
    /// Maximum length of a string, in bytes.
    pub text: usize,
}

impl Default for Limits {
    /// 65,536 entries, 4 GiB, 65,536 findings, the longest strings.
    fn default() -> Self {
        Self { entries: 1 << 16, bytes: 1 << 32, findings: 1 << 16, text: 1 << 16 }
    }
}

/// Size of a page in bytes, on all architectures: memory is present or missing in whole pages.
const PAGE: u64 = 0x1000;

impl<'a, M: Memory + ?Sized> Walk<'a, M> {
    /// Creates a walk.
    pub fn new(memory: &'a M, kernel: &'a Kernel) -> Self {
        Self { memory, kernel, limits: Limits::default(), read: 0, findings: Vec::new() }
    }

    /// Sets other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The kernel description.
    pub fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// The limits of the walk.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The findings so far, in the order in which they were found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the findings.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Number of bytes that may still be read.
    pub fn bytes_left(&self) -> u64 {
        self.limits.bytes.saturating_sub(self.read)
    }

    /// Counts derived bytes, such as those of a decompressed buffer, as read.
    pub fn spend(&mut self, bytes: u64) {
        self.read = self.read.saturating_add(bytes);
    }

    /// Adds a finding.
    pub fn report(&mut self, place: MemberLocation, kind: FindingKind) {
        if self.findings.len() < self.limits.findings {
            self.findings.push(Finding { place, kind });
        }
    }

    /// Reads bytes page by page, and returns the ranges that could not be read.
    pub fn read(&mut self, address: Address, out: &mut [u8]) -> Vec<Range<usize>> {
        let mut holes: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while at < out.len() {
            let here = address.plus(at as u64);
            let left = here.map_or(PAGE, |here| PAGE - here.0 % PAGE);
            let end = out.len().min(at + left as usize);
            let present = match here {
                Some(here) if self.read < self.limits.bytes => match self.memory.read(here, &mut out[at..end]) {
                    Ok(present) => present.min(end - at),
                    Err(error) => {
                        self.report(
                            MemberLocation { structure: "memory", address: here, member: "" },
                            FindingKind::Failed(error),
                        );
                        0
                    }
                },
                _ => 0,
            };
            let within = self.read < self.limits.bytes;
            self.read = self.read.saturating_add((end - at) as u64);
            if within && self.read >= self.limits.bytes {
                let place =
                    MemberLocation { structure: "memory", address: address.plus(at as u64).unwrap_or_default(), member: "" };
                self.report(place, FindingKind::Limit(self.limits.bytes));
            }
            let hole = at + present..end;
            out[hole.clone()].fill(0);
            match holes.last_mut() {
                _ if hole.is_empty() => {}
                Some(last) if last.end == hole.start => last.end = end,
                _ => holes.push(hole),
            }
            at = end;
        }
        holes
    }

    /// The structure at an address; `None` if the kernel has no such structure, or none of it could be read.
    pub fn object<S: Tokens>(&mut self, structure: &Structure<'static, S>, address: Address) -> Option<Object<S>> {
        match self.kernel.layout(structure) {
            Some(layout) => self.object_of(layout, address),
            None => {
                self.report(MemberLocation { structure: structure.name, address, member: "" }, FindingKind::NoLayout);
                None
            }
        }
    }

    /// The structure with a layout at an address; `None` if none of it could be read.
    pub fn object_of<S>(&mut self, layout: impl Into<LayoutOf<'static, S>>, address: Address) -> Option<Object<S>> {
        let layout = layout.into();
        let mut bytes = vec![0; layout.size];
        let holes = self.read(address, &mut bytes);
        let missing: usize = holes.iter().map(Range::len).sum();
        if missing > 0 {
            let (requested, read) = (layout.size as u64, (layout.size - missing) as u64);
            self.report(
                MemberLocation { structure: layout.name, address, member: "" },
                FindingKind::Unreadable { requested, read },
            );
        }
        (missing < layout.size).then(|| Object::new(address, layout, bytes, holes))
    }

    /// The integer of up to eight bytes at an address; `None` if any of its bytes could not be read.
    pub fn integer(&mut self, address: Address, size: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        let place = bytes.get_mut(..size)?;
        self.read(address, place).is_empty().then(|| u64::from_le_bytes(bytes))
    }

    /// The pointer at an address.
    pub fn pointer(&mut self, address: Address) -> Option<Address> {
        let value = self.integer(address, self.kernel.arch().pointer_size() as usize)?;
        Some(self.kernel.address(value))
    }

    /// An array of pointers, limited to [`Limits::entries`]; `None` for those that could not be read.
    pub fn pointers(&mut self, address: Address, count: usize) -> Vec<Option<Address>> {
        let size = self.kernel.arch().pointer_size();
        let count = count.min(self.limits.entries);
        (0..count as u64).map(|index| self.pointer(address.plus(index * size)?)).collect()
    }

    /// The pointer in a member of type EX_FAST_REF, without the count in its low bits.
    pub fn fast_ref<S: Tokens>(&self, object: &Object<S>, token: Token<S, Nested<EX_FAST_REF::Type>>) -> Option<Address> {
        self.untag(object.get(token)?)
    }

    /// The pointer in an EX_FAST_REF.
    pub fn untag(&self, reference: View<'_, EX_FAST_REF::Type>) -> Option<Address> {
        self.untagged(Address(reference.unsigned(EX_FAST_REF::VALUE)?))
    }

    /// The pointer in the value of an EX_FAST_REF.
    pub(crate) fn untagged(&self, reference: Address) -> Option<Address> {
        let (_, width) = self.kernel.layout(&structures::EX_FAST_REF)?.find(EX_FAST_REF::REF_CNT)?.bits?;
        Some(self.kernel.address(reference.0 >> width << width))
    }

    /// The text of a UNICODE_STRING member: the part that could be read, limited to [`Limits::text`]. Invalid UTF-16 is replaced.
    /// `None` if there is no string.
    pub fn text<S: Tokens>(&mut self, object: &Object<S>, token: Token<S, Nested<UNICODE_STRING::Type>>) -> Option<String> {
        let string = object.get(token)?;
        let (length, capacity) = (string.unsigned(UNICODE_STRING::LENGTH)?, string.unsigned(UNICODE_STRING::MAXIMUM_LENGTH)?);
        let at = self.kernel.address(string.unsigned(UNICODE_STRING::BUFFER)?);
        let place = MemberLocation { structure: object.layout().name, address: object.address(), member: token.name() };
        if length % 2 != 0 || length > capacity {
            self.report(place, FindingKind::Text { length, capacity });
            return None;
        }
        if length == 0 || at.is_null() {
            return (!at.is_null()).then(String::new);
        }
        let mut bytes = vec![0; (length as usize).min(self.limits.text)];
        let present = self.read(at, &mut bytes).first().map_or(bytes.len(), |hole| hole.start);
        if present < bytes.len() {
            self.report(place, FindingKind::Unreadable { requested: length, read: present as u64 });
        }
        let units = bytes[..present].chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let text = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        (present > 0).then_some(text)
    }

    /// Whether a pointer to a kernel structure can have this value.
    pub fn is_kernel_address(&self, address: Address) -> bool {
        // On 32-bit systems, the kernel has the addresses above 2 GiB, or above 3 GiB. On 64-bit systems, its addresses have their highest
        // bits set.
        let lowest = match self.kernel.arch() {
            Arch::X86 => 0x8000_0000,
            Arch::X64 | Arch::Arm64 => 0xFFFF_0000_0000_0000,
        };
        address.0 >= lowest
    }
}
