//! A walk of all sessions, providers and consumers, with consistency checks.

use crate::address::Address;
use crate::consumer::Consumer;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::provider::{Kind, Owner, Provider, Registration, guid_hash};
use crate::session::Session;
use crate::walk::Walk;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use etw_layouts::members::ETW_REG_ENTRY as REGISTRATION;

/// Sessions, providers and consumers of the host.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// The sessions, by number.
    pub sessions: Vec<Session>,
    /// The providers, bucket by bucket.
    pub providers: Vec<Provider>,
    /// The consumers of each session, in the order of the sessions.
    pub consumers: Vec<Consumer>,
}

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// Walks sessions, providers and consumers, and compares them with each other; inconsistencies become findings.
    pub fn census(&mut self) -> Census {
        self.published_offsets();
        let sessions = self.sessions();
        let providers = self.providers();
        let consumers = sessions.iter().flat_map(|session| self.consumers(session)).collect();
        self.compare(&sessions, &providers);
        self.compare_kernel_registrations(&providers);
        Census { sessions, providers, consumers }
    }

    /// Verifies providers against sessions, registrations against the lists of providers and groups, and routines against
    /// modules. Sessions and providers have to be those of the same silo.
    pub fn compare(&mut self, sessions: &[Session], providers: &[Provider]) {
        let numbers: BTreeSet<u64> = sessions.iter().map(|session| session.number.into()).collect();
        let by_address: BTreeMap<Address, &Provider> =
            providers.iter().map(|provider| (provider.entry.address(), provider)).collect();
        let of = |provider: &Provider| {
            let own = provider.entry.address();
            let listed = provider.registrations.iter().map(|registration| (own, registration.entry.address()));
            listed.collect::<Vec<_>>()
        };
        let index = Index { by_address, listed: providers.iter().flat_map(of).collect() };
        for provider in providers {
            self.compare_provider(provider, &numbers);
            for registration in &provider.registrations {
                self.compare_registration(provider, registration, &index);
            }
        }
    }

    fn compare_provider(&mut self, provider: &Provider, sessions: &BTreeSet<u64>) {
        let place = |member| MemberLocation { structure: "ETW_GUID_ENTRY", address: provider.entry.address(), member };
        for enable in provider.enabled.iter().filter(|enable| !sessions.contains(&enable.session)) {
            self.report(place("EnableInfo"), FindingKind::NoSession { slot: enable.slot, session: enable.session });
        }
        let sum = provider.entry.member("ProviderEnableInfo");
        if let (Some(_), None, Some(enable)) = (sum, provider.enable_summary, provider.enabled.first()) {
            self.report(place("ProviderEnableInfo"), FindingKind::Disabled { slot: enable.slot });
        }
        if let (Some(guid), Some(found)) = (provider.guid, provider.bucket) {
            let expected = guid_hash(guid) & LOW_BITS;
            if expected != found {
                self.report(place("Guid"), FindingKind::Bucket { expected, found });
            }
        }
    }

    fn compare_registration(&mut self, list: &Provider, registration: &Registration, index: &Index<'_>) {
        let at = registration.entry.address();
        let place = |member| MemberLocation { structure: "ETW_REG_ENTRY", address: at, member };
        let own = list.entry.address();
        let providers = &index.by_address;
        let is_in = |provider: &&Provider| index.listed.contains(&(provider.entry.address(), at));
        let provider = registration.entry.unsigned(REGISTRATION::GUID_ENTRY).map(|at| self.kernel().address(at));
        if list.kind == Kind::Group {
            // The registration is in the list of a group. Verify the list of its provider.
            if let Some(found) = registration.group.filter(|group| *group != own) {
                self.report(place("GroupEntry"), FindingKind::Provider { expected: own, found });
            }
            let provider = provider.and_then(|provider| providers.get(&provider)).filter(|provider| !is_in(provider));
            if let Some(provider) = provider {
                self.report(place("RegList"), FindingKind::NotInProvider { provider: provider.entry.address() });
            }
            return;
        }
        if let Some(found) = provider.filter(|provider| *provider != own) {
            self.report(place("GuidEntry"), FindingKind::Provider { expected: own, found });
        }
        let group = registration.group.and_then(|group| providers.get(&group)).copied();
        if let Some(group) = group.filter(|group| !is_in(group)) {
            self.report(place("GroupRegList"), FindingKind::NotInGroup { group: group.entry.address() });
        }
        if let Owner::Kernel { callback, .. } = registration.owner
            && !callback.is_null()
            && self.kernel().is_outside(callback)
        {
            self.report(place("Callback"), FindingKind::Callback(callback));
        }
        let masks = [("EnableMask", registration.mask, Some(list)), ("GroupEnableMask", registration.group_mask, group)];
        for (member, mask, provider) in masks {
            // The group was not found, so nothing can be verified.
            if provider.is_none() && registration.group.is_some() {
                continue;
            }
            let alone = mask.unwrap_or(0) & !provider.map_or(0, slots);
            if alone != 0 {
                self.report(place(member), FindingKind::Mask { slot: alone.trailing_zeros() });
            }
        }
    }
}

/// Lookup tables of providers and registrations.
struct Index<'a> {
    by_address: BTreeMap<Address, &'a Provider>,
    /// Each registration in a provider's list, with the address of the provider.
    listed: BTreeSet<(Address, Address)>,
}

/// The slots that enable a provider, as a bit mask.
fn slots(provider: &Provider) -> u64 {
    provider.enabled.iter().fold(0, |mask, enable| mask | 1_u64.checked_shl(enable.slot).unwrap_or(0))
}

/// Mask of the bits of a GUID's hash that select a bucket.
const LOW_BITS: u32 = 0x3F;
