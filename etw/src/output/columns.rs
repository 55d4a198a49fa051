//! The columns of the event table: names, widths and contents.

use super::Escaped;
use super::fields;
use super::line::{self, Line, Names};
use super::{document, payload, put};
use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use etw_layouts_cli::{is_formula, is_hidden};
use etw_layouts_codegen::nearest;
use etw_layouts_etl::text::Style;
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_etl::{Uuid, names as known};
use std::ffi::OsStr;

/// A column of the event table.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Column {
    /// Default columns; in CSV, names have columns of their own.
    Default,
    /// Time (UTC); in CSV a number, in units of 100 ns since 1601.
    Time,
    /// Time (UTC) in the form of RFC 3339.
    TimeUtc,
    /// Processor number.
    Processor,
    /// ID of the thread that did it: that in a field of the payload, or in the header.
    Thread,
    /// ID of the process that did it: that in a field of the payload, or in the header, or the one that other events of the trace state for the
    /// thread. The column process_by has the source.
    Process,
    /// Image name of the process that did it.
    ProcessName,
    /// How the process that did it is known: `header`, or the name of a field.
    ProcessBy,
    /// ID of the process that the event is about.
    Subject,
    /// Image name of the process that the event is about.
    SubjectName,
    /// How the process that the event is about is known: the name of a field.
    SubjectBy,
    /// Process ID in the header.
    HeaderProcess,
    /// Thread ID in the header.
    HeaderThread,
    /// Time that the thread in the header has run in kernel mode so far, in units of 100 ns.
    KernelTime,
    /// Time that the thread in the header has run in user mode so far, in units of 100 ns.
    UserTime,
    /// Header type.
    Header,
    /// Provider GUID; in text, the provider's name if known.
    Provider,
    /// Provider name: the group of a kernel event, the name in the event itself, or the name in a schema.
    ProviderName,
    /// Event name, such as Process/Start. For an event without a known name, text shows the provider and the event ID; CSV has no value.
    Event,
    /// A field of the payload, by its name.
    #[value(skip)]
    Field(&'static str),
    /// Event version.
    Version,
    /// Opcode as a number; in text, its name if known.
    Opcode,
    /// Opcode name, from the schema, or of an opcode that means the same for all providers.
    OpcodeName,
    /// Payload size in bytes.
    PayloadSize,
    /// Event ID as a number; in text, the name of a kernel event's hook ID.
    Id,
    /// Hook ID name of a kernel event.
    IdName,
    /// Level (severity).
    Level,
    /// Keyword bit mask.
    Keyword,
    /// Names of keywords, from the schema.
    KeywordNames,
    /// Task number; in text, its name if known.
    Task,
    /// Task name, from the schema.
    TaskName,
    /// Event channel.
    Channel,
    /// Activity ID.
    Activity,
    /// Related activity ID.
    Related,
    /// Header flags as a number; in text, their names.
    Flags,
    /// Header flag names.
    FlagsNames,
    /// Extended data items with their sizes in bytes.
    Items,
    /// Payload: hexadecimal digits, decoded fields or the message, as --payload states.
    Payload,
    /// Session name; only for events in a crash dump.
    Session,
    /// File name.
    File,
}

/// The default columns for traces.
pub const DEFAULT: [Column; 7] =
    [Column::Time, Column::Processor, Column::Process, Column::Thread, Column::Event, Column::Version, Column::PayloadSize];

/// Parses the name of a column or payload field. Only the events of a trace show whether a field exists.
#[derive(Clone)]
pub struct Columns;

impl TypedValueParser for Columns {
    type Value = Column;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<Column, clap::Error> {
        let is_field = |name: &&str| !name.is_empty() && !name.contains(is_hidden) && Column::from_str(name, false).is_err();
        match value.to_str().filter(is_field) {
            // This runs once per option, and the name is needed until the program ends.
            Some(name) => Ok(Column::Field(String::leak(name.to_owned()))),
            None => EnumValueParser::new().parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Column::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// The column with a name that is similar to an unknown one.
pub fn similar(name: &str) -> Option<String> {
    let names: Vec<_> = Column::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
    nearest(name, names.iter().map(PossibleValue::get_name)).map(str::to_owned)
}

/// The requested columns without duplicates; if none are requested, the default ones and those of the fields.
pub fn chosen(asked: &[Column], default: &[Column], fields: Vec<Column>, is_text: bool, payload: bool) -> Vec<Column> {
    let (asked, fields) = if asked.is_empty() { (&[Column::Default][..], fields) } else { (asked, Vec::new()) };
    let all = asked.iter().flat_map(|column| match column {
        Column::Default if is_text => default.to_vec(),
        Column::Default => default.iter().flat_map(|column| column.in_table()).collect(),
        column => vec![*column],
    });
    let mut columns = Vec::new();
    for column in all.chain(fields).chain(payload.then_some(Column::Payload)) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

impl Column {
    /// The equivalent columns for CSV: a cell has either a name or a number.
    fn in_table(self) -> Vec<Self> {
        match self {
            Self::Time => vec![Self::TimeUtc],
            Self::Provider => vec![Self::Provider, Self::ProviderName],
            Self::Opcode => vec![Self::Opcode, Self::OpcodeName],
            Self::Id => vec![Self::Id, Self::IdName],
            Self::Event => {
                let names = [Self::Provider, Self::Id, Self::Opcode].map(Self::in_table).concat();
                [vec![Self::Header], names, vec![Self::Event]].concat()
            }
            column => vec![column],
        }
    }

    /// Whether the column states who did it, or whom it is about.
    pub fn is_who(self) -> bool {
        matches!(
            self,
            Self::Process
                | Self::Thread
                | Self::ProcessName
                | Self::ProcessBy
                | Self::Subject
                | Self::SubjectName
                | Self::SubjectBy
        )
    }

    /// Whether the column contains text from files.
    fn is_foreign(self) -> bool {
        matches!(
            self,
            Self::ProviderName
                | Self::ProcessName
                | Self::SubjectName
                | Self::Event
                | Self::Field(_)
                | Self::OpcodeName
                | Self::TaskName
                | Self::KeywordNames
                | Self::Payload
                | Self::Session
                | Self::File
        )
    }

    fn name(self) -> String {
        match (self, self.to_possible_value()) {
            (Self::Field(name), _) => name.to_owned(),
            (_, value) => value.map(|value| value.get_name().to_owned()).unwrap_or_default(),
        }
    }

    /// Minimum width; a negative number aligns to the right.
    fn width(self) -> isize {
        match self {
            Self::Time => 27,
            Self::TimeUtc => 28,
            Self::Processor => -9,
            Self::Thread | Self::Opcode => -6,
            Self::Process | Self::Version => -7,
            Self::HeaderProcess => -14,
            Self::HeaderThread => -13,
            Self::KernelTime | Self::UserTime => -11,
            Self::Subject => -7,
            Self::ProcessName | Self::SubjectName => 20,
            Self::ProcessBy | Self::SubjectBy => 15,
            Self::Header => 15,
            Self::Provider | Self::ProviderName | Self::Activity | Self::Related => 36,
            Self::PayloadSize => -12,
            Self::Level | Self::Task => -5,
            Self::Keyword => 18,
            Self::Channel => -7,
            Self::Id | Self::IdName | Self::Event => 40,
            Self::Field(_) => 16,
            Self::OpcodeName => 14,
            Self::Flags | Self::FlagsNames => 24,
            Self::Items | Self::KeywordNames | Self::TaskName => 32,
            Self::Session => 20,
            Self::Default | Self::Payload | Self::File => 0,
        }
    }

    /// Writes the cell, which is empty if the event has no such value. Returns the fault if a payload cannot be decoded.
    fn cell(self, line: &Line<'_>, is_text: bool, names: &mut Names, out: &mut Vec<u8>) -> Option<Fault> {
        fn number(out: &mut Vec<u8>, value: Option<impl itoa::Integer>) {
            if let Some(value) = value {
                put::number(out, value);
            }
        }
        fn guid(out: &mut Vec<u8>, guid: Option<Uuid>) {
            if let Some(guid) = guid {
                put::guid(out, guid);
            }
        }
        let event = line.event;
        match self {
            Self::Default => {}
            Self::Time if !is_text => number(out, line.time),
            Self::Time | Self::TimeUtc => {
                if let Some(time) = line.time {
                    names.times.put(out, time, self == Self::Time);
                }
            }
            Self::Processor => put::number(out, line.origin.processor),
            Self::Thread => number(out, line.thread()),
            Self::Process => number(out, line.process()),
            Self::HeaderProcess => number(out, event.process()),
            Self::HeaderThread => number(out, event.thread()),
            Self::KernelTime => number(out, line.thread_times().map(|(kernel, _)| kernel)),
            Self::UserTime => number(out, line.thread_times().map(|(_, user)| user)),
            Self::ProcessName => put::shown(out, Escaped(line.process_name().unwrap_or_default())),
            Self::ProcessBy => put::shown(out, Escaped(line.who.map_or("", |who| who.by.known.as_str()))),
            Self::Subject => number(out, line.subject()),
            Self::SubjectName => put::shown(out, Escaped(line.subject_name().unwrap_or_default())),
            Self::SubjectBy => put::shown(out, Escaped(line.who.map_or("", |who| who.about.known.as_str()))),
            Self::Header => document::header(out, line::header(line.event)),
            Self::Provider if !is_text => guid(out, line.provider),
            Self::ProviderName => put::shown(out, Escaped(line.provider_name().unwrap_or_default())),
            Self::Provider => match (line.provider_name(), line.provider, line.hook) {
                (Some(name), ..) => put::shown(out, Escaped(name)),
                (None, Some(guid), _) => put::guid(out, guid),
                (None, None, Some(hook)) => put::shown(out, format_args!("group {:#04x}", hook >> 8)),
                _ => {}
            },
            Self::Event => match line.event_name() {
                Some((provider, name)) => {
                    put::shown(out, format_args!("{}/{}", Escaped(provider), Escaped(name)));
                    let other = if is_text { known::other_than_class(event, provider, line.schemas) } else { None };
                    if let Some(source) = other {
                        put::shown(out, format_args!(" ({source})"));
                    }
                }
                None if is_text => put::shown(out, Escaped(&known::identity(event, line.schemas))),
                None => {}
            },
            Self::Field(name) => {
                if let Some(decoded) = line.decoded() {
                    let style = if is_text { Style::Text } else { Style::Json };
                    if fields::cell(&decoded.fields, name, line.clock.as_ref(), style, out) {
                        names.found_field(name);
                    }
                }
            }
            Self::Version => number(out, event.version()),
            Self::OpcodeName => put::shown(out, Escaped(line.opcode_name().unwrap_or_default())),
            Self::Opcode => match line.opcode_name().filter(|_| is_text) {
                Some(name) => put::shown(out, Escaped(name)),
                None => number(out, event.opcode()),
            },
            Self::PayloadSize => put::number(out, event.payload().len()),
            Self::IdName => out.extend_from_slice(line.id_name().unwrap_or_default().as_bytes()),
            Self::Id if !is_text => number(out, event.id()),
            Self::Id => match (line.id_name(), line.hook) {
                (Some(name), _) => out.extend_from_slice(name.as_bytes()),
                (None, Some(hook)) => put::shown(out, format_args!("{hook:#06x}")),
                (None, None) => number(out, event.id()),
            },
            Self::Level => number(out, event.level()),
            Self::Keyword => {
                if let Some(keyword) = event.keyword() {
                    put::keyword(out, keyword);
                }
            }
            Self::Task => match line.task_name().filter(|_| is_text) {
                Some(name) => put::shown(out, Escaped(name)),
                None => number(out, event.task()),
            },
            Self::TaskName => put::shown(out, Escaped(line.task_name().unwrap_or_default())),
            Self::KeywordNames => {
                for (index, name) in line.keyword_names().into_iter().enumerate() {
                    put::shown(out, format_args!("{}{}", if index > 0 { "|" } else { "" }, Escaped(name)));
                }
            }
            Self::Channel => number(out, event.channel()),
            Self::Activity => guid(out, line.activity()),
            Self::Related => guid(out, event.related_activity_id()),
            Self::Flags if !is_text => number(out, event.flags().map(|flags| flags.0)),
            Self::Flags | Self::FlagsNames => {
                out.extend_from_slice(event.flags().map_or("", |flags| names.flags(flags)).as_bytes());
            }
            Self::Items => {
                for (index, item) in event.items().enumerate() {
                    let between = if index > 0 { " " } else { "" };
                    put::shown(out, format_args!("{between}{}:{}", names.item(item.ty), item.data.len()));
                }
            }
            Self::Payload => return payload::text(line, out),
            Self::Session => out.extend_from_slice(line.session.map_or("", |session| &session.name.text).as_bytes()),
            Self::File => out.extend_from_slice(line.file.text.as_bytes()),
        }
        None
    }
}

/// Writes the line of column names.
pub fn heading(columns: &[Column], is_text: bool, out: &mut Vec<u8>) {
    row(columns, is_text, out, |column, out| out.extend_from_slice(column.name().as_bytes()));
}

/// Writes an event as one line. Returns the fault if a payload cannot be decoded.
pub fn event(columns: &[Column], is_text: bool, line: &Line<'_>, names: &mut Names, out: &mut Vec<u8>) -> Option<Fault> {
    let mut fault = None;
    row(columns, is_text, out, |column, out| {
        let start = out.len();
        fault = fault.or(column.cell(line, is_text, names, out));
        if is_text && out.len() == start {
            out.push(b'-');
        }
    });
    fault
}

/// Whether a cell is a number below zero.
fn is_negative(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|cell| cell.parse::<i64>().is_ok_and(|number| number < 0))
}

/// A line of text with padded columns, or a line of CSV (RFC 4180, except that lines end in LF).
fn row(columns: &[Column], is_text: bool, out: &mut Vec<u8>, mut fill: impl FnMut(Column, &mut Vec<u8>)) {
    for (index, column) in columns.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(if is_text { b"  " } else { b"," });
        }
        let start = out.len();
        fill(*column, out);
        let (width, is_last) = (column.width(), index + 1 == columns.len());
        if !is_text {
            let is_number = matches!(column, Column::Field(_)) && is_negative(&out[start..]);
            if column.is_foreign() && is_formula(&out[start..]) && !is_number {
                out.insert(start, b'\'');
            }
            if out[start..].iter().any(|byte| matches!(byte, b'"' | b',')) {
                let cell = out.split_off(start);
                out.push(b'"');
                out.extend(cell.iter().flat_map(|byte| std::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 })));
                out.push(b'"');
            }
        } else if width < 0 {
            put::align_right(out, start, width.unsigned_abs());
        } else if !is_last {
            put::align_left(out, start, width.unsigned_abs());
        }
    }
    out.push(b'\n');
}
