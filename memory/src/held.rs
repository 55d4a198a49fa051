//! Registrations of the kernel itself, which its variables hold beside the lists: what was taken out of all lists is still held.

use crate::address::Address;
use crate::finding::{Place, What};
use crate::memory::Memory;
use crate::provider::{Provider, Registration};
use crate::walk::Walk;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use etw_layouts::kernels::GLOBALS;
use etw_layouts::members::ETW_REG_ENTRY as REGISTRATION;
use etw_layouts::structures;

/// How the names of such variables end.
const HANDLE: &str = "RegHandle";

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The registrations that the kernel's own variables hold, such as `EtwThreatIntProvRegHandle`, with the name of each: those of
    /// [`GLOBALS`] whose addresses were given. In the kernel a handle of a registration is its address, as public research has it.
    pub fn held(&mut self) -> Vec<(&'static str, Registration)> {
        if self.kernel().layout(&structures::ETW_REG_ENTRY).is_none() {
            return Vec::new();
        }
        let mut held = Vec::new();
        for &name in GLOBALS.iter().filter(|name| name.ends_with(HANDLE)) {
            let Some(variable) = self.kernel().global(name) else { continue };
            let place = Place { structure: name, address: variable, member: "" };
            match self.pointer(variable) {
                // A provider that this kernel does not register.
                Some(Address::NULL) => {}
                Some(at) if self.is_kernel_address(at) && at.0.is_multiple_of(self.kernel().arch().pointer_size()) => {
                    held.extend(self.registration(at).map(|registration| (name, registration)));
                }
                Some(at) => self.find(place, What::Pointer(at)),
                None => self.find(place, What::Unreadable { wanted: self.kernel().arch().pointer_size(), read: 0 }),
            }
        }
        held
    }

    /// Holds what the kernel's variables hold against the lists of providers and registrations.
    pub(crate) fn compare_held(&mut self, providers: &[Provider]) {
        // Where no list was found at all, nothing is shown to be missing from one.
        if providers.is_empty() {
            return;
        }
        let by_address: BTreeMap<Address, &Provider> =
            providers.iter().map(|provider| (provider.entry.address(), provider)).collect();
        for (handle, registration) in self.held() {
            let at = registration.entry.address();
            let Some(provider) = registration.entry.unsigned(REGISTRATION::GUID_ENTRY) else { continue };
            let provider = self.kernel().address(provider);
            let place = match by_address.get(&provider) {
                None => Place { structure: "ETW_GUID_ENTRY", address: provider, member: "GuidList" },
                Some(provider) if provider.registrations.iter().any(|one| one.entry.address() == at) => continue,
                Some(_) => Place { structure: "ETW_REG_ENTRY", address: at, member: "RegList" },
            };
            self.find(place, What::Unlinked { handle });
        }
    }
}
