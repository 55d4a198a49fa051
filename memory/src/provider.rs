//! Providers: the hash table, the entry of each GUID, its registrations, and the sessions that enable it.

use crate::address::Address;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::object::Object;
use crate::walk::Walk;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;
use etw_layouts::constants::ETW_REG_ENTRY_FLAG;
use etw_layouts::members::{
    ETW_GUID_ENTRY as ENTRY, ETW_LAST_ENABLE_INFO as LAST, ETW_REG_ENTRY as REGISTRATION, LARGE_INTEGER,
    TRACE_ENABLE_INFO as ENABLE,
};
use etw_layouts::runtime::packed::{Layout, Type};
use etw_layouts::runtime::{Value, View};
use etw_layouts::structures;
use uuid::Uuid;

/// The kernel's entry for a GUID that was registered or enabled.
#[derive(Clone, Debug)]
pub struct Provider {
    /// The GUID.
    pub guid: Option<Uuid>,
    /// Kind of the GUID.
    pub kind: Kind,
    /// Hash table bucket that contains it. `None` before 6.2, which has no such table.
    pub bucket: Option<u32>,
    /// Registrations of the provider; for a group, those of its members.
    pub registrations: Vec<Registration>,
    /// Summary of the enable information of all sessions.
    pub enable_summary: Option<Enable>,
    /// Most recent change of the enable state. `None` if there was none, and in the first 6.0, which does not record it.
    pub last: Option<Last>,
    /// Enable information of each session.
    pub enabled: Vec<Enable>,
    /// Address of the security descriptor, which determines who may register and enable the provider.
    pub security: Option<Address>,
    /// The ETW_GUID_ENTRY structure.
    pub entry: Object<ENTRY::Type>,
}

/// Kind of a GUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A provider of events.
    Trace,
    /// A receiver of notifications.
    Notification,
    /// A group of providers.
    Group,
    /// Another kind, by its list index.
    Other(u32),
}

/// Enable information of a session for a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enable {
    /// Index within the provider's enable information: the bit in the mask of a registration.
    pub slot: u32,
    /// Number of the session.
    pub session: u64,
    /// Maximum level of requested events.
    pub level: u8,
    /// Additional data requested for each event: EVENT_ENABLE_PROPERTY_*.
    pub property: u32,
    /// Requested events must have at least one of these keywords.
    pub any: u64,
    /// Requested events must have all of these keywords.
    pub all: u64,
}

/// Most recent change of a provider's enable state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// Whether the provider was enabled.
    pub is_enabled: bool,
    /// Number of the session.
    pub session: u64,
    /// Requested level.
    pub level: u8,
    /// Flags of a classic provider, otherwise keywords.
    pub flags: u64,
}

/// A registration of a provider.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Creator of the registration.
    pub owner: Owner,
    /// Names of the set flags.
    pub flags: Vec<&'static str>,
    /// Mask of the slots of its provider that enable it.
    pub mask: Option<u64>,
    /// Mask of the slots of its group that enable it.
    pub group_mask: Option<u64>,
    /// Mask of the slots of the host that enable it, for a registration in a silo.
    pub host_mask: Option<u64>,
    /// Address of the entry of its group.
    pub group: Option<Address>,
    /// Address of its traits: [`Walk::traits`] reads them.
    pub traits: Option<Address>,
    /// The ETW_REG_ENTRY structure.
    pub entry: Object<REGISTRATION::Type>,
}

/// Creator of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A process, with the address of its EPROCESS.
    Process(Address),
    /// The kernel or a driver.
    Kernel {
        /// Routine called when the provider is enabled or disabled; null if there is none.
        callback: Address,
        /// Argument of the routine.
        context: Address,
    },
    /// Unknown because the flags could not be read: the process or the routine.
    Either(Address),
}

/// Heads of the lists of entries.
struct ListHead {
    at: Address,
    kind: u32,
    bucket: Option<u32>,
}

/// Number of buckets in the hash table, one for each value of six bits.
const BUCKETS: usize = 64;

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The providers of the host, bucket by bucket. Empty before 6.0, which has none.
    pub fn providers(&mut self) -> Vec<Provider> {
        if self.kernel().layout(&structures::ETW_GUID_ENTRY).is_none() {
            return Vec::new();
        }
        let host = self.host();
        self.providers_in(host.as_ref())
    }

    /// The providers of a silo. `state` is its ETW_SILODRIVERSTATE.
    pub fn providers_of(&mut self, state: &Object) -> Vec<Provider> {
        self.providers_in(Some(state))
    }

    fn providers_in(&mut self, state: Option<&Object>) -> Vec<Provider> {
        let mut providers = Vec::new();
        // An entry is in only one list. A second occurrence is a finding.
        let mut seen = BTreeSet::new();
        for head in self.heads(state) {
            let place = MemberLocation { structure: "ETW_HASH_BUCKET", address: head.at, member: "ListHead" };
            for link in self.double(place, head.at) {
                let layout = self.kernel().layout(&structures::ETW_GUID_ENTRY);
                let offset = layout.and_then(|layout| layout.find(ENTRY::GUID_LIST)).map_or(0, |member| member.offset);
                let Some(at) = link.minus(offset as u64) else { continue };
                if !seen.insert(at) {
                    self.report(place, FindingKind::Loop(at));
                    continue;
                }
                providers.extend(self.provider(&head, at));
            }
        }
        providers
    }

    /// The heads of all lists of entries: those of a silo's hash table, those of the global hash table, or the two lists before 6.2.
    fn heads(&mut self, state: Option<&Object>) -> Vec<ListHead> {
        let in_state = state.and_then(|state| {
            let member = state.layout().member("EtwpGuidHashTable")?;
            Some((state.address().plus(member.offset as u64)?, element(member.ty)?, member.size))
        });
        let global = self.kernel().global("EtwpGuidHashTable");
        let bucket = self.kernel().named("ETW_HASH_BUCKET");
        let table = in_state.or_else(|| bucket.zip(global).map(|(bucket, at)| (at, bucket, bucket.size * BUCKETS)));
        match table {
            Some((at, bucket, size)) => {
                let count = (size / bucket.size.max(1)).min(self.limits().entries) as u32;
                let all = (0..count).map(|number| (number, at.plus(u64::from(number) * bucket.size as u64)));
                all.filter_map(|(number, at)| Some(heads_of(number, at?, bucket))).flatten().collect()
            }
            None if global.is_some() => {
                let place = MemberLocation { structure: "ETW_HASH_BUCKET", address: global.unwrap_or_default(), member: "" };
                self.report(place, FindingKind::NoLayout);
                Vec::new()
            }
            None => self.two_lists(),
        }
    }

    /// The heads before 6.2, one for each kind of GUID at that time.
    fn two_lists(&mut self) -> Vec<ListHead> {
        let Some(at) = self.kernel().global("EtwpGuidListHead") else {
            let place = MemberLocation { structure: "ETW_GUID_ENTRY", address: Address::NULL, member: "" };
            self.report(place, FindingKind::NoGlobal("PspHostSiloGlobals, EtwpGuidHashTable or EtwpGuidListHead"));
            return Vec::new();
        };
        let size = self.kernel().layout(&structures::LIST_ENTRY).map_or(0, |layout| layout.size as u64);
        let head = |kind| Some(ListHead { at: at.plus(u64::from(kind) * size)?, kind, bucket: None });
        [0, 1].into_iter().filter_map(head).collect()
    }

    /// The entry at an address.
    fn provider(&mut self, head: &ListHead, at: Address) -> Option<Provider> {
        let entry = self.object(&structures::ETW_GUID_ENTRY, at)?;
        let kind = match head.kind {
            0 => Kind::Trace,
            1 => Kind::Notification,
            2 => Kind::Group,
            other => Kind::Other(other),
        };
        let link = if kind == Kind::Group { REGISTRATION::GROUP_REG_LIST } else { REGISTRATION::REG_LIST };
        let registrations = self.list(&entry, ENTRY::REG_LIST_HEAD, &structures::ETW_REG_ENTRY, link);
        let registrations = registrations.into_iter().filter_map(|at| self.registration(at)).collect();
        let slots = entry.get(ENTRY::ENABLE_INFO);
        let slots = slots.into_iter().flat_map(|slots| slots.elements()).zip(0..);
        let security = entry.unsigned(ENTRY::SECURITY_DESCRIPTOR).map(|at| self.kernel().address(at));
        Some(Provider {
            guid: entry.member("Guid").and_then(|guid| Uuid::from_slice_le(guid.bytes()).ok()),
            kind,
            bucket: head.bucket,
            registrations,
            enable_summary: entry.member("ProviderEnableInfo").and_then(|value| enable(value, 0)),
            last: entry.get(ENTRY::LAST_ENABLE).and_then(last),
            enabled: slots.filter_map(|(value, slot)| enable(value, slot)).collect(),
            security: security.filter(|at| !at.is_null()),
            entry,
        })
    }

    /// The registration at an address.
    pub(crate) fn registration(&mut self, at: Address) -> Option<Registration> {
        let entry = self.object(&structures::ETW_REG_ENTRY, at)?;
        let pointer = |token| entry.unsigned(token).map(|value| self.kernel().address(value));
        let [process, callback] = [pointer(REGISTRATION::PROCESS)?, pointer(REGISTRATION::CALLBACK)?];
        let owner = match is_of_kernel(&entry) {
            Some(true) => Owner::Kernel { callback, context: pointer(REGISTRATION::CALLBACK_CONTEXT).unwrap_or_default() },
            Some(false) => Owner::Process(process),
            None => Owner::Either(process),
        };
        let set = |token| pointer(token).filter(|at| !at.is_null());
        Some(Registration {
            owner,
            flags: entry.set_bits(REGISTRATION::FLAGS),
            mask: entry.unsigned(REGISTRATION::ENABLE_MASK),
            group_mask: entry.unsigned(REGISTRATION::GROUP_ENABLE_MASK),
            host_mask: entry.unsigned(REGISTRATION::HOST_ENABLE_MASK),
            group: set(REGISTRATION::GROUP_ENTRY),
            traits: set(REGISTRATION::TRAITS),
            entry,
        })
    }

    /// The states of other silos, each an ETW_SILODRIVERSTATE. They are found through providers of the host that also exist in these
    /// silos.
    pub fn silos(&mut self, providers: &[Provider]) -> Vec<Object> {
        let Some(layout) = self.kernel().named("ETW_SILODRIVERSTATE") else { return Vec::new() };
        let mut states = BTreeSet::new();
        for provider in providers {
            let host = provider.entry.unsigned(ENTRY::SILO_STATE);
            for at in self.list(&provider.entry, ENTRY::SILO_GUID_LIST, &structures::ETW_GUID_ENTRY, ENTRY::SILO_GUID_LIST) {
                let state = self.object(&structures::ETW_GUID_ENTRY, at).and_then(|entry| entry.unsigned(ENTRY::SILO_STATE));
                states.extend(state.filter(|state| *state != 0 && Some(*state) != host));
            }
        }
        states.into_iter().filter_map(|at| self.object_of(layout, self.kernel().address(at))).collect()
    }
}

/// The layout of an array's elements.
fn element(ty: Type<'static>) -> Option<Layout<'static>> {
    let Type::Array(element) = ty else { return None };
    if let Type::Layout(layout) = element.ty() { Some(layout) } else { None }
}

/// The exclusive or of the four 32-bit words of a GUID in memory. Its lowest bits select the bucket of the hash table.
pub fn guid_hash(guid: Uuid) -> u32 {
    let bytes = guid.to_bytes_le();
    bytes.chunks_exact(4).fold(0, |hash, word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]) ^ hash)
}

/// The heads in a bucket, one for each kind.
fn heads_of(number: u32, at: Address, bucket: Layout<'static>) -> Vec<ListHead> {
    let Some((lists, size)) = bucket.member("ListHead").and_then(|lists| match lists.ty {
        Type::Array(element) => Some((lists, element.size.max(1))),
        _ => None,
    }) else {
        return Vec::new();
    };
    let head = |kind: u32| {
        let at = at.plus(lists.offset as u64 + u64::from(kind) * size as u64)?;
        Some(ListHead { at, kind, bucket: Some(number) })
    };
    (0..(lists.size / size) as u32).filter_map(head).collect()
}

/// Whether a registration was made in the kernel: a bit field since 6.2, a flag before.
fn is_of_kernel(entry: &Object<REGISTRATION::Type>) -> Option<bool> {
    let bit = entry.unsigned(REGISTRATION::DBG_KERNEL_REGISTRATION).map(|bit| bit != 0);
    let flag = || entry.unsigned(REGISTRATION::FLAGS).map(|flags| ETW_REG_ENTRY_FLAG(flags as u16));
    bit.or_else(|| Some(flag()?.contains(ETW_REG_ENTRY_FLAG::DbgKernelRegistration)))
}

/// The most recent change. `None` if the provider was never enabled: the structure is then all zero, unlike any request of a session.
fn last(info: View<'_, LAST::Type>) -> Option<Last> {
    let flags = info.get(LAST::ENABLE_FLAGS)?.unsigned(LARGE_INTEGER::QUAD_PART)?;
    let [session, level, enabled] = [info.unsigned(LAST::LOGGER_ID)?, info.unsigned(LAST::LEVEL)?, info.unsigned(LAST::ENABLED)?];
    let last = Last { is_enabled: enabled != 0, session, level: level as u8, flags };
    (last != Last { is_enabled: false, session: 0, level: 0, flags: 0 }).then_some(last)
}

/// The enable information of a slot in use.
fn enable(value: Value<'_>, slot: u32) -> Option<Enable> {
    let info: View<'_, ENABLE::Type> = value.view()?.of()?;
    let used = info.unsigned(ENABLE::IS_ENABLED).is_some_and(|enabled| enabled != 0);
    used.then_some(Enable {
        slot,
        session: info.unsigned(ENABLE::LOGGER_ID)?,
        level: info.unsigned(ENABLE::LEVEL)? as u8,
        property: info.unsigned(ENABLE::ENABLE_PROPERTY)? as u32,
        any: info.unsigned(ENABLE::MATCH_ANY_KEYWORD)?,
        all: info.unsigned(ENABLE::MATCH_ALL_KEYWORD)?,
    })
}

impl fmt::Display for Provider {
    /// GUID, kind, and number of registrations and sessions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.guid {
            Some(guid) => write!(f, "{guid}")?,
            None => f.write_str("?")?,
        }
        write!(f, "  {:?}, {} registrations, enabled by {}", self.kind, self.registrations.len(), self.enabled.len())
    }
}
