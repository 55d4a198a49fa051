//! The columns of events: their names, their widths, and what stands in them.

use super::line::Line;
use super::output::Escaped;
use etw_layouts_etl::Stamp;
use std::fmt::{self, Display, Write};

/// A column of the events.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Column {
    /// All that are printed without --columns.
    Default,
    /// When, UTC.
    Time,
    /// The processor.
    Cpu,
    /// The thread.
    Thread,
    /// The process.
    Process,
    /// The type of the header.
    Header,
    /// The provider's GUID; of a group of kernel events, its name.
    Provider,
    /// The version of the data.
    Version,
    /// What was done, by its name if that means the same for all providers.
    Opcode,
    /// Bytes of the payload.
    Bytes,
    /// What it is; of a kernel event, the name of its hook identifier.
    Id,
    /// How severe it is.
    Level,
    /// What it is about.
    Keyword,
    /// The part of its provider.
    Task,
    /// For which audience it is.
    Channel,
    /// The activity that it belongs to.
    Activity,
    /// The activity that began this one.
    Related,
    /// The flags of its header.
    Flags,
    /// The extended items, and the bytes of each.
    Items,
    /// The payload, in hexadecimal digits.
    Payload,
    /// The file.
    File,
}

/// What is printed if nothing else is asked for.
const DEFAULT: [Column; 10] = [
    Column::Time,
    Column::Cpu,
    Column::Thread,
    Column::Process,
    Column::Header,
    Column::Provider,
    Column::Version,
    Column::Opcode,
    Column::Bytes,
    Column::Id,
];

/// The columns that were asked for, each once.
pub fn chosen(asked: &[Column], payload: bool) -> Vec<Column> {
    let asked = if asked.is_empty() { &[Column::Default] } else { asked };
    let all = asked.iter().flat_map(|column| match column {
        Column::Default => DEFAULT.to_vec(),
        column => vec![*column],
    });
    let mut columns = Vec::new();
    for column in all.chain(payload.then_some(Column::Payload)) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

impl Column {
    fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Time => "time",
            Self::Cpu => "cpu",
            Self::Thread => "thread",
            Self::Process => "process",
            Self::Header => "header",
            Self::Provider => "provider",
            Self::Version => "version",
            Self::Opcode => "opcode",
            Self::Bytes => "bytes",
            Self::Id => "id",
            Self::Level => "level",
            Self::Keyword => "keyword",
            Self::Task => "task",
            Self::Channel => "channel",
            Self::Activity => "activity",
            Self::Related => "related",
            Self::Flags => "flags",
            Self::Items => "items",
            Self::Payload => "payload",
            Self::File => "file",
        }
    }

    /// How wide it is at least, to the right if that is negative.
    fn width(self) -> isize {
        match self {
            Self::Time => 27,
            Self::Cpu => -3,
            Self::Thread | Self::Opcode => -6,
            Self::Process | Self::Version => -7,
            Self::Header => 15,
            Self::Provider | Self::Activity | Self::Related => 36,
            Self::Bytes | Self::Level | Self::Task => -5,
            Self::Keyword => 18,
            Self::Channel => -7,
            Self::Id => 40,
            Self::Flags => 24,
            Self::Items => 32,
            Self::Default | Self::Payload | Self::File => 0,
        }
    }

    /// What stands in it; nothing if the event does not tell.
    fn cell(self, line: &Line<'_>, is_text: bool, out: &mut String) -> fmt::Result {
        fn value(out: &mut String, value: Option<impl Display>) -> fmt::Result {
            value.map_or(Ok(()), |value| write!(out, "{value}"))
        }
        match self {
            Self::Default => Ok(()),
            Self::Time if is_text => value(out, line.time.map(Stamp)),
            Self::Time => value(out, line.time.map(|time| Stamp(time).rfc3339())),
            Self::Cpu => value(out, Some(line.cpu)),
            Self::Thread => value(out, line.tid),
            Self::Process => value(out, line.pid),
            Self::Header => value(out, Some(&line.header)),
            Self::Provider => match (line.provider_name, line.provider, line.id) {
                (Some(name), ..) => out.write_str(name),
                (None, Some(guid), _) => write!(out, "{guid}"),
                (None, None, Some(hook)) if line.is_hooked => write!(out, "group {:#04x}", hook >> 8),
                _ => Ok(()),
            },
            Self::Version => value(out, line.version),
            Self::Opcode => match line.opcode_name {
                Some(name) => out.write_str(name),
                None => value(out, line.opcode),
            },
            Self::Bytes => value(out, Some(line.payload_size)),
            Self::Id => match (line.id_name, line.id) {
                (Some(name), _) => out.write_str(name),
                (None, Some(hook)) if line.is_hooked => write!(out, "{hook:#06x}"),
                (None, id) => value(out, id),
            },
            Self::Level => value(out, line.level),
            Self::Keyword => value(out, line.keyword.map(|keyword| fmt::from_fn(move |f| write!(f, "{keyword:#018x}")))),
            Self::Task => value(out, line.task),
            Self::Channel => value(out, line.channel),
            Self::Activity => value(out, line.activity_id),
            Self::Related => value(out, line.related_id),
            Self::Flags => value(out, line.flags_names.as_deref()),
            Self::Items => {
                for (index, item) in line.items.iter().enumerate() {
                    let between = if index > 0 { " " } else { "" };
                    write!(out, "{between}{}:{}", item.name, item.size)?;
                }
                Ok(())
            }
            Self::Payload => value(out, line.payload.as_deref()),
            Self::File => write!(out, "{}", Escaped(line.file)),
        }
    }
}

/// The names of the columns, in a line.
pub fn heading(columns: &[Column], is_text: bool) -> String {
    row(columns, is_text, |column, cell| cell.push_str(column.name()))
}

/// An event, in a line.
pub fn event(columns: &[Column], is_text: bool, line: &Line<'_>) -> String {
    row(columns, is_text, |column, cell| {
        // To a text, everything can be written.
        let _ = column.cell(line, is_text, cell);
        if is_text && cell.is_empty() {
            cell.push('-');
        }
    })
}

/// A line of text with columns of their widths, or one of CSV (RFC 4180, but for the ends of lines).
fn row(columns: &[Column], is_text: bool, fill: impl Fn(Column, &mut String)) -> String {
    let (mut out, mut cell) = (String::with_capacity(160), String::new());
    for (index, column) in columns.iter().enumerate() {
        cell.clear();
        fill(*column, &mut cell);
        let (width, is_last) = (column.width(), index + 1 == columns.len());
        match (is_text, index) {
            (_, 0) => {}
            (true, _) => out.push_str("  "),
            (false, _) => out.push(','),
        }
        let missing = width.unsigned_abs().saturating_sub(cell.len());
        let spaces = |out: &mut String, wanted: bool| (0..missing).filter(|_| is_text && wanted).for_each(|_| out.push(' '));
        spaces(&mut out, width < 0);
        match !is_text && cell.contains(['"', ',']) {
            true => {
                out.push('"');
                out.push_str(&cell.replace('"', "\"\""));
                out.push('"');
            }
            false => out.push_str(&cell),
        }
        spaces(&mut out, width > 0 && !is_last);
    }
    out.push('\n');
    out
}
