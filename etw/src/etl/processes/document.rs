//! A process as a document: JSON, and the source of the cells of a table.

use etw_layouts_etl::{FileTime, codes};
use etw_layouts_trace::{self as trace, Known, LoadedImage, Moment, Process, ProcessIndex, ProcessTable, StatedBy};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// How a start or an end is known: its time is known, it was before the trace at an unknown time, or its time is unknown.
pub const TIME: &str = "time";
pub const BEFORE_TRACE: &str = "before_trace";
pub const UNKNOWN: &str = "unknown";

fn moment_known(known: &Known<Moment>) -> &'static str {
    match known.by {
        _ if known.value.time().is_some() => TIME,
        StatedBy::Start | StatedBy::DcStart | StatedBy::DcEnd | StatedBy::Defunct | StatedBy::ManifestRundown => BEFORE_TRACE,
        _ => UNKNOWN,
    }
}

/// A process.
#[derive(Serialize)]
pub struct Document<'a> {
    pub file: &'a str,
    /// The number of files of its session.
    pub files: usize,
    pub index: u32,
    pub process: u32,
    /// Address of the process object.
    key: Option<String>,
    /// Number since the boot.
    sequence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<usize>,
    pub parent: Option<u32>,
    pub parent_index: Option<u32>,
    pub parent_image: Option<&'a str>,
    /// In units of 100 ns since 1601.
    pub start: Option<i64>,
    pub start_utc: Option<String>,
    pub start_known: Option<&'static str>,
    pub end: Option<i64>,
    pub end_utc: Option<String>,
    pub end_known: Option<&'static str>,
    pub exit_status: Option<u32>,
    /// Its name, if it is the status of an exception.
    pub exit_status_name: Option<&'static str>,
    pub session: Option<u32>,
    pub user: Option<&'a str>,
    /// The name of a well-known user.
    pub user_name: Option<Cow<'static, str>>,
    pub image: Option<&'a str>,
    path: Option<&'a str>,
    pub command_line: Option<&'a str>,
    package: Option<&'a str>,
    /// The event that reports each value.
    #[serde(serialize_with = "known_by")]
    pub known_by: &'a Process,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<Image>>,
}

#[derive(Serialize)]
pub struct Image {
    pub path: String,
    #[serde(serialize_with = "hexadecimal")]
    pub base: u64,
    pub size: u64,
    load: Option<i64>,
    pub load_utc: Option<String>,
    unload: Option<i64>,
    pub unload_utc: Option<String>,
}

/// The event that reports a value.
pub fn by<T>(known: &Option<Known<T>>) -> Option<&'static str> {
    known.as_ref().map(|known| known.by.as_str())
}

fn known_by<S: Serializer>(process: &&Process, serializer: S) -> Result<S::Ok, S::Error> {
    let all = [
        ("parent", by(&process.parent_id)),
        ("start", by(&process.start)),
        ("end", by(&process.end)),
        ("exit_status", by(&process.exit_status)),
        ("session", by(&process.session)),
        ("user", by(&process.user)),
        ("image", by(&process.image)),
        ("path", by(&process.path)),
        ("command_line", by(&process.command_line)),
        ("package", by(&process.package)),
    ];
    serializer.collect_map(all.into_iter().filter(|(_, by)| by.is_some()))
}

fn hexadecimal<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{number:#x}"))
}

fn utc(time: Option<FileTime>) -> Option<String> {
    time.map(|time| time.rfc3339().to_string())
}

impl<'a> Document<'a> {
    pub fn new(
        (file, files): (&'a str, usize),
        table: &'a ProcessTable,
        (index, process): (ProcessIndex, &'a Process),
        depth: Option<usize>,
        images: Option<Vec<LoadedImage>>,
    ) -> Self {
        let time = |known: &Option<Known<Moment>>| known.as_ref().and_then(|known| known.value.time());
        let (start, end) = (time(&process.start), time(&process.end));
        let parent = process.parent.and_then(|parent| table.get(parent));
        Self {
            file,
            files,
            index: index.0,
            process: process.id,
            key: process.key.map(|key| format!("{key:#x}")),
            sequence: process.sequence,
            depth,
            parent: process.parent_id.as_ref().map(|id| id.value),
            parent_index: process.parent.map(|parent| parent.0),
            parent_image: parent.and_then(Process::image),
            start: start.map(|time| time.0),
            start_utc: utc(start),
            start_known: process.start.as_ref().map(moment_known),
            end: end.map(|time| time.0),
            end_utc: utc(end),
            end_known: process.end.as_ref().map(moment_known),
            exit_status: process.exit_status.as_ref().map(|status| status.value),
            exit_status_name: process.exit_status.as_ref().and_then(|status| codes::exit_status(status.value)),
            session: process.session.as_ref().map(|session| session.value),
            user: process.user(),
            user_name: process.user().and_then(codes::sid),
            image: process.image(),
            path: process.path.as_ref().map(|path| &*path.value),
            command_line: process.command_line(),
            package: process.package(),
            known_by: process,
            images: images.map(|images| images.into_iter().map(Image::new).collect()),
        }
    }
}

impl Image {
    fn new(LoadedImage { path, base, size, load, unload, .. }: LoadedImage) -> Self {
        let (load, unload) = (load.time(), unload.and_then(Moment::time));
        let [load_utc, unload_utc] = [load, unload].map(utc);
        Self { path, base, size, load: load.map(|time| time.0), load_utc, unload: unload.map(|time| time.0), unload_utc }
    }
}

/// The processes of a trace with their images, session by session.
pub fn documents(trace: &trace::Trace) -> Result<Vec<Document<'_>>, trace::Error> {
    let mut documents = Vec::new();
    for (number, session) in trace.sessions().iter().enumerate() {
        let file = session.files().first().and_then(|file| trace.files().get(*file)).map_or("", trace::TraceFile::name);
        let (files, table) = (session.files().len(), session.processes());
        for process in table.iter() {
            let images = trace.names(number).map(|names| names.images(process.0)).transpose()?;
            documents.push(Document::new((file, files), table, process, None, images));
        }
    }
    Ok(documents)
}
