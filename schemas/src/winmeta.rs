//! Names that every manifest can use without a definition, with the prefix `win:`. They are the levels, opcodes, tasks, keywords and
//! channels in winmeta.xml of the Windows SDK.

pub(crate) const LEVELS: &[(&str, u64)] =
    &[("LogAlways", 0), ("Critical", 1), ("Error", 2), ("Warning", 3), ("Informational", 4), ("Verbose", 5)];

pub(crate) const OPCODES: &[(&str, u64)] = &[
    ("Info", 0),
    ("Start", 1),
    ("Stop", 2),
    ("DC_Start", 3),
    ("DC_Stop", 4),
    ("Extension", 5),
    ("Reply", 6),
    ("Resume", 7),
    ("Suspend", 8),
    ("Send", 9),
    ("Receive", 0xF0),
];

pub(crate) const TASKS: &[(&str, u64)] = &[("None", 0)];

pub(crate) const KEYWORDS: &[(&str, u64)] = &[
    ("AnyKeyword", 0),
    ("ResponseTime", 1 << 48),
    ("WDIContext", 1 << 49),
    ("WDIDiag", 1 << 50),
    ("SQM", 1 << 51),
    ("AuditFailure", 1 << 52),
    ("AuditSuccess", 1 << 53),
    ("CorrelationHint", 1 << 54),
    ("EventlogClassic", 1 << 55),
];

/// Channels that providers import.
pub(crate) const CHANNELS: &[(&str, u64)] =
    &[("TraceClassic", 0), ("System", 8), ("Application", 9), ("Security", 10), ("TraceLogging", 11), ("ProviderMetadata", 12)];

/// The first number of channels that providers define.
pub(crate) const FIRST_CHANNEL: u32 = 16;

/// The value with a name that has the prefix.
pub(crate) fn value(table: &[(&str, u64)], name: &str) -> Option<u64> {
    let bare = name.strip_prefix("win:")?;
    let reserved = || {
        let (word, number) = bare.split_at(bare.find(|c: char| c.is_ascii_digit())?);
        let number: u32 = number.parse().ok()?;
        match word {
            "ReservedKeyword" => 1u64.checked_shl(number),
            "ReservedLevel" | "ReservedOpcode" => Some(number.into()),
            _ => None,
        }
    };
    table.iter().find(|(other, _)| *other == bare).map(|(_, value)| *value).or_else(reserved)
}
