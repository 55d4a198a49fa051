//! Registrations of the kernel itself, located through its global variables. This also finds registrations that were unlinked from
//! all lists.

use crate::address::Address;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::provider::{Provider, Registration};
use crate::walk::Walk;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use etw_layouts::members::ETW_REG_ENTRY as REGISTRATION;
use etw_layouts::structures;

/// Common suffix of the names of these variables.
const HANDLE: &str = "RegHandle";

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The registrations that kernel variables such as `EtwThreatIntProvRegHandle` refer to, with the names of the variables:
    /// those of [`globals`](crate::globals) with a known address. In the kernel, a registration handle is the address of the registration,
    /// according to public research.
    pub fn variable_registrations(&mut self) -> Vec<(&'static str, Registration)> {
        if self.kernel().layout(&structures::ETW_REG_ENTRY).is_none() {
            return Vec::new();
        }
        let mut registrations = Vec::new();
        for name in crate::globals().filter(|name| name.ends_with(HANDLE)) {
            let Some(variable) = self.kernel().global(name) else { continue };
            let place = MemberLocation { structure: name, address: variable, member: "" };
            match self.pointer(variable) {
                // This kernel does not register the provider.
                Some(Address::NULL) => {}
                Some(at) if self.is_kernel_address(at) && at.0.is_multiple_of(self.kernel().arch().pointer_size()) => {
                    registrations.extend(self.registration(at).map(|registration| (name, registration)));
                }
                Some(at) => self.report(place, FindingKind::Pointer(at)),
                None => self.report(place, FindingKind::Unreadable { requested: self.kernel().arch().pointer_size(), read: 0 }),
            }
        }
        registrations
    }

    /// Verifies the registrations of kernel variables against the lists of providers and registrations.
    pub(crate) fn compare_kernel_registrations(&mut self, providers: &[Provider]) {
        // If no list was found at all, missing entries cannot be detected.
        if providers.is_empty() {
            return;
        }
        let by_address: BTreeMap<Address, &Provider> =
            providers.iter().map(|provider| (provider.entry.address(), provider)).collect();
        for (handle, registration) in self.variable_registrations() {
            let at = registration.entry.address();
            let Some(provider) = registration.entry.unsigned(REGISTRATION::GUID_ENTRY) else { continue };
            let provider = self.kernel().address(provider);
            let place = match by_address.get(&provider) {
                None => MemberLocation { structure: "ETW_GUID_ENTRY", address: provider, member: "GuidList" },
                Some(provider) if provider.registrations.iter().any(|one| one.entry.address() == at) => continue,
                Some(_) => MemberLocation { structure: "ETW_REG_ENTRY", address: at, member: "RegList" },
            };
            self.report(place, FindingKind::Unlinked { handle });
        }
    }
}
