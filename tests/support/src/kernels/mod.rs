//! Makes memory images of kernels. It uses the layouts, but no code of the walks that it tests.

pub mod plan;
mod providers;
mod put;
mod sessions;
mod start;

use etw_layouts::runtime::packed::{Layout, Type};
use etw_layouts::{Arch, Build, LAYOUTS};
use etw_layouts_memory::{Address, Kernel, Memory, ReadError};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Memory from a start address. Pages can be missing.
#[derive(Clone)]
pub struct Image {
    pub base: u64,
    pub bytes: Vec<u8>,
    pub missing: BTreeSet<u64>,
}

pub const PAGE: u64 = 0x1000;

impl Memory for Image {
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
        let mut done = 0;
        while done < out.len() {
            let Some(at) = address.0.checked_add(done as u64) else { break };
            let offset = at.checked_sub(self.base).and_then(|offset| usize::try_from(offset).ok());
            let there = offset.and_then(|offset| self.bytes.get(offset..)).unwrap_or_default();
            let length = there.len().min(out.len() - done).min((PAGE - at % PAGE) as usize);
            if length == 0 || self.missing.contains(&(at / PAGE)) {
                break;
            }
            out[done..done + length].copy_from_slice(&there[..length]);
            done += length;
        }
        Ok(done)
    }
}

/// A builder of an image.
pub struct Kit {
    pub build: Build,
    pub arch: Arch,
    pub image: Image,
    pub globals: Vec<(&'static str, u64)>,
    /// The layouts that were selected.
    layouts: RefCell<BTreeMap<String, Option<Layout<'static>>>>,
}

/// The range of the only module.
pub fn module(arch: Arch) -> (u64, u64) {
    match arch {
        Arch::X86 => (0x8040_0000, 0x8090_0000),
        _ => (0xFFFF_F800_0100_0000, 0xFFFF_F800_0200_0000),
    }
}

impl Kit {
    pub fn new(build: Build, arch: Arch) -> Self {
        let base = if arch == Arch::X86 { 0x8600_0000 } else { 0xFFFF_9A01_0000_0000 };
        let image = Image { base, bytes: vec![0; PAGE as usize], missing: BTreeSet::new() };
        Self { build, arch, image, globals: Vec::new(), layouts: RefCell::default() }
    }

    /// The description of the kernel that a walk needs.
    pub fn kernel(&self) -> Kernel {
        let (start, end) = module(self.arch);
        let kernel = Kernel::new(self.build, self.arch).with_module("ntoskrnl.exe", Address(start)..Address(end));
        self.globals.iter().fold(kernel, |kernel, (name, at)| kernel.with_global(name, Address(*at)))
    }

    /// The layout of a structure; `None` if the kernel does not have the structure.
    pub fn layout(&self, name: &str) -> Option<Layout<'static>> {
        let mut layouts = self.layouts.borrow_mut();
        *layouts.entry(name.to_owned()).or_insert_with(|| {
            let selected = LAYOUTS.structure(name)?.select(self.build, self.arch).ok()?;
            Some(selected.layout.layout())
        })
    }

    /// Allocates zeroed memory of this size.
    pub fn room(&mut self, size: usize, align: usize) -> u64 {
        let start = self.image.bytes.len().next_multiple_of(align.max(16));
        self.image.bytes.resize(start + size, 0);
        self.image.base + start as u64
    }

    /// Allocates a zeroed structure.
    pub fn make(&mut self, name: &str) -> u64 {
        let layout = self.layout(name).unwrap_or_else(|| panic!("{name} of {} {}", self.build, self.arch));
        self.room(layout.size, layout.align)
    }

    pub fn pointer_size(&self) -> usize {
        self.arch.pointer_size() as usize
    }

    /// Writes the low bytes of a number.
    pub fn word(&mut self, at: u64, size: usize, value: u64) {
        let at = (at - self.image.base) as usize;
        self.image.bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    pub fn pointer(&mut self, at: u64, value: u64) {
        self.word(at, self.pointer_size(), value);
    }

    pub fn read_pointer(&self, at: u64) -> u64 {
        let (at, size) = ((at - self.image.base) as usize, self.pointer_size());
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.image.bytes[at..at + size]);
        u64::from_le_bytes(bytes)
    }

    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        let at = (at - self.image.base) as usize;
        self.image.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The address of a member, by a path such as `LoggerName.Length`; `None` if the kernel lacks it.
    pub fn place(&self, name: &str, at: u64, path: &str) -> Option<u64> {
        find(self.layout(name)?, path).map(|(offset, ..)| at + offset as u64)
    }

    /// Sets a member, if the kernel has it.
    pub fn set(&mut self, name: &str, at: u64, path: &str, value: u64) -> bool {
        let Some((offset, size, bits, _)) = self.layout(name).and_then(|layout| find(layout, path)) else { return false };
        let at = (at - self.image.base) as usize + offset;
        let size = size.min(8);
        let mut all = [0; 8];
        all[..size].copy_from_slice(&self.image.bytes[at..at + size]);
        let mut all = u64::from_le_bytes(all);
        match bits {
            Some((position, width)) => {
                let mask = (u64::MAX >> (64 - width)) << position;
                all = all & !mask | value << position & mask;
            }
            None => all = value,
        }
        self.image.bytes[at..at + size].copy_from_slice(&all.to_le_bytes()[..size]);
        true
    }

    /// The name of a member's type; `None` if the kernel lacks it.
    pub fn kind(&self, name: &str, path: &str) -> Option<&'static str> {
        match find(self.layout(name)?, path)?.3 {
            Type::Layout(layout) => Some(layout.name),
            _ => None,
        }
    }

    /// The element size and the number of elements of an array member.
    pub fn elements(&self, name: &str, path: &str) -> Option<(usize, usize)> {
        let (_, size, _, ty) = find(self.layout(name)?, path)?;
        match ty {
            Type::Array(element) => Some((element.size, size / element.size)),
            _ => None,
        }
    }

    /// Writes a string to a member of type UNICODE_STRING.
    pub fn text(&mut self, name: &str, at: u64, member: &str, text: &str) {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let buffer = self.room(units.len() + 2, 2);
        self.write(buffer, &units);
        self.set(name, at, &format!("{member}.Length"), units.len() as u64);
        self.set(name, at, &format!("{member}.MaximumLength"), units.len() as u64 + 2);
        self.set(name, at, &format!("{member}.Buffer"), buffer);
    }

    /// Links entries to a doubly linked list.
    pub fn double(&mut self, head: u64, entries: &[u64]) {
        let ring: Vec<u64> = [head].into_iter().chain(entries.iter().copied()).collect();
        for (index, &at) in ring.iter().enumerate() {
            let next = ring[(index + 1) % ring.len()];
            self.pointer(at, next);
            self.pointer(next + self.pointer_size() as u64, at);
        }
    }

    /// Links entries to a singly linked list after a pointer.
    pub fn single(&mut self, head: u64, entries: &[u64]) {
        let mut at = head;
        for &entry in entries {
            self.pointer(at, entry);
            at = entry;
        }
        self.pointer(at, 0);
    }

    /// Links entries to an interlocked list. `short` selects the 8-byte form of 64-bit kernels.
    pub fn interlocked(&mut self, head: u64, entries: &[u64], short: bool) {
        if self.arch == Arch::X86 {
            self.single(head, entries);
            return self.word(head + 4, 2, entries.len() as u64);
        }
        let first = entries.first().copied().unwrap_or(0);
        if first != 0 {
            self.single(first, &entries[1..]);
        }
        let depth = entries.len() as u64;
        match short {
            true => {
                self.word(head, 8, depth | 7 << 16 | (first >> 4 & 0x7F_FFFF_FFFF) << 25);
                self.word(head + 8, 8, 0);
            }
            false => {
                self.word(head, 8, depth | 7 << 16);
                self.word(head + 8, 8, first | 1);
            }
        }
    }
}

/// Offset, size, bits and type of a member.
type Found = (usize, usize, Option<(u32, u32)>, Type<'static>);

/// Finds a member by its path.
fn find(layout: Layout<'static>, path: &str) -> Option<Found> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let member = layout.member(name)?;
    match (rest, member.ty) {
        (None, ty) => Some((member.offset, member.size, member.bits, ty)),
        (Some(rest), Type::Layout(inner)) => {
            let (offset, size, bits, ty) = find(inner, rest)?;
            Some((member.offset + offset, size, bits, ty))
        }
        _ => None,
    }
}
