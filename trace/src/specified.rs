//! Events by their identification: those of the kernel, which the specs describe, and those of providers with manifests.

use crate::providers::KERNEL_PROCESS;
use etw_layouts::events::{Found, find, find_guid};
use etw_layouts_etl::payload::Fields;
use etw_layouts_etl::wire::EVENT_HEADER_FLAG;
use etw_layouts_etl::{Event, HeaderType, Uuid};

/// The schema of a kernel event, by its hook identifier, or by its GUID and event type.
#[inline]
pub(crate) fn kernel(event: &Event<'_>) -> Option<Found> {
    let version = u8::try_from(event.version()?).ok()?;
    match event.hook() {
        Some(hook) => find((hook >> 8) as u8, hook as u8, version),
        None if is_of_manifest(event) || event.header_type() == HeaderType::Message => None,
        None => find_guid(event.provider()?, event.opcode()?, version),
    }
}

/// What an event is: the GUID of its class and the event type, or the GUID of a provider with a manifest and the event ID. Kernel events that
/// have the GUID of their class in the header are equal to those with a hook identifier.
pub type EventKind = (Uuid, u16);

/// What an event is; `None` for WPP messages and for kernel events that the specs do not have.
#[must_use]
pub fn kind(event: &Event<'_>) -> Option<EventKind> {
    if let Some(hook) = event.hook() {
        return Some((find((hook >> 8) as u8, hook as u8, u8::MAX)?.class, hook & 0xFF));
    }
    if event.header_type() == HeaderType::Message {
        return None;
    }
    Some((event.provider()?, if is_of_manifest(event) { event.id()? } else { event.opcode()?.into() }))
}

/// Whether an event is identified by its event ID.
#[inline]
pub(crate) fn is_of_manifest(event: &Event<'_>) -> bool {
    event.flags().is_some_and(|flags| !flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_CLASSIC_HEADER))
}

/// The number in the first field that has one of the names.
pub(crate) fn number(fields: &Fields<'_>, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| fields.get(name))?.number()
}

/// The ID of an event of Microsoft-Windows-Kernel-Process.
#[inline]
pub(crate) fn kernel_process(event: &Event<'_>) -> Option<u16> {
    if is_of_manifest(event) && event.provider() == Some(KERNEL_PROCESS) { event.id() } else { None }
}
