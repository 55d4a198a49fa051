//! The headers of a dump.

use crate::error::Error;
use crate::wire::{DUMP_HEADER32, DUMP_HEADER64, TRIAGE_DUMP32, TRIAGE_DUMP64, letters, view};
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::{Arch, Build};
use etw_layouts_etl::wire::quad;
use etw_layouts_memory::Address;

/// Properties of a dump and its system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpHeader {
    /// Kind of the dump, which determines the memory that it contains.
    pub kind: DUMP_TYPE,
    /// Version of Windows. A dump does not state the revision, which is 0 unless given by the caller.
    pub build: Build,
    /// The architecture.
    pub arch: Arch,
    /// Number of processors.
    pub processors: u32,
    /// Code of the bug check.
    pub bug_check: u32,
    /// Parameters of the bug check.
    pub parameters: [u64; 4],
    /// System time of the bug check, in units of 100 ns since 1601.
    pub time: Option<i64>,
    /// Time since boot, in units of 100 ns.
    pub up_time: Option<i64>,
    pub(crate) roots: Roots,
}

/// Offsets of the parts of a triage dump in the file, for both pointer sizes.
#[derive(Clone, Copy, Debug)]
pub struct TriageOffsets {
    pub size: u32,
    pub valid: u32,
    /// Address, offset and size of the stack.
    pub stack: (u64, u32, u32),
    /// Address, offset and size of a data page related to the bug check.
    pub page: (u64, u32, u32),
    /// Address, offset and size of the debugger data.
    pub debugger: (u64, u32, u32),
    pub blocks: u32,
    pub count: u32,
}

/// Starting points for walks through physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Physical address of the top-level page table.
    pub tables: u64,
    /// Whether a 32-bit kernel uses 64-bit page table entries.
    pub is_pae: bool,
    /// Address of the list of modules.
    pub modules: Address,
    /// Address of the debugger data.
    pub debugger: Address,
}

impl DumpHeader {
    /// Maximum size of the headers of any kind of dump, in bytes.
    pub const SIZE: usize = 1 << 14;

    /// Reads the headers at the start of a dump of any kind.
    ///
    /// # Errors
    ///
    /// The bytes do not begin a dump, or the architecture is unknown.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        match (bytes.first_chunk(), bytes.get(4..8)) {
            (Some(b"PAGE"), Some(b"DU64")) => Self::read64(bytes),
            (Some(b"PAGE"), Some(b"DUMP")) => Self::read32(bytes),
            _ => Err(Error::NoDump),
        }
    }

    /// Whether this is a minidump, read by [`Dump`](crate::Dump); others are read by [`MemoryDump`](crate::MemoryDump).
    pub fn is_triage(&self) -> bool {
        self.kind == DUMP_TYPE::DUMP_TYPE_TRIAGE
    }

    fn read64(bytes: &[u8]) -> Result<Self, Error> {
        let header: DUMP_HEADER64 = view(bytes, 0).ok_or(Error::Short(bytes.len()))?;
        let arch = match header.MachineImageType {
            0x8664 => Arch::X64,
            0xAA64 => Arch::Arm64,
            machine => return Err(Error::Machine(machine)),
        };
        let [one, two, three, four] =
            [header.BugCheckParameter1, header.BugCheckParameter2, header.BugCheckParameter3, header.BugCheckParameter4];
        Ok(Self {
            kind: header.DumpType,
            build: build(header.MinorVersion),
            arch,
            processors: header.NumberProcessors,
            bug_check: header.BugCheckCode,
            parameters: [one, two, three, four],
            time: stated(quad(header.SystemTime)),
            up_time: stated(quad(header.SystemUpTime)),
            roots: Roots {
                tables: header.DirectoryTableBase,
                is_pae: true,
                modules: Address(header.PsLoadedModuleList),
                debugger: Address(header.KdDebuggerDataBlock),
            },
        })
    }

    fn read32(bytes: &[u8]) -> Result<Self, Error> {
        let header: DUMP_HEADER32 = view(bytes, 0).ok_or(Error::Short(bytes.len()))?;
        if header.MachineImageType != 0x014C {
            return Err(Error::Machine(header.MachineImageType));
        }
        let parameters =
            [header.BugCheckParameter1, header.BugCheckParameter2, header.BugCheckParameter3, header.BugCheckParameter4];
        Ok(Self {
            kind: header.DumpType,
            build: build(header.MinorVersion),
            arch: Arch::X86,
            processors: header.NumberProcessors,
            bug_check: header.BugCheckCode,
            parameters: parameters.map(u64::from),
            time: stated(quad(header.SystemTime)),
            up_time: stated(quad(header.SystemUpTime)),
            roots: Roots {
                tables: header.DirectoryTableBase.into(),
                is_pae: header.PaeEnabled == 1,
                modules: Address(header.PsLoadedModuleList.into()),
                debugger: Address(header.KdDebuggerDataBlock.into()),
            },
        })
    }
}

impl TriageOffsets {
    /// Whether the dump ends with the end signature.
    pub fn is_whole(&self, bytes: &[u8]) -> bool {
        view(bytes, self.valid as usize) == Some(letters(b"TRGD"))
    }

    /// Reads the offsets of the parts of a triage dump.
    ///
    /// # Errors
    ///
    /// The dump is of another kind, or ends within its headers.
    pub fn read(bytes: &[u8], header: &DumpHeader) -> Result<Self, Error> {
        if !header.is_triage() {
            return Err(Error::Kind(header.kind.0));
        }
        let offsets = match header.arch {
            Arch::X86 => Self::read32(bytes),
            Arch::X64 | Arch::Arm64 => Self::read64(bytes),
        };
        offsets.ok_or(Error::Short(bytes.len()))
    }

    fn read64(bytes: &[u8]) -> Option<Self> {
        let header: DUMP_HEADER64 = view(bytes, 0)?;
        let triage: TRIAGE_DUMP64 = view(bytes, size_of_val(&header))?;
        Some(Self {
            size: triage.SizeOfDump,
            valid: triage.ValidOffset,
            stack: (triage.TopOfStack, triage.CallStackOffset, triage.SizeOfCallStack),
            page: (triage.DataPageAddress, triage.DataPageOffset, triage.DataPageSize),
            debugger: (header.KdDebuggerDataBlock, triage.DebuggerDataOffset, triage.DebuggerDataSize),
            blocks: triage.DataBlocksOffset,
            count: triage.DataBlocksCount,
        })
    }

    fn read32(bytes: &[u8]) -> Option<Self> {
        let header: DUMP_HEADER32 = view(bytes, 0)?;
        let triage: TRIAGE_DUMP32 = view(bytes, size_of_val(&header))?;
        Some(Self {
            size: triage.SizeOfDump,
            valid: triage.ValidOffset,
            stack: (triage.TopOfStack.into(), triage.CallStackOffset, triage.SizeOfCallStack),
            page: (triage.DataPageAddress.into(), triage.DataPageOffset, triage.DataPageSize),
            debugger: (header.KdDebuggerDataBlock.into(), triage.DebuggerDataOffset, triage.DebuggerDataSize),
            blocks: triage.DataBlocksOffset,
            count: triage.DataBlocksCount,
        })
    }
}

/// A time, unless the writer omitted it.
fn stated(time: i64) -> Option<i64> {
    let page = u64::from(letters(b"PAGE"));
    (time as u64 != page << 32 | page && time > 0).then_some(time)
}

/// The Windows version with a build number. A dump states only the build number.
fn build(number: u32) -> Build {
    let (major, minor) = match number {
        0..=2195 => (5, 0),
        2196..=2600 => (5, 1),
        2601..=3790 => (5, 2),
        3791..=6003 => (6, 0),
        6004..=7601 => (6, 1),
        7602..=9200 => (6, 2),
        9201..=9600 => (6, 3),
        _ => (10, 0),
    };
    Build::new(major, minor, number, 0)
}
