//! An event, as it is printed.

use etw_layouts_etl::wire::EVENT_HEADER_FLAG;
use etw_layouts_etl::{Buffer, Clock, Event, Guid, HeaderType, Stamp, names};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Display};

/// What an event's buffer tells of it.
#[derive(Clone, Copy)]
pub struct Origin {
    pub buffer: u32,
    pub offset: u64,
    pub processor: u16,
}

impl Origin {
    pub fn of(buffer: &Buffer<'_>) -> Self {
        Self { buffer: buffer.index(), offset: buffer.offset(), processor: buffer.head().processor() }
    }
}

/// An event, and its document in JSON.
#[derive(Serialize)]
pub struct Line<'a> {
    pub file: &'a str,
    pub buffer: u32,
    pub buffer_offset: u64,
    pub offset: u32,
    pub time: Option<i64>,
    #[serde(serialize_with = "utc")]
    time_utc: Option<i64>,
    pub cpu: u16,
    pub pid: Option<u32>,
    pub tid: Option<u32>,
    pub header: Cow<'static, str>,
    #[serde(serialize_with = "shown")]
    pub provider: Option<Guid>,
    /// Of a provider that stands for a group of kernel events, the group.
    pub provider_name: Option<&'static str>,
    pub id: Option<u16>,
    /// Of a hook identifier.
    pub id_name: Option<&'static str>,
    pub version: Option<u16>,
    pub opcode: Option<u8>,
    /// Of an opcode that means the same for all providers.
    pub opcode_name: Option<&'static str>,
    pub level: Option<u8>,
    #[serde(serialize_with = "hexadecimal")]
    pub keyword: Option<u64>,
    pub task: Option<u16>,
    pub channel: Option<u8>,
    pub flags: Option<u16>,
    pub flags_names: Option<String>,
    #[serde(serialize_with = "shown")]
    pub activity_id: Option<Guid>,
    #[serde(serialize_with = "shown")]
    pub related_id: Option<Guid>,
    pub items: Vec<Item>,
    pub size: usize,
    pub payload_size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// Whether it is a kernel event.
    #[serde(skip)]
    pub is_hooked: bool,
}

/// An extended item.
#[derive(Serialize)]
pub struct Item {
    #[serde(rename = "type")]
    pub ty: u16,
    pub name: String,
    pub size: usize,
    pub data: String,
}

/// The name of an event's header type.
pub fn header(event: &Event<'_>) -> Cow<'static, str> {
    match event.header_type() {
        HeaderType::Unknown => format!("UNKNOWN_{:02X}", event.bytes().get(2).copied().unwrap_or_default()).into(),
        header_type => header_type.name().into(),
    }
}

impl<'a> Line<'a> {
    pub fn new(file: &'a str, event: &Event<'_>, origin: Origin, clock: &Clock, payload: bool) -> Self {
        let (header_type, header) = (event.header_type(), header(event));
        let time = event.time_stamp().map(|stamp| clock.system_time(stamp));
        let (provider, opcode, hook, flags) = (event.provider(), event.opcode(), event.hook(), event.flags());
        Self {
            file,
            buffer: origin.buffer,
            buffer_offset: origin.offset,
            offset: event.offset(),
            time,
            time_utc: time,
            cpu: origin.processor,
            pid: event.process(),
            tid: event.thread(),
            header,
            provider,
            provider_name: provider.and_then(names::provider),
            id: event.id(),
            id_name: hook.and_then(names::hook),
            version: event.version(),
            opcode,
            opcode_name: opcode.and_then(|opcode| names::opcode(header_type, opcode)),
            level: event.level(),
            keyword: event.keyword(),
            task: event.task(),
            channel: event.channel(),
            flags: flags.map(|flags| flags.0),
            flags_names: flags.map(flag_names),
            // An activity of zeroes is none.
            activity_id: event.activity_id().filter(|activity| activity.0 != 0),
            related_id: event.related_activity_id(),
            items: event.items().map(Item::of).collect(),
            size: event.bytes().len(),
            payload_size: event.payload().len(),
            payload: payload.then(|| hex(event.payload())),
            is_hooked: hook.is_some(),
        }
    }
}

impl Item {
    fn of(item: etw_layouts_etl::Item<'_>) -> Self {
        let name = format!("{:?}", item.ty);
        let name = name.strip_prefix("EVENT_HEADER_EXT_TYPE_").map_or(name.as_str(), |name| name).to_owned();
        Self { ty: item.ty.0, name, size: item.data.len(), data: hex(item.data) }
    }
}

/// The names of flags without what all of them begin with; no text for none.
fn flag_names(flags: EVENT_HEADER_FLAG) -> String {
    match flags.0 {
        0 => String::new(),
        _ => format!("{flags:?}").replace("EVENT_HEADER_FLAG_", ""),
    }
}

fn shown<S: Serializer>(value: &Option<impl Display>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

fn utc<S: Serializer>(time: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    shown(&time.map(|time| Stamp(time).rfc3339()), serializer)
}

/// Of numbers that are bits: as numbers, those beyond 2^53 would lose some where they become floating point.
fn hexadecimal<S: Serializer>(value: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    shown(&value.map(|value| fmt::from_fn(move |f| write!(f, "{value:#x}"))), serializer)
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}
