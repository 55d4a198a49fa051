//! The columns of events: names, widths and values. JSON has the values as members with the same names.

use crate::line::{self, Line};
use crate::value::Value;
use clap::ValueEnum;
use etw_layouts_etl::{Event, names};
use etw_layouts_trace::{KnownBy, ProcessIndex, Who};

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
    /// ID of the thread that caused the event, from the payload or the header.
    Thread,
    /// ID of the process that caused the event, from the payload, the header, or other events about the thread. The column
    /// process_by names the source.
    Process,
    /// Image name of the process in process.
    ProcessName,
    /// Source of the column process: `header`, or the name of a field.
    ProcessBy,
    /// ID of the process that the event is about.
    Subject,
    /// Image name of the process that the event is about.
    SubjectName,
    /// Source of the column subject: the name of a field.
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

impl Column {
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

    /// The name in the heading of a table.
    pub fn name(self) -> String {
        match (self, self.to_possible_value()) {
            (Self::Field(name), _) => name.to_owned(),
            (_, value) => value.map(|value| value.get_name().to_owned()).unwrap_or_default(),
        }
    }

    /// Minimum width; a negative number aligns to the right.
    pub fn width(self) -> isize {
        match self {
            Self::Time => 27,
            Self::TimeUtc => 28,
            Self::Processor => -9,
            Self::Thread | Self::Opcode => -6,
            Self::Process | Self::Subject | Self::Version | Self::Channel => -7,
            Self::HeaderProcess => -14,
            Self::HeaderThread => -13,
            Self::KernelTime | Self::UserTime => -11,
            Self::ProcessName | Self::SubjectName => 20,
            Self::ProcessBy | Self::SubjectBy => 15,
            Self::Header => 15,
            Self::Provider | Self::ProviderName | Self::Activity | Self::Related => 36,
            Self::PayloadSize => -12,
            Self::Level | Self::Task => -5,
            Self::Keyword => 18,
            Self::Id | Self::IdName | Self::Event => 40,
            Self::Field(_) => 16,
            Self::OpcodeName => 14,
            Self::Flags | Self::FlagsNames => 24,
            Self::Items | Self::KeywordNames | Self::TaskName => 32,
            Self::Session => 20,
            Self::Default | Self::Payload | Self::File => 0,
        }
    }

    /// The column with the name of the number in this one.
    pub fn of_name(self) -> Option<Self> {
        Some(match self {
            Self::Provider => Self::ProviderName,
            Self::Opcode => Self::OpcodeName,
            Self::Id => Self::IdName,
            Self::Task => Self::TaskName,
            Self::Flags => Self::FlagsNames,
            _ => return None,
        })
    }

    /// The value of an event. Columns with lists or decoded fields have no single value.
    #[inline(always)]
    pub fn value<'a>(self, line: &Line<'a>) -> Value<'a> {
        let (event, schemas, who) = (line.event, line.schemas, line.who.unwrap_or_else(|| by_header(line.event)));
        let image = |index: Option<ProcessIndex>| line.processes?.get(index?)?.image();
        let named = |name: &'a str| Some(name).filter(|name| !name.is_empty());
        match self {
            Self::Time => line.time.map_or(Value::Absent, Value::Signed),
            Self::TimeUtc => line.time.map_or(Value::Absent, Value::Time),
            Self::Processor => Value::Unsigned(line.origin.processor.into()),
            Self::Thread => Value::number(who.by.thread),
            Self::Process => Value::number(who.by.process),
            Self::HeaderProcess => Value::number(event.process()),
            Self::HeaderThread => Value::number(event.thread()),
            Self::KernelTime => Value::number(line.log.and_then(|log| log.thread_times(event)).map(|(kernel, _)| kernel)),
            Self::UserTime => Value::number(line.log.and_then(|log| log.thread_times(event)).map(|(_, user)| user)),
            Self::ProcessName => Value::text(image(who.by.index)),
            Self::ProcessBy => Value::plain(who.by.known.as_str()),
            Self::Subject => Value::number(who.about.process),
            Self::SubjectName => Value::text(image(who.about.index)),
            Self::SubjectBy => Value::plain(who.about.known.as_str()),
            Self::Header => match line::header(event) {
                Ok(name) => Value::Plain(name),
                Err(ty) => Value::Header(ty),
            },
            Self::Provider => Value::guid(line.provider),
            Self::ProviderName => Value::text(names::provider_of(event, schemas)),
            Self::Event => match names::event_of(event, schemas) {
                Some((provider, name)) => Value::Path(provider, name),
                None => Value::Absent,
            },
            Self::Version => Value::number(event.version()),
            Self::Opcode => Value::number(event.opcode()),
            Self::OpcodeName => {
                let common = || names::opcode(event.header_type(), event.opcode()?);
                Value::text(line.variant().and_then(|variant| named(variant.opcode().name)).or_else(common))
            }
            Self::PayloadSize => Value::Unsigned(event.payload().len() as u64),
            Self::Id => Value::number(event.id()),
            Self::IdName => Value::plain(line.hook.and_then(names::hook).unwrap_or_default()),
            Self::Level => Value::number(event.level()),
            Self::Keyword => event.keyword().map_or(Value::Absent, Value::Keyword),
            Self::Task => Value::number(event.task()),
            Self::TaskName => Value::text(line.variant().and_then(|variant| named(variant.task().name))),
            Self::Channel => Value::number(event.channel()),
            // A GUID of zeros means that there is none.
            Self::Activity => Value::guid(event.activity_id().filter(|activity| !activity.is_nil())),
            Self::Related => Value::guid(event.related_activity_id()),
            Self::Flags => Value::number(event.flags().map(|flags| flags.0)),
            Self::FlagsNames => event.flags().map_or(Value::Absent, Value::Flags),
            Self::Session => Value::plain(line.session.map_or("", |session| &session.name.text)),
            Self::File => Value::plain(&line.file.text),
            Self::Default | Self::Field(_) | Self::KeywordNames | Self::Items | Self::Payload => Value::Absent,
        }
    }
}

/// The process and the thread in the header of an event, for an event that is read without its trace.
fn by_header(event: &Event<'_>) -> Who {
    let known = |id: Option<u32>| id.filter(|id| *id != u32::MAX);
    let mut who = Who::default();
    (who.by.process, who.by.thread) = (known(event.process()), known(event.thread()));
    if who.by.process.is_some() {
        who.by.known = KnownBy::Header;
    }
    who
}
