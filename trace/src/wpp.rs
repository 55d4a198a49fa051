//! What a session states about messages of the Windows software trace preprocessor (WPP).

use crate::naming::ImagePdb;
use etw_layouts_etl::wire::HOOK_ID;
use etw_layouts_etl::{Event, HeaderType, Schemas, Uuid};
use std::collections::BTreeSet;

/// The messages of WPP in a session, and the program databases that can have their formats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WppSources {
    guids: BTreeSet<Uuid>,
    pdbs: BTreeSet<ImagePdb>,
    left_out: u64,
}

/// Maximum number of GUIDs, and of program databases. A driver has a GUID for each of its source files.
const MAX: usize = 1 << 14;

/// The opcode of the event with a program database.
const DBG_ID: u8 = 64;

impl WppSources {
    /// The GUIDs of the messages: one for each source file of a program.
    #[must_use]
    pub fn guids(&self) -> &BTreeSet<Uuid> {
        &self.guids
    }

    /// The program databases of the programs that wrote the session (EventTraceEvent/DbgIdRSDS).
    #[must_use]
    pub fn pdbs(&self) -> &BTreeSet<ImagePdb> {
        &self.pdbs
    }

    /// Number of events with further GUIDs or program databases, which are not kept: more than 16,384.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds an event.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>) {
        match event.hook() {
            Some(hook) if hook == HOOK_ID::WMI_LOG_TYPE_DBGID_RSDS.0 => self.add_pdb(event),
            Some(_) => {}
            None if event.header_type() == HeaderType::Message => {
                if let Some(guid) = event.provider() {
                    self.left_out += u64::from(!put(&mut self.guids, guid));
                }
            }
            None if event.opcode() == Some(DBG_ID) => self.add_pdb(event),
            None => {}
        }
    }

    fn add_pdb(&mut self, event: &Event<'_>) {
        if let Some(pdb) = pdb(event) {
            self.left_out += u64::from(!put(&mut self.pdbs, pdb));
        }
    }
}

/// Adds a value. Returns whether it is kept.
fn put<T: Ord>(all: &mut BTreeSet<T>, value: T) -> bool {
    if all.len() < MAX {
        all.insert(value);
        return true;
    }
    all.contains(&value)
}

fn pdb(event: &Event<'_>) -> Option<ImagePdb> {
    let decoded = event.decode(Schemas::BUILT_IN)?;
    if (decoded.schema.provider, decoded.schema.event) != ("EventTraceEvent", "DbgIdRSDS") {
        return None;
    }
    Some(ImagePdb {
        name: decoded.get("PdbName")?.to_string(),
        guid: decoded.get("Guid")?.bytes.first_chunk().map(|bytes| Uuid::from_bytes_le(*bytes))?,
        age: decoded.get("Age")?.number()? as u32,
    })
}
