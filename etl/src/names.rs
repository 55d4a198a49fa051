//! What the documents name: hook identifiers, their groups, and opcodes.

use crate::guid::Guid;
use crate::header_type::HeaderType;
use crate::wire::{EVENT_TRACE_GROUP, EVENT_TRACE_TYPE, HOOK_ID};
use etw_layouts::runtime::meta::Named;
use std::sync::LazyLock;

/// The name of a hook identifier, such as `WMI_LOG_TYPE_PROCESS_DC_START` of 0x0303.
pub fn hook(id: u16) -> Option<&'static str> {
    type Group = Option<Box<[Option<&'static str>; 256]>>;
    // By group. Of one value the first name, as they are declared.
    static NAMES: LazyLock<[Group; 256]> = LazyLock::new(|| {
        let mut groups = [const { None }; 256];
        for (name, value) in HOOK_ID::VALUES.constants.iter().rev() {
            if let Ok([at, group]) = u16::try_from(*value).map(u16::to_le_bytes) {
                groups[usize::from(group)].get_or_insert_with(|| Box::new([None; 256]))[usize::from(at)] = Some(*name);
            }
        }
        groups
    });
    let [at, group] = id.to_le_bytes();
    NAMES[usize::from(group)].as_ref()?[usize::from(at)]
}

/// The hook identifier of a name.
pub fn hook_named(name: &str) -> Option<u16> {
    let (_, value) = HOOK_ID::VALUES.constants.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    u16::try_from(*value).ok()
}

/// The name of a provider: of a GUID that stands for a group of kernel events, the group, such as `EVENT_TRACE_GROUP_PROCESS`.
pub fn provider(guid: Guid) -> Option<&'static str> {
    static NAMES: LazyLock<Vec<(Guid, &'static str)>> = LazyLock::new(|| {
        let mut names: Vec<_> = groups().map(|(name, guid)| (guid, name)).collect();
        // Those of one GUID stay as they are declared.
        names.sort_by_key(|(guid, _)| *guid);
        names
    });
    let at = NAMES.partition_point(|(own, _)| *own < guid);
    NAMES.get(at).filter(|(own, _)| *own == guid).map(|(_, name)| *name)
}

/// The provider of a name: of a group, with or without `EVENT_TRACE_GROUP_`.
pub fn provider_named(name: &str) -> Option<Guid> {
    let is =
        |own: &str| own.eq_ignore_ascii_case(name) || own.strip_prefix(GROUP).is_some_and(|own| own.eq_ignore_ascii_case(name));
    groups().find(|(own, _)| is(own)).map(|(_, guid)| guid)
}

/// The name of an opcode that means the same for all providers, such as `START`: that of EVENT_TRACE_TYPE without what all of these
/// names begin with.
pub fn opcode(header_type: HeaderType, opcode: u8) -> Option<&'static str> {
    // Registered providers came with the later of two names.
    static NAMES: LazyLock<[[Option<&'static str>; 256]; 2]> =
        LazyLock::new(|| [false, true].map(|is_later| std::array::from_fn(|opcode| opcode_of(opcode as u8, is_later))));
    let is_later = matches!(header_type, HeaderType::Event32 | HeaderType::Event64);
    NAMES[usize::from(is_later)][usize::from(opcode)]
}

fn opcode_of(opcode: u8, is_later: bool) -> Option<&'static str> {
    // The others belong to a group each, or to a provider.
    if !(..0x0A).contains(&opcode) && opcode != EVENT_TRACE_TYPE::EVENT_TRACE_TYPE_WINEVT_RECEIVE.0 {
        return None;
    }
    let mut names = EVENT_TRACE_TYPE::VALUES.constants.iter().filter(|(_, value)| *value == opcode.into());
    let (name, _) = if is_later { names.next_back() } else { names.next() }?;
    name.strip_prefix("EVENT_TRACE_TYPE_")
}

const GROUP: &str = "EVENT_TRACE_GROUP_";

/// The groups that consumers see as providers.
fn groups() -> impl Iterator<Item = (&'static str, Guid)> {
    let constants = EVENT_TRACE_GROUP::VALUES.constants.iter();
    constants.filter_map(|(name, value)| Some((*name, Guid(EVENT_TRACE_GROUP(u16::try_from(*value).ok()?).guid()?))))
}
