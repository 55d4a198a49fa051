//! Which image a program database belongs to.

use super::container::{File, u16_at, u32_at};
use crate::model::{Arch, Pdb};
use pdb2::{HeaderVersion, StreamIndex};

const INFORMATION: StreamIndex = StreamIndex(1);
const MODULES: StreamIndex = StreamIndex(3);

/// From this version on, the file has a GUID.
const VISUAL_C_7: u32 = 20_000_404;

/// What a file says of itself. Much of it is missing from old ones, which is no error.
#[derive(Default)]
pub(super) struct Identity {
    pub pdb: Option<Pdb>,
    /// `IMAGE_FILE_MACHINE_…`; `None` if the file names none.
    machine: Option<u16>,
    /// Whether the types stayed in the object files.
    pub fast_link: bool,
}

pub(super) fn read(file: &mut File<'_>) -> Identity {
    let mut identity = Identity::default();
    let mut linked = None;
    if let Ok(Some(modules)) = file.raw_stream(MODULES)
        && u32_at(&modules, 0) == Some(u32::MAX)
    {
        linked = u32_at(&modules, 8).filter(|age| *age != 0);
        identity.machine = u16_at(&modules, 58).filter(|machine| *machine != 0);
    }
    let Ok(information) = file.pdb_information() else { return identity };
    let has_guid = match information.version {
        HeaderVersion::OtherValue(version) => version >= VISUAL_C_7,
        HeaderVersion::V110 => true,
        _ => false,
    };
    let guid = information.guid.as_u128();
    if has_guid && guid != 0 {
        // Tools that strip a file count up its own age; that of the modules stays the image's.
        identity.pdb = Some(Pdb { name: String::new(), guid, age: linked.unwrap_or(information.age) });
    }
    if let Ok(Some(stream)) = file.raw_stream(INFORMATION) {
        // Feature codes come last, after names and small numbers.
        let names_end = information.names_offset.saturating_add(information.names_size);
        identity.fast_link = stream.get(names_end..).is_some_and(|rest| rest.windows(4).any(|code| code == b"MINI"));
    }
    identity
}

impl Identity {
    /// The architecture: of the machine, or if the file names none, by the size of its pointers.
    pub fn arch(&self, pointer_size: Option<u64>) -> Option<Arch> {
        match (self.machine, pointer_size) {
            (Some(0x14C), _) | (None, Some(4)) => Some(Arch::X86),
            (Some(0x8664), _) | (None, Some(8)) => Some(Arch::X64),
            _ => None,
        }
    }

    pub fn is_managed(&self) -> bool {
        self.machine == Some(0xC0EE)
    }
}
