//! `processes`.

mod document;
mod tree;

use super::Done;
use super::traces::{Files, Opened};
use crate::input::{self, Input};
use crate::output::stop::Stop;
use crate::output::{Escaped, Format, Output, Several};
use crate::schemas::SchemaOptions;
use anstyle::Style;
pub use document::documents;
use document::{BEFORE_TRACE, Document, Image, UNKNOWN, by};
use etw_layouts_cli::csv_cell;
use etw_layouts_cli::text_table::{Row, lines};
use etw_layouts_etl::payload::Source;
use etw_layouts_etl::{Decoded, Event, FileTime, names};
use etw_layouts_trace::providers::KERNEL_PROCESS;
use etw_layouts_trace::{Process, StatedBy};
use std::fmt::Write;
use tree::Node;

/// List the processes of trace files: process ID, parent with its image, start, end, exit status, terminal session, user SID,
/// image and command line. Exit with status 1 if there are diagnostics.
///
/// The sources are the kernel events Process/Start, End, DCStart, DCEnd and Defunct, which a session contains if its
/// kernel flag PROCESS is enabled, and the events of the provider Microsoft-Windows-Kernel-Process. Processes of the
/// files of one session are listed together. Processes that started before the trace come first.
///
/// A process without a start started before the trace. A process without an end was running when the trace ended.
/// The end `before the trace` marks a process that had ended earlier, but was still held open by another process
/// (Process/Defunct). `unknown` means that no event reports the time: the process is known only from its
/// images or its end, or another process has the same ID later. Text omits columns without any value; CSV and JSON
/// contain all columns.
///
/// CSV and JSON also contain:
///   index, parent_index      the number of the process and of its parent in the session, from 0; IDs are reused
///   start_known, end_known   `time`, `before_trace` or `unknown`; no value for a process that did not end
///   start_by, end_by         the event that reports the start or end (in JSON: in `known_by`)
///   exit_status_name         the name of an exit status that an exception leaves, such as STATUS_ACCESS_VIOLATION
///   user_name                the name of a well-known user, such as NT AUTHORITY\SYSTEM
///
///     etw etl processes trace.etl
///     etw etl processes --tree trace.etl
///     etw etl processes --images trace.etl
///     etw etl processes --format csv folder
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
    /// List each process below the one that created it, with its image first. In JSON, `depth` is the number of its ancestors.
    #[arg(long)]
    tree: bool,
    /// List the images that were loaded in each process. CSV then has a row for each image instead of each process.
    #[arg(long)]
    images: bool,
    #[command(flatten)]
    pub(crate) schemas: SchemaOptions,
}

/// Names of the columns of processes in text.
const COLUMNS: [&str; 10] =
    ["process", "parent", "parent_image", "start", "end", "exit_status", "session", "user", "image", "command_line"];

/// The columns of a tree, which replaces those of the parent.
const TREE: [usize; 8] = [8, 0, 3, 4, 5, 6, 7, 9];

/// Names of further columns of processes in CSV.
const MORE: [&str; 8] =
    ["index", "parent_index", "start_known", "start_by", "end_known", "end_by", "exit_status_name", "user_name"];

/// Names of the columns of images.
const IMAGES: [&str; 7] = ["process", "base", "size", "load", "unload", "path", "index"];

/// Deeper processes are not indented further, so that a line has a limited length.
const DEEPEST: usize = 32;

/// Lists the processes of each session.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let files = Files::open(inputs, out);
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    let mut listing = Listing { is_tree: args.tree, has_images: args.images, is_headed: false };
    for files in files.by_session() {
        let mut opened = Opened::read(files, &args.schemas, out)?;
        done.unusable += opened.unusable;
        check(&mut opened, out)?;
        listing.session(&opened, out)?;
        done.add(opened.end(out));
    }
    Ok(done)
}

/// Reports the events of processes and images that cannot be decoded.
fn check(opened: &mut Opened, out: &Output) -> Result<(), Stop> {
    let Opened { trace, files, .. } = opened;
    for event in trace.events().in_file_order() {
        let event = event?;
        let header = event.header();
        // A later version of an event has more fields.
        if is_candidate(&header)
            && let Some(decoded) = event.decode().filter(|decoded| decoded.is_exact && is_of_processes(&header, decoded))
            && let Err(fault) = decoded.fields.check()
        {
            let kind = names::undecoded(&header, event.schemas(), fault);
            files[event.file_index()].diagnostic(&event.place().diagnostic(kind), out);
        }
    }
    Ok(())
}

/// Whether the event can be one of processes or images, by its header.
fn is_candidate(event: &Event<'_>) -> bool {
    matches!(event.opcode(), Some(1..=4 | 10 | 39)) || event.provider() == Some(KERNEL_PROCESS)
}

/// Whether the event states a process or an image.
fn is_of_processes(event: &Event<'_>, decoded: &Decoded<'_>) -> bool {
    match (decoded.source(), decoded.schema.provider, decoded.schema.event) {
        (Source::Specs, "Process", "Start" | "End" | "DCStart" | "DCEnd" | "Defunct") => true,
        (Source::Specs, "Image", "Load" | "ImageLoad" | "UnLoad" | "DCStart" | "DCEnd") => true,
        _ => event.provider() == Some(KERNEL_PROCESS) && matches!(event.id(), Some(1 | 2 | 5 | 6 | 15)),
    }
}

/// How processes are listed.
pub struct Listing {
    is_tree: bool,
    has_images: bool,
    /// Whether the head of CSV was printed.
    is_headed: bool,
}

impl Listing {
    fn session(&mut self, opened: &Opened, out: &mut Output) -> Result<(), Stop> {
        let Some(file) = opened.files.iter().find(|file| file.is_readable) else { return Ok(()) };
        for (number, session) in opened.trace.sessions().iter().enumerate() {
            let table = session.processes();
            let note = |note: &str| out.note(&file.name, note);
            if table.is_empty() {
                note("no events of processes (Process/Start, DCStart, ..., or Microsoft-Windows-Kernel-Process)");
            } else if table.iter().all(|(_, process)| is_of_image(process)) {
                note("no events of processes (Process/Start, DCStart, ...); processes are known only from their images");
            }
            if !table.is_complete() {
                note("too many processes: some are missing");
            }
            let files = opened.files.iter().filter(|file| file.is_readable).count();
            let names = opened.trace.names(number).filter(|_| self.has_images);
            let nodes = if self.is_tree { tree::nodes(table) } else { tree::list(table) };
            let processes = nodes.iter().filter_map(|node| Some((node, table.get(node.index)?)));
            let is_tree = self.is_tree;
            let documents = processes.map(|(Node { index, depth }, process)| {
                let images = names.map(|names| names.images(*index)).transpose()?;
                Ok(Document::new((&file.name, files), table, (*index, process), is_tree.then_some(*depth), images))
            });
            self.print(documents, out)?;
        }
        Ok(())
    }

    fn print<'a>(&mut self, documents: impl Iterator<Item = Result<Document<'a>, Stop>>, out: &mut Output) -> Result<(), Stop> {
        let mut text = String::new();
        match out.format {
            Format::Json => {
                for document in documents {
                    out.write_line("", &document?)?;
                }
            }
            Format::Text => text = self.text(&documents.collect::<Result<Vec<_>, _>>()?),
            Format::Csv => {
                if !std::mem::replace(&mut self.is_headed, true) {
                    let columns = if self.has_images { IMAGES.to_vec() } else { [&COLUMNS[..], &MORE].concat() };
                    let depth = if self.is_tree { ",depth" } else { "" };
                    let _ = writeln!(text, "file,{}{depth}", columns.join(","));
                }
                for document in documents {
                    let document = document?;
                    let rows = match &document.images {
                        Some(images) => images.iter().map(|image| image_cells(&document, image).to_vec()).collect(),
                        None => vec![[&cells(&document, true)[..], &more_cells(&document)].concat()],
                    };
                    for row in rows {
                        let row: Vec<_> = [document.file.to_owned()]
                            .into_iter()
                            .chain(row)
                            .chain(document.depth.map(|depth| depth.to_string()))
                            .map(|cell| csv_cell(&Escaped(&cell).to_string()))
                            .collect();
                        let _ = writeln!(text, "{}", row.join(","));
                    }
                }
            }
        }
        Ok(out.put(|out| out.extend_from_slice(text.as_bytes()))?)
    }

    fn text(&self, documents: &[Document<'_>]) -> String {
        let row = |document: &Document<'_>| {
            let mut cells = cells(document, false).to_vec();
            if let Some(depth) = document.depth {
                let image = if cells[8].is_empty() { "?" } else { &cells[8] };
                cells[8] = "  ".repeat(depth.min(DEEPEST)) + image;
                cells = TREE.map(|column| std::mem::take(&mut cells[column])).to_vec();
            }
            Row { style: Style::new(), cells }
        };
        let header: Vec<_> = if self.is_tree { TREE.map(|column| COLUMNS[column]).to_vec() } else { COLUMNS.to_vec() };
        let rows: Vec<_> = documents.iter().map(row).collect();
        let mut lines = lines(&header, &rows, None).into_iter().map(|(_, line)| line);
        let mut text = String::new();
        // The first line of the table is its head.
        if let (Some(head), Some(Document { file, files, .. })) = (lines.next(), documents.first()) {
            let others = match files {
                ..=1 => String::new(),
                files => format!(", and {} of its session", Several(*files as u64 - 1, "file")),
            };
            let _ = writeln!(text, "{}{others}\n{head}", Escaped(file));
        }
        for (line, document) in lines.zip(documents) {
            let _ = writeln!(text, "{line}");
            for Image { path, base, size, .. } in document.images.iter().flatten() {
                let _ = writeln!(text, "          {base:#018x} {size:#10x}  {}", Escaped(path));
            }
        }
        text
    }
}

/// Whether only images state the process.
fn is_of_image(process: &Process) -> bool {
    process.start.as_ref().is_some_and(|start| start.by == StatedBy::Image)
        && process.image.is_none()
        && process.parent_id.is_none()
}

/// A cell, which is empty without a value.
fn cell(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn cells(document: &Document<'_>, is_csv: bool) -> [String; COLUMNS.len()] {
    let moment = |time: Option<i64>, utc: &Option<String>, known: Option<&str>, before: &str| match known {
        _ if is_csv => utc.clone().unwrap_or_default(),
        Some(BEFORE_TRACE) => before.to_owned(),
        Some(UNKNOWN) => UNKNOWN.to_owned(),
        _ => cell(time.map(FileTime)),
    };
    let text = |text: Option<&str>| if is_csv { cell(text) } else { cell(text.map(Escaped)) };
    [
        document.process.to_string(),
        cell(document.parent),
        text(document.parent_image),
        moment(document.start, &document.start_utc, document.start_known, ""),
        moment(document.end, &document.end_utc, document.end_known, "before the trace"),
        cell(document.exit_status.map(|status| named(format!("{status:#x}"), document.exit_status_name.filter(|_| !is_csv)))),
        cell(document.session),
        cell(document.user.map(|user| named(text(Some(user)), document.user_name.as_deref().filter(|_| !is_csv)))),
        text(document.image),
        text(document.command_line),
    ]
}

/// A code with its name.
fn named(code: String, name: Option<&str>) -> String {
    name.map_or(code.clone(), |name| format!("{code} {name}"))
}

fn more_cells(document: &Document<'_>) -> [String; MORE.len()] {
    let Process { start, end, .. } = document.known_by;
    let words = [document.start_known, by(start), document.end_known, by(end)];
    let [start_known, start_by, end_known, end_by] = words.map(cell);
    let [exit_status_name, user_name] = [document.exit_status_name, document.user_name.as_deref()].map(cell);
    let (index, parent) = (document.index.to_string(), cell(document.parent_index));
    [index, parent, start_known, start_by, end_known, end_by, exit_status_name, user_name]
}

fn image_cells(document: &Document<'_>, image: &Image) -> [String; IMAGES.len()] {
    let [base, size] = [image.base, image.size].map(|number| format!("{number:#x}"));
    let [load, unload] = [&image.load_utc, &image.unload_utc].map(|time| cell(time.as_ref()));
    [document.process.to_string(), base, size, load, unload, image.path.clone(), document.index.to_string()]
}
