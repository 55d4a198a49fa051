//! A value of an event, as cells of tables and JSON have it.

use crate::line::Names;
use etw_layouts_etl::Uuid;
use etw_layouts_etl::text::Escaped;
use etw_layouts_etl::text::put;
use etw_layouts_etl::wire::{EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG};

/// A value of an event. JSON has numbers as numbers, all others as strings.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// The event has no such value: `null`, or an empty cell.
    Absent,
    Unsigned(u64),
    Signed(i64),
    /// A time in units of 100 ns since 1601, in the form of RFC 3339.
    Time(i64),
    Guid(Uuid),
    Keyword(u64),
    Address(u64),
    Flags(EVENT_HEADER_FLAG),
    /// The type of an extended data item.
    Item(EVENT_HEADER_EXT_TYPE),
    /// The number of an unknown header type.
    Header(u8),
    /// A text without characters to escape.
    Plain(&'a str),
    /// A text from a file.
    Text(&'a str),
    /// Two texts from a file, with a slash between them.
    Path(&'a str, &'a str),
}

impl<'a> Value<'a> {
    #[inline(always)]
    pub fn number(number: Option<impl Into<u64>>) -> Self {
        number.map_or(Self::Absent, |number| Self::Unsigned(number.into()))
    }

    #[inline(always)]
    pub fn guid(guid: Option<Uuid>) -> Self {
        guid.map_or(Self::Absent, Self::Guid)
    }

    /// An empty text is an absent value.
    #[inline(always)]
    pub fn plain(text: &'a str) -> Self {
        if text.is_empty() { Self::Absent } else { Self::Plain(text) }
    }

    #[inline(always)]
    pub fn text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }

    /// Whether the event has the value.
    pub fn is_present(self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// Writes a member of a JSON object. `key` is its name in quotes with the punctuation around it.
    #[inline(always)]
    pub fn member(self, key: &str, names: &mut Names, out: &mut Vec<u8>) {
        out.extend_from_slice(key.as_bytes());
        match self {
            Self::Absent => out.extend_from_slice(b"null"),
            Self::Unsigned(_) | Self::Signed(_) => self.cell(names, out),
            _ => {
                out.push(b'"');
                match self {
                    Self::Text(text) => put::json_part(out, text),
                    Self::Path(parent, name) => {
                        put::json_part(out, parent);
                        out.push(b'/');
                        put::json_part(out, name);
                    }
                    _ => self.cell(names, out),
                }
                out.push(b'"');
            }
        }
    }

    /// Writes the cell of a table.
    #[inline(always)]
    pub fn cell(self, names: &mut Names, out: &mut Vec<u8>) {
        match self {
            Self::Absent => {}
            Self::Unsigned(number) => put::number(out, number),
            Self::Signed(number) => put::number(out, number),
            Self::Time(time) => names.times.put(out, time, false),
            Self::Guid(guid) => put::guid(out, guid),
            // All digits: tools that use floating-point numbers would round a number in JSON.
            Self::Keyword(keyword) => put::shown(out, format_args!("{keyword:#018x}")),
            Self::Address(address) => put::hexadecimal(out, address),
            Self::Flags(flags) => out.extend_from_slice(names.flags(flags).as_bytes()),
            Self::Item(ty) => out.extend_from_slice(names.item(ty).as_bytes()),
            Self::Header(ty) => put::shown(out, format_args!("UNKNOWN_{ty:02X}")),
            Self::Plain(text) => out.extend_from_slice(text.as_bytes()),
            Self::Text(text) => put::shown(out, Escaped(text)),
            Self::Path(parent, name) => put::shown(out, format_args!("{}/{}", Escaped(parent), Escaped(name))),
        }
    }
}
