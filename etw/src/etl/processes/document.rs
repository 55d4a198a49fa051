//! Processes in JSON.

use super::parent;
use etw_layouts_etl::FileTime;
use etw_layouts_trace::{self as trace, LoadedImage, Moment, Process, ProcessIndex, ProcessTable, StatedBy};
use serde::Serialize;
use std::fmt::{self, Display};

/// How a start or an end is known.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// Its time is known.
    Time,
    /// It was before the trace, at an unknown time.
    BeforeTrace,
    /// Its time is unknown.
    Unknown,
}

impl Known {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::BeforeTrace => "before_trace",
            Self::Unknown => "unknown",
        }
    }
}

/// How a start or an end is known.
pub fn moment_known(known: &trace::Known<Moment>) -> Known {
    match known.by {
        _ if known.value.time().is_some() => Known::Time,
        StatedBy::Start | StatedBy::DcStart | StatedBy::DcEnd | StatedBy::Defunct | StatedBy::ManifestRundown => {
            Known::BeforeTrace
        }
        _ => Known::Unknown,
    }
}

/// A process.
#[derive(Serialize)]
pub struct Document<'a> {
    file: &'a str,
    /// The number of files of its session.
    files: usize,
    index: u32,
    process: u32,
    /// Address of the process object.
    key: Option<String>,
    /// Number since the boot.
    sequence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<usize>,
    parent: Option<u32>,
    parent_index: Option<u32>,
    parent_image: Option<&'a str>,
    /// In units of 100 ns since 1601.
    start: Option<i64>,
    start_utc: Option<String>,
    start_known: Option<Known>,
    end: Option<i64>,
    end_utc: Option<String>,
    end_known: Option<Known>,
    exit_status: Option<u32>,
    session: Option<u32>,
    user: Option<&'a str>,
    image: Option<&'a str>,
    path: Option<&'a str>,
    command_line: Option<&'a str>,
    package: Option<&'a str>,
    known_by: KnownBy,
    #[serde(skip_serializing_if = "Option::is_none")]
    images: Option<Vec<Image>>,
}

/// The event that reports each value.
#[derive(Serialize)]
struct KnownBy {
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_line: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<&'static str>,
}

#[derive(Serialize)]
struct Image {
    path: String,
    base: String,
    size: u64,
    load: Option<i64>,
    load_utc: Option<String>,
    unload: Option<i64>,
    unload_utc: Option<String>,
}

impl<'a> Document<'a> {
    pub fn new(
        (file, files): (&'a str, usize),
        table: &'a ProcessTable,
        (index, process): (ProcessIndex, &'a Process),
        depth: Option<usize>,
        images: Option<Vec<LoadedImage>>,
    ) -> Self {
        let time = |known: &Option<trace::Known<Moment>>| known.as_ref().and_then(|known| known.value.time());
        let utc = |time: Option<FileTime>| time.map(|time| time.rfc3339().to_string());
        let (start, end) = (time(&process.start), time(&process.end));
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
            parent_image: parent(table, process).and_then(Process::image),
            start: start.map(|time| time.0),
            start_utc: utc(start),
            start_known: process.start.as_ref().map(moment_known),
            end: end.map(|time| time.0),
            end_utc: utc(end),
            end_known: process.end.as_ref().map(moment_known),
            exit_status: process.exit_status.as_ref().map(|status| status.value),
            session: process.session.as_ref().map(|session| session.value),
            user: process.user(),
            image: process.image(),
            path: process.path.as_ref().map(|path| &*path.value),
            command_line: process.command_line(),
            package: process.package(),
            known_by: KnownBy::new(process),
            images: images.map(|images| images.into_iter().map(Image::new).collect()),
        }
    }
}

impl KnownBy {
    fn new(process: &Process) -> Self {
        fn by<T>(known: &Option<trace::Known<T>>) -> Option<&'static str> {
            known.as_ref().map(|known| known.by.as_str())
        }
        Self {
            parent: by(&process.parent_id),
            start: by(&process.start),
            end: by(&process.end),
            exit_status: by(&process.exit_status),
            session: by(&process.session),
            user: by(&process.user),
            image: by(&process.image),
            path: by(&process.path),
            command_line: by(&process.command_line),
            package: by(&process.package),
        }
    }
}

impl Image {
    fn new(image: LoadedImage) -> Self {
        let utc = |time: Option<FileTime>| time.map(|time| time.rfc3339().to_string());
        let (load, unload) = (image.load.time(), image.unload.and_then(Moment::time));
        Self {
            path: image.path,
            base: format!("{:#x}", image.base),
            size: image.size,
            load: load.map(|time| time.0),
            load_utc: utc(load),
            unload: unload.map(|time| time.0),
            unload_utc: utc(unload),
        }
    }
}

/// Only needed for the bounds of `Output::line`: text prints a table instead.
impl Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.process)
    }
}

/// The processes of a trace with their images, session by session.
///
/// # Errors
///
/// A file cannot be read, or changed since it was opened.
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
