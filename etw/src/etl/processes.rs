//! `processes`.

use super::Done;
use super::traces::{Files, Note, Opened};
use crate::input::{self, Input};
use crate::output::stop::Stop;
use crate::output::{Escaped, Format, Output};
use crate::schemas::SchemaOptions;
use anstyle::Style;
use etw_layouts_cli::is_formula;
use etw_layouts_cli::text_table::{Row, lines};
use etw_layouts_etl::FileTime;
use etw_layouts_etl::processes::{LoadedImage, Process, Processes};
use serde::Serialize;
use std::fmt::{self, Display, Write};
use std::io;

/// List the processes of trace files: process ID, parent, start, end, exit status, terminal session, user SID, image and
/// command line. Exit with status 1 if there are diagnostics.
///
/// The source is the kernel events Process/Start, End, DCStart, DCEnd and Defunct, which a session contains if its
/// kernel flag PROCESS is enabled. A process without a start time started before the trace; a process without
/// an end time was running when the trace ended. Processes that started before the trace come first. Text omits
/// columns without any value; CSV and JSON contain all columns.
///
///     etw etl processes trace.etl
///     etw etl processes --images trace.etl
///     etw etl processes --format csv folder
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
    /// List the images that were loaded in each process. CSV then has a row for each image instead of each process.
    #[arg(long)]
    images: bool,
    #[command(flatten)]
    pub(crate) schemas: SchemaOptions,
}

/// Names of the columns of processes.
const COLUMNS: [&str; 9] = ["process", "parent", "start", "end", "exit_status", "session", "user", "image", "command_line"];

/// Names of the columns of images.
const IMAGES: [&str; 6] = ["process", "base", "size", "load", "unload", "path"];

/// Lists the processes of each session.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let files = Files::open(inputs, out);
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    let mut listing = Listing { args, is_headed: false };
    for files in files.by_session() {
        let opened = Opened::read(files, &args.schemas, out, |_| {})?;
        done.unusable += opened.unusable;
        listing.session(&opened, out)?;
        done.add(opened.end(out));
    }
    Ok(done)
}

struct Listing<'a> {
    args: &'a Args,
    is_headed: bool,
}

impl Listing<'_> {
    fn session(&mut self, opened: &Opened, out: &mut Output) -> Result<(), Stop> {
        let name = &opened.files[0].name;
        let mut processes = Processes::default();
        for event in opened.trace.events().in_file_order() {
            let event = event.map_err(|why| Stop::Input(why.to_string()))?;
            let _ = processes.add(&event.header(), event.file().clock().system_time(event.tick()));
        }
        let processes = processes.finish();
        if processes.is_empty() {
            let note = "no kernel process events (Process/Start, DCStart, ...); events of other providers, such as \
                        Microsoft-Windows-Kernel-Process, are not used";
            out.aside(&Note { file: name, note: note.into() });
        }
        let is_of_image = |process: &Process| process.image.is_none() && process.parent.is_none() && process.start.is_none();
        if !processes.is_empty() && processes.iter().all(is_of_image) {
            let note = "no kernel process events (Process/Start, DCStart, ...); processes are known only from their images";
            out.aside(&Note { file: name, note: note.into() });
        }
        Ok(self.print(name, &processes, out)?)
    }

    fn print(&mut self, file: &str, processes: &[Process], out: &mut Output) -> io::Result<()> {
        let images = self.args.images;
        match out.format {
            Format::Json => processes.iter().try_for_each(|process| out.line(&Document::new(file, process, images))),
            Format::Text => {
                let row = |process| Row { style: Style::new(), cells: cells(process, false) };
                let mut lines =
                    lines(&COLUMNS, &processes.iter().map(row).collect::<Vec<_>>(), None).into_iter().map(|(_, line)| line);
                let mut text = String::new();
                // The first line of the table is its head.
                if let Some(head) = lines.next().filter(|_| !processes.is_empty()) {
                    let _ = writeln!(text, "{}\n{head}", Escaped(file));
                }
                for (line, process) in lines.zip(processes) {
                    let _ = writeln!(text, "{line}");
                    for image in process.images.iter().filter(|_| images) {
                        let _ = writeln!(text, "          {:#018x} {:#10x}  {}", image.base, image.size, Escaped(&image.path));
                    }
                }
                out.put(|out| out.extend_from_slice(text.as_bytes()))
            }
            Format::Csv => {
                let mut text = String::new();
                if !std::mem::replace(&mut self.is_headed, true) {
                    let columns: &[&str] = if images { &IMAGES } else { &COLUMNS };
                    let _ = writeln!(text, "file,{}", columns.join(","));
                }
                for process in processes {
                    let rows = match images {
                        true => process.images.iter().map(|image| image_cells(process, image)).collect(),
                        false => vec![cells(process, true)],
                    };
                    for row in rows {
                        let row: Vec<_> = [file.to_owned()].into_iter().chain(row).map(|cell| quoted(&cell)).collect();
                        let _ = writeln!(text, "{}", row.join(","));
                    }
                }
                out.put(|out| out.extend_from_slice(text.as_bytes()))
            }
        }
    }
}

fn cells(process: &Process, is_csv: bool) -> Vec<String> {
    let time = |time: Option<i64>| match time {
        Some(time) if is_csv => FileTime(time).rfc3339().to_string(),
        Some(time) => FileTime(time).to_string(),
        None => String::new(),
    };
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let text = |text: &Option<String>| match text {
        Some(text) if is_csv => text.clone(),
        Some(text) => Escaped(text).to_string(),
        None => String::new(),
    };
    vec![
        process.id.to_string(),
        number(process.parent),
        time(process.start),
        time(process.end),
        process.exit_status.map(|status| format!("{status:#x}")).unwrap_or_default(),
        number(process.session),
        text(&process.user),
        text(&process.image),
        text(&process.command_line),
    ]
}

fn image_cells(process: &Process, image: &LoadedImage) -> Vec<String> {
    let time = |time: Option<i64>| time.map(|time| FileTime(time).rfc3339().to_string()).unwrap_or_default();
    let (base, size) = (format!("{:#x}", image.base), format!("{:#x}", image.size));
    vec![process.id.to_string(), base, size, time(image.load), time(image.unload), image.path.clone()]
}

/// A cell of CSV (RFC 4180); a formula gets an apostrophe in front.
fn quoted(cell: &str) -> String {
    let cell = Escaped(cell).to_string();
    let cell = if is_formula(cell.as_bytes()) { format!("'{cell}") } else { cell };
    if cell.contains(['"', ',']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

#[derive(Serialize)]
struct Document<'a> {
    file: &'a str,
    process: u32,
    parent: Option<u32>,
    /// In units of 100 ns since 1601.
    start: Option<i64>,
    start_utc: Option<String>,
    end: Option<i64>,
    end_utc: Option<String>,
    exit_status: Option<u32>,
    session: Option<u32>,
    user: Option<&'a str>,
    image: Option<&'a str>,
    command_line: Option<&'a str>,
    package: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    images: Option<Vec<ImageDocument<'a>>>,
}

#[derive(Serialize)]
struct ImageDocument<'a> {
    path: &'a str,
    base: String,
    size: u64,
    load: Option<i64>,
    load_utc: Option<String>,
    unload: Option<i64>,
    unload_utc: Option<String>,
}

impl<'a> Document<'a> {
    fn new(file: &'a str, process: &'a Process, images: bool) -> Self {
        let utc = |time: Option<i64>| time.map(|time| FileTime(time).rfc3339().to_string());
        let image = |image: &'a LoadedImage| ImageDocument {
            path: &image.path,
            base: format!("{:#x}", image.base),
            size: image.size,
            load: image.load,
            load_utc: utc(image.load),
            unload: image.unload,
            unload_utc: utc(image.unload),
        };
        Self {
            file,
            process: process.id,
            parent: process.parent,
            start: process.start,
            start_utc: utc(process.start),
            end: process.end,
            end_utc: utc(process.end),
            exit_status: process.exit_status,
            session: process.session,
            user: process.user.as_deref(),
            image: process.image.as_deref(),
            command_line: process.command_line.as_deref(),
            package: process.package.as_deref(),
            images: images.then(|| process.images.iter().map(image).collect()),
        }
    }
}

/// Only needed for the bounds of `Output::line`: text prints a table instead.
impl Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.process)
    }
}
