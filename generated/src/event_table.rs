//! Finds the schema of an event by its hook or by its GUID.

use crate::events::{EVENTS, PROVIDERS};
use crate::who::Who;
use etw_layouts_payload::{Field, Schema};
use etw_layouts_runtime::Uuid;

/// A schema, and whether it is of the very version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// GUID of the event class.
    pub class: Uuid,
    /// The schema.
    pub schema: &'static Schema<'static>,
    /// Whether it is of the version asked for. Otherwise it is of the last known version before: later versions of an event usually append
    /// fields.
    pub is_exact: bool,
    /// Who did the event, and whom it is about.
    pub who: &'static Who,
}

/// The schema of a kernel event by its hook: the group (high byte), the event type (low byte), and the version of the event. Takes one
/// load from a table.
///
/// Returns `None` if the specs have no such event, or only later versions of it.
#[inline]
pub fn find(group: u8, ty: u8, version: u8) -> Option<Found> {
    let place = *PLACES.get(usize::from(group))?.get(usize::from(ty))?;
    EVENTS.get(usize::from(place))?.version(version)
}

/// Places in `EVENTS` by group and event type; none where there is no event.
static PLACES: [[u16; 256]; GROUPS] = places();

/// No group of a hook is as large.
const GROUPS: usize = 0x40;

const fn places() -> [[u16; 256]; GROUPS] {
    let mut places = [[u16::MAX; 256]; GROUPS];
    let mut place = 0;
    while place < EVENTS.len() {
        if let Event { group: Some(group), ty, .. } = EVENTS[place] {
            places[group as usize][ty as usize] = place as u16;
        }
        place += 1;
    }
    places
}

/// The schema of a kernel event by the GUID of its provider, the event type (opcode), and the version of the event.
///
/// Returns `None` if the specs have no such event, or only later versions of it.
pub fn find_guid(guid: Uuid, ty: u8, version: u8) -> Option<Found> {
    let at = EVENTS.binary_search_by_key(&(guid, ty), |event| (event.guid, event.ty)).ok()?;
    EVENTS.get(at)?.version(version)
}

/// Who did an event of a provider with a manifest, and whom it is about, by the GUID of the provider, the event ID and the version. The fields
/// are found by name in the schema of the event. `None` if the specs state nothing: the process and the thread in the header did it.
pub fn who(provider: Uuid, id: u16, version: u8) -> Option<&'static Who> {
    let provider = provider.as_u128();
    let after = PROVIDERS.partition_point(|(of, own, first, _)| (*of, *own, *first) <= (provider, id, version));
    let (of, own, _, who) = PROVIDERS.get(after.checked_sub(1)?)?;
    (*of == provider && *own == id).then_some(who)
}

/// All schemas, each with the GUID of its provider, the group in the hook if it has one, and the event type.
pub fn all() -> impl Iterator<Item = (Uuid, Option<u8>, u8, &'static Schema<'static>)> {
    EVENTS.iter().flat_map(|event| event.schemas.iter().map(|schema| (event.guid, event.group, event.ty, schema)))
}

/// An event type in all its versions.
pub(crate) struct Event {
    guid: Uuid,
    group: Option<u8>,
    ty: u8,
    /// In the order of versions.
    schemas: &'static [Schema<'static>],
    /// Of each schema; empty if none states anything.
    who: &'static [Who],
}

impl Event {
    pub(crate) const fn new(guid: u128, group: Option<u8>, ty: u8, schemas: &'static [Schema<'static>]) -> Self {
        Self { guid: Uuid::from_u128(guid), group, ty, schemas, who: &[] }
    }

    pub(crate) const fn who(self, who: &'static [Who]) -> Self {
        Self { who, ..self }
    }

    /// The event type of a class.
    pub(crate) const fn of(guid: u128, ty: u8) -> &'static Self {
        let (mut first, mut end) = (0, EVENTS.len());
        while first < end {
            let middle = usize::midpoint(first, end);
            let event = &EVENTS[middle];
            match event.guid.as_u128() {
                own if own == guid && event.ty == ty => return event,
                own if own < guid || own == guid && event.ty < ty => first = middle + 1,
                _ => end = middle,
            }
        }
        panic!("no event of this class and type")
    }

    pub(crate) const fn schemas(&self) -> &'static [Schema<'static>] {
        self.schemas
    }

    /// The hook identifier, if the class has a group.
    pub(crate) const fn hook(&self) -> Option<u16> {
        match self.group {
            Some(group) => Some((group as u16) << 8 | self.ty as u16),
            None => None,
        }
    }

    /// The schema of a version, or of the last one before.
    #[inline]
    fn version(&self, version: u8) -> Option<Found> {
        let at = self.schemas.iter().rposition(|schema| schema.version <= version)?;
        let schema = self.schemas.get(at)?;
        Some(Found { class: self.guid, schema, is_exact: schema.version == version, who: self.who.get(at).unwrap_or(&Who::NONE) })
    }
}

/// The first fields of a list.
pub(crate) const fn first(fields: &'static [Field<'static>], count: usize) -> &'static [Field<'static>] {
    fields.split_at(count).0
}
