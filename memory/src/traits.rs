//! Traits that providers register, each an ETW_PROVIDER_TRAITS.

use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::provider::Registration;
use crate::walk::Walk;
use alloc::string::{String, ToString};
use alloc::vec;
use etw_layouts::members::ETW_PROVIDER_TRAITS as TRAITS;
use etw_layouts::structures;
use etw_layouts_payload::tracelogging;
use uuid::Uuid;

/// The traits of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Name of the provider.
    pub name: String,
    /// Group of the provider.
    pub group: Option<Uuid>,
}

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// Reads the traits of a registration's provider. `None` if it has none, or they are malformed, which adds a finding. Kernels
    /// before 6.1.7601.24000 and 6.3.9600.19913 store none.
    pub fn traits(&mut self, registration: &Registration) -> Option<Traits> {
        let at = registration.traits?;
        let layout = self.kernel().layout(&structures::ETW_PROVIDER_TRAITS)?;
        let start = at.plus(layout.find(TRAITS::TRAITS)?.offset as u64)?;
        let place = MemberLocation { structure: layout.name, address: at, member: TRAITS::TRAITS.name() };
        // Traits begin with their size in bytes.
        let Some(size) = self.integer(start, 2) else {
            self.report(place, FindingKind::Unreadable { requested: 2, read: 0 });
            return None;
        };
        let mut bytes = vec![0; size as usize];
        if let Some(hole) = self.read(start, &mut bytes).first() {
            self.report(place, FindingKind::Unreadable { requested: size, read: hole.start as u64 });
            return None;
        }
        match tracelogging::Traits::read(&bytes) {
            Ok(traits) => Some(Traits { name: traits.name.into(), group: traits.group }),
            Err(fault) => {
                self.report(place, FindingKind::Traits(fault.to_string()));
                None
            }
        }
    }
}
