//! The options that select events.

mod pattern;
mod similar;

use crate::Error;
use crate::Refusals;
use crate::schemas::SchemaOptions;
use etw_layouts_etl::{FileTime, Filter, Schemas, Uuid, names};
use etw_layouts_trace::{Session, Trace, TraceFile};
use pattern::Pattern;
use serde::{Serialize, Serializer};
use similar::{is_known, similar, similar_event};
use std::num::IntErrorKind;
use std::str::FromStr;

/// Select events by their headers and values. The same option given twice: either value matches. Different options: all must match. An event
/// without the value does not match.
#[derive(Debug, clap::Args, Serialize)]
#[command(next_help_heading = "Event selection")]
pub struct Wanted {
    /// Match this provider: a GUID; a class of kernel events and its whole group, such as Process; a group, such as
    /// EVENT_TRACE_GROUP_PROCESS or "group 0x03"; or the name of a provider in events or schemas, such as
    /// Microsoft-Windows-Kernel-Process. The same option given twice: either value matches. Different options: all must match.
    #[arg(long, value_name = "GUID|GROUP|NAME", value_parser = provider)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    provider: Vec<Provider>,
    /// Match events with this name, such as Process/Start or PROVIDER/TASK/OPCODE, or with this ID, such as PROVIDER/5. To match all
    /// events of a class or provider, use its name, or a form such as Process/*.
    #[arg(long, value_name = "NAME", value_parser = event)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    event: Vec<String>,
    /// Match this event ID. For a kernel event, this is the hook ID (group and type, such as 0x0301) or its name; for a WPP message,
    /// it is the message number.
    #[arg(long, value_name = "ID|HOOK", value_parser = id)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    id: Vec<u16>,
    /// Match this opcode: a number, a name such as START, END or STOP, or a name in the schemas.
    #[arg(long, value_name = "N|NAME", value_parser = opcode)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    opcode: Vec<Opcode>,
    /// Match this level: a number, or critical (1), error (2), warning (3), information (4) or verbose (5).
    #[arg(long, value_name = "N|NAME", value_parser = level)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    level: Vec<u8>,
    /// Match events with at least one bit of MASK in their keyword, or with the keyword NAME in their schema. A MASK of 0 matches a
    /// keyword of 0.
    #[arg(long, value_name = "MASK|NAME", value_parser = keyword)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keyword: Vec<Keyword>,
    /// Match events that this process caused or that are about it (columns process and subject). The columns process_by and
    /// subject_by show the source.
    #[arg(long, value_name = "N", value_parser = number::<u32>)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    process: Vec<u32>,
    /// Match events with this number in the column thread or header_thread, and events that are about this thread.
    #[arg(long, value_name = "N", value_parser = number::<u32>)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    thread: Vec<u32>,
    /// Match this processor number.
    #[arg(long, value_name = "N", value_parser = number::<u16>)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    processor: Vec<u16>,
    /// Match events at or after this time. Accepts a UTC time (2020-07-29T07:06:19.798), or one with its difference to UTC
    /// (2020-07-29T00:06:19-07:00); a time of day (07:06:19.8) within the 24 hours that begin one hour before the trace; seconds from the start of the trace (1.5); or units of 100 ns since
    /// 1601 with at least 16 digits (132404799797984230).
    #[arg(long, value_name = "TIME|SECONDS", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Time>,
    /// Match events at or before this time; accepts the same forms as --from.
    #[arg(long, value_name = "TIME|SECONDS", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Time>,
    /// Match events with a value that contains TEXT, ignoring case. Values are compared as they are displayed, without quotes and escapes: texts, numbers, times,
    /// addresses, and names of values, but not names of fields. Bytes that are not decoded or have no type, such as a payload
    /// without a schema, are searched as single-byte text and as UTF-16.
    #[arg(long, value_name = "TEXT", value_parser = Pattern::text)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contains: Vec<Pattern>,
    /// Match events with a value that matches REGEX; see --contains for the values. Case matters, unless REGEX begins with `(?i)`. The
    /// syntax is that of the Rust crate regex.
    #[arg(long, value_name = "REGEX", value_parser = Pattern::regex)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    matches: Vec<Pattern>,
    // Last, because its heading also applies to the options after it.
    #[command(flatten)]
    #[serde(flatten)]
    /// The schemas by which events are decoded and matched.
    pub schemas: SchemaOptions,
}

impl Wanted {
    /// The filter for a trace; its start is needed for relative times.
    pub fn filter(&self, start: i64, schemas: &Schemas) -> Filter {
        let mut filter = self.at_any_time(schemas);
        if let Some(from) = self.from {
            filter = filter.from(from.of(start));
        }
        match self.to {
            Some(to) => filter.to(to.of(start)),
            None => filter,
        }
    }

    /// The filter for each file of a trace.
    pub fn filters(&self, trace: &Trace) -> Vec<Filter> {
        let filter = |(file, number): (&TraceFile, usize)| {
            let schemas = trace.session_of(number).map_or(Schemas::BUILT_IN, Session::schemas);
            self.filter(file.log_file().start_time, schemas)
        };
        trace.files().iter().zip(0..).map(filter).collect()
    }

    /// The filter without the time limits.
    pub fn at_any_time(&self, schemas: &Schemas) -> Filter {
        let mut filter = Filter::new();
        macro_rules! ask {
            ($($name:ident),*) => {$(
                for value in &self.$name {
                    filter = filter.$name(*value);
                }
            )*};
        }
        for provider in &self.provider {
            filter = match provider {
                Provider::Guid(guid) => filter.provider(*guid),
                Provider::Class(guid) => filter.class(*guid),
                Provider::Group(group) => filter.group(*group),
                Provider::Name(name) => filter.provider_name(name),
            };
        }
        for name in &self.event {
            filter = filter.event(name);
        }
        for keyword in &self.keyword {
            filter = match keyword {
                Keyword::Mask(mask) => filter.keyword(*mask),
                Keyword::Name(name) => filter.keyword_name(name),
            };
        }
        for opcode in &self.opcode {
            filter = match opcode {
                Opcode::Number(number) => filter.opcode(*number),
                Opcode::Name(name) => filter.opcode_name(name),
            };
        }
        for patterns in [&self.contains, &self.matches].into_iter().filter(|patterns| !patterns.is_empty()) {
            let patterns = patterns.clone();
            filter = filter.text(move |text| patterns.iter().any(|pattern| pattern.is_in(text)));
        }
        ask!(id, level, process, thread, processor);
        filter.with_schemas(schemas)
    }

    /// Whether all events match: no option is given. Options that are given are serialized.
    pub fn is_all(&self) -> bool {
        serde_json::to_value(self).is_ok_and(|given| given == serde_json::json!({}))
    }

    /// Whether events are selected by what they are: provider, name, ID, opcode, level or keyword.
    pub fn asks_for_events(&self) -> bool {
        !(self.provider.is_empty()
            && self.event.is_empty()
            && self.id.is_empty()
            && self.opcode.is_empty()
            && self.level.is_empty()
            && self.keyword.is_empty())
    }

    /// Whether events are selected by what they are, or by what they contain.
    pub fn asks_for_content(&self) -> bool {
        self.asks_for_events() || !(self.contains.is_empty() && self.matches.is_empty())
    }

    /// The name of the event, if only one is selected.
    pub fn one_event(&self) -> Option<&str> {
        match &self.event[..] {
            [name] => Some(name),
            _ => None,
        }
    }

    /// Checks the times.
    ///
    /// # Errors
    ///
    /// The first one is later than the last one.
    pub fn check(&self) -> Result<(), Error> {
        match (self.from, self.to) {
            (Some(Time::Absolute(from)), Some(Time::Absolute(to))) | (Some(Time::Since(from)), Some(Time::Since(to)))
                if from > to =>
            {
                Err("invalid time range: --from is later than --to; exchange the two times".into())
            }
            _ => Ok(()),
        }
    }

    /// Checks the times, and reads the files that the options name.
    pub fn load(&self, out: &impl Refusals) -> Result<(), Error> {
        self.check()?;
        self.schemas.load(out)
    }

    /// Whether an event without a time cannot match.
    pub fn asks_for_times(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Whether a time is relative to the start of the trace.
    pub fn asks_since_start(&self) -> bool {
        [self.from, self.to].iter().any(|time| matches!(time, Some(Time::Since(_) | Time::OfDay(_))))
    }

    /// A hint for an unknown name; `None` if all names are known.
    pub fn on_names(&self) -> Option<String> {
        let schemas = self.schemas.of_any();
        let unknown = |name: &str, what: &str, near: Option<String>, otherwise: &str| {
            let remedy = near.map_or(otherwise.to_owned(), |near| format!("did you mean `{near}`?"));
            format!("`{name}` is not the name of {what} in the known schemas; {remedy}")
        };
        if let Some(name) = self.event.iter().find(|name| !is_known(name, &schemas)) {
            let otherwise = "`etw list --events` prints the events of the kernel";
            return Some(unknown(name, "an event", similar_event(name, &schemas), otherwise));
        }
        let is_provider = |name: &str| schemas.providers_named(name).next().is_some();
        for provider in &self.provider {
            if let Provider::Name(name) = provider
                && !is_provider(name)
            {
                let otherwise = "give a known name or the provider's GUID";
                return Some(unknown(name, "a provider", similar(name, &schemas), otherwise));
            }
        }
        let variants = || {
            let providers = schemas.libraries().flat_map(|library| library.providers());
            providers.flat_map(|provider| provider.events()).filter_map(|variants| variants.first())
        };
        let same = |own: &str, name: &str| own.eq_ignore_ascii_case(name);
        for opcode in &self.opcode {
            if let Opcode::Name(name) = opcode
                && !names::opcodes().any(|own| same(own, name))
                && !variants().any(|variant| same(variant.opcode().name, name))
            {
                return Some(unknown(name, "an opcode", None, "give a number or a name, such as 1 or START"));
            }
        }
        for keyword in &self.keyword {
            if let Keyword::Name(name) = keyword
                && !variants().any(|variant| variant.keywords().any(|(_, own)| same(own, name)))
            {
                return Some(unknown(name, "a keyword", None, "give a mask such as 0x10, or a known name"));
            }
        }
        None
    }
}

/// A keyword to match.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Keyword {
    Mask(u64),
    Name(String),
}

/// An opcode to match.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Opcode {
    Number(u8),
    Name(String),
}

/// A provider to match.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Provider {
    Guid(#[serde(serialize_with = "text")] Uuid),
    /// A class of kernel events.
    Class(#[serde(serialize_with = "text")] Uuid),
    /// A group of kernel events, which have no GUID.
    Group(u8),
    Name(String),
}

fn text<S: Serializer>(guid: &Uuid, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(guid)
}

/// A time in units of 100 ns.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Time {
    Absolute(i64),
    /// Relative to the start of the trace.
    Since(i64),
    /// Time of day, within the 24 hours that begin one hour before the trace: events can be slightly older than the trace.
    OfDay(i64),
}

const HOUR: i64 = 3600 * 10_000_000;

impl Time {
    fn of(self, start: i64) -> i64 {
        match self {
            Self::Absolute(time) => time,
            Self::Since(time) => start.saturating_add(time),
            Self::OfDay(time) => {
                let least = start.saturating_sub(HOUR);
                least.saturating_add(time.saturating_sub(least).rem_euclid(24 * HOUR))
            }
        }
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(FileTime(time)) = text.parse() {
            return Ok(Self::Absolute(time));
        }
        // Parse a time of day as one on the first day.
        if let Ok(FileTime(time)) = format!("1601-01-01 {text}").parse() {
            return Ok(Self::OfDay(time));
        }
        if text.len() >= 16
            && let Ok(time) = text.parse()
        {
            return Ok(Self::Absolute(time));
        }
        let none = "invalid time; expected a time such as 2020-07-29T07:06:19.798 or 07:06:19.8, or seconds such as 1.5";
        seconds(text).map(Self::Since).ok_or_else(|| none.into())
    }
}

/// Decimal seconds in units of 100 ns; a floating-point number would lose digits.
fn seconds(text: &str) -> Option<i64> {
    let (sign, bare) = text.strip_prefix('-').map_or((1, text), |bare| (-1, bare));
    let (whole, fraction) = bare.split_once('.').unwrap_or((bare, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 7 {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<7}").parse().ok()?;
    Some(sign * whole.parse::<i64>().ok()?.checked_mul(10_000_000)?.checked_add(fraction)?)
}

fn provider(text: &str) -> Result<Provider, String> {
    if let Some(guid) = names::class_named(text) {
        return Ok(Provider::Class(guid));
    }
    if let Some(guid) = text.parse().ok().or_else(|| names::provider_named(text)) {
        return Ok(Provider::Guid(guid));
    }
    match text.strip_prefix("group ") {
        Some(group) => number(group).map(Provider::Group),
        None if is_like_a_guid(text) => {
            Err("invalid GUID; expected 32 hexadecimal digits such as 22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716".into())
        }
        None if text.is_empty() => Err("empty provider; give a GUID, a group or a name".into()),
        None => Ok(Provider::Name(text.to_owned())),
    }
}

fn event(text: &str) -> Result<String, String> {
    match text.trim_matches('/') {
        "" => Err("empty event name; give a name such as Process/Start, or Process/* for all events of a class".into()),
        _ => Ok(text.to_owned()),
    }
}

/// Whether a text has the first digits and separators of a GUID, so that it is probably not a name.
fn is_like_a_guid(text: &str) -> bool {
    let bare = text.trim_matches(['{', '}']);
    let is_part = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    bare.split_once('-').is_some_and(|(first, rest)| first.len() == 8 && is_part(first) && rest.split('-').all(is_part))
}

fn keyword(text: &str) -> Result<Keyword, String> {
    match text.chars().next() {
        None => Err("empty keyword; give a mask such as 0x10 or a name".into()),
        Some(first) if first.is_ascii_digit() => number(text).map(Keyword::Mask),
        Some(_) => Ok(Keyword::Name(text.to_owned())),
    }
}

fn opcode(text: &str) -> Result<Opcode, String> {
    match text.chars().next() {
        Some(first) if first.is_alphabetic() || first == '_' => Ok(Opcode::Name(text.to_owned())),
        _ => number_or(text, "invalid opcode; expected a number or a name, such as 1 or START").map(Opcode::Number),
    }
}

fn level(text: &str) -> Result<u8, String> {
    let names = ["critical", "error", "warning", "information", "verbose"];
    let named = (1..).zip(names).find(|(_, name)| name.eq_ignore_ascii_case(text));
    named
        .map_or_else(|| number_or(text, "invalid level; expected a number or a name, such as 2 or error"), |(level, _)| Ok(level))
}

fn id(text: &str) -> Result<u16, String> {
    let none = "invalid ID; expected a number or the name of a hook ID, such as 43, 0x2b or WMI_LOG_TYPE_PROCESS_CREATE";
    let text = text.strip_prefix("hook ").unwrap_or(text);
    names::hook_named(text).map_or_else(|| number_or(text, none), Ok)
}

fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    number_or(text, "invalid number; expected a value such as 4 or 0x1c0")
}

/// Parses a decimal number, or a hexadecimal one with 0x. Returns `none` as the error if the text is not a number.
fn number_or<T: TryFrom<u64>>(text: &str, none: &str) -> Result<T, String> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let value = match u64::from_str_radix(digits, radix) {
        Ok(value) if !digits.starts_with('+') => Some(value),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => None,
        _ => return Err(none.into()),
    };
    let value = value.and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| format!("number too large: the maximum is {}", u64::MAX >> (64 - 8 * size_of::<T>())))
}
