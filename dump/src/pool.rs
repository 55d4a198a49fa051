//! Registrations of providers, found in a dump's memory by the tag of their allocations.

use crate::dump::Dump;
use etw_layouts::members::{ETW_REG_ENTRY as ENTRY, LIST_ENTRY};
use etw_layouts::{Arch, structures};
use etw_layouts_memory::{Address, Guid, Kernel, Object, Walk};
use std::collections::BTreeSet;

/// A registration in a dump's memory.
#[derive(Clone, Debug)]
pub struct Registration {
    /// The names of its flags that are set.
    pub flags: Vec<&'static str>,
    /// The address of the entry of its GUID.
    pub guid_entry: Address,
    /// Which GUID it is of, if the dump has the entry of that too.
    pub guid: Option<Guid>,
    /// All of it: an ETW_REG_ENTRY.
    pub entry: Object<ENTRY::Type>,
}

/// The tag of the allocations that ETW keeps registrations in.
const TAG: &[u8; 4] = b"EtwR";

impl Dump<'_> {
    /// The registrations of providers in its memory: allocations of their tag that hold what a registration is. Of an allocation that was
    /// freed the lists lead nowhere, and it is none.
    pub fn registrations(&self) -> Vec<Registration> {
        let kernel = Kernel::new(self.header().build, self.header().arch);
        // Where an allocation begins after its tag, and how all are aligned: of the pool's header, for which there is no spec yet.
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

    fn registration(&self, kernel: &Kernel, at: Address) -> Option<Registration> {
        // A dump has pieces of memory, so that what is missing of it is nothing to tell.
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
        let guid = of_guid.and_then(|of_guid| Some(Guid(of_guid.member("Guid")?.bytes().try_into().ok()?)));
        let flags = entry.set_bits(ENTRY::FLAGS);
        Some(Registration { flags, guid_entry, guid, entry })
    }
}

/// Whether a pointer leads to where the kernel has its data.
fn is_of_kernel(pointer: Address, arch: Arch) -> bool {
    match arch {
        Arch::X86 => pointer.0 >= 0x8000_0000 && pointer.0.is_multiple_of(4),
        Arch::X64 | Arch::Arm64 => pointer.0 >= 0xFFFF_8000_0000_0000 && pointer.0.is_multiple_of(8),
    }
}
