//! Provider registrations, found in the memory of a dump by their pool tag.

use crate::dump::Dump;
use etw_layouts::members::{ETW_REG_ENTRY as ENTRY, LIST_ENTRY};
use etw_layouts::{Arch, structures};
use etw_layouts_memory::{Address, Kernel, Object, Uuid, Walk};
use std::collections::BTreeSet;

/// A registration in a dump's memory.
#[derive(Clone, Debug)]
pub struct PoolRegistration {
    /// Names of its set flags.
    pub flags: Vec<&'static str>,
    /// Address of its GUID entry.
    pub guid_entry: Address,
    /// The GUID, if the dump contains the GUID entry.
    pub guid: Option<Uuid>,
    /// The ETW_REG_ENTRY structure.
    pub entry: Object<ENTRY::Type>,
}

/// Pool tag of registrations.
const TAG: &[u8; 4] = b"EtwR";

impl Dump<'_> {
    /// Searches memory for registrations of providers: allocations with their pool tag and plausible contents. Freed allocations
    /// are excluded because their list pointers are invalid.
    pub fn registrations(&self) -> Vec<PoolRegistration> {
        let kernel = Kernel::new(self.header().build, self.header().arch);
        // Distance from the tag to the allocation, and alignment of the tag: properties of the pool header, for which there is no
        // spec yet.
        let (after, align) = if self.header().arch == Arch::X86 { (4, 8) } else { (12, 16) };
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for (start, bytes) in self.memory().iter() {
            for (offset, _) in bytes.windows(TAG.len()).enumerate().filter(|(_, window)| window == TAG) {
                let at = start.plus(offset as u64).filter(|at| at.0 % align == 4).and_then(|at| at.plus(after));
                if let Some(at) = at.filter(|at| seen.insert(*at)) {
                    found.extend(self.registration(&kernel, at));
                }
            }
        }
        found
    }

    fn registration(&self, kernel: &Kernel, at: Address) -> Option<PoolRegistration> {
        // A triage dump contains only pieces of memory, so missing memory is not a diagnostic.
        let mut walk = Walk::new(self.memory(), kernel);
        let entry = walk.object(&structures::ETW_REG_ENTRY, at)?;
        let links = entry.inner(ENTRY::REG_LIST)?;
        let guid_entry = kernel.address(entry.unsigned(ENTRY::GUID_ENTRY)?);
        let pointers =
            [kernel.address(links.unsigned(LIST_ENTRY::FLINK)?), kernel.address(links.unsigned(LIST_ENTRY::BLINK)?), guid_entry];
        if !pointers.into_iter().all(|pointer| is_of_kernel(pointer, kernel.arch())) {
            return None;
        }
        let of_guid = walk.object(&structures::ETW_GUID_ENTRY, guid_entry);
        let guid = of_guid.and_then(|of_guid| Uuid::from_slice_le(of_guid.member("Guid")?.bytes()).ok());
        let flags = entry.set_bits(ENTRY::FLAGS);
        Some(PoolRegistration { flags, guid_entry, guid, entry })
    }
}

/// Whether a pointer is in the address range of kernel data.
fn is_of_kernel(pointer: Address, arch: Arch) -> bool {
    match arch {
        Arch::X86 => pointer.0 >= 0x8000_0000 && pointer.0.is_multiple_of(4),
        Arch::X64 | Arch::Arm64 => pointer.0 >= 0xFFFF_8000_0000_0000 && pointer.0.is_multiple_of(8),
    }
}
