//! Input files: single files, files in folders, and standard input.

pub mod kind;

use crate::output::file_progress::FileProgress;
use crate::output::stop::{Done, Stop};
use crate::output::{Format, Grouped, Output};
use etw_layouts_cli::{Outcome, unreadable as reason};
use etw_layouts_etl::{DecodedBuffer, Diagnostic, LogFile, Reader};
use etw_layouts_trace::{FileSource, Source};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Arguments of every command.
#[derive(clap::Args)]
pub struct Files {
    /// Trace files, folders to search for *.etl, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Output format
    ///
    /// In JSON, each line is one object, also for notes, diagnostics and errors on standard error. In diagnostics and events,
    /// `buffer` is the index of the buffer, `buffer_offset` its offset in the file, and `offset` an offset in the decompressed
    /// buffer. Times are 64-bit numbers in units of 100 ns since
    /// 1601. Tools that use floating-point numbers, such as jq, round these numbers; use the `…_utc` strings
    /// (RFC 3339) in such tools.
    #[arg(long, value_enum, default_value_t = Format::Text, verbatim_doc_comment)]
    pub format: Format,
    /// Print the first hundred diagnostics of each kind and file with their places, instead of one line for each kind and file.
    #[arg(long)]
    pub diagnostics: bool,
}

/// An input file, readable or not.
pub struct Input {
    /// The name as given by the user.
    pub name: String,
    path: Result<PathBuf, String>,
}

/// The kind of file to search folders for.
pub struct Kind {
    /// The file name extension, without the dot; `None` for all files.
    pub ending: Option<&'static str>,
    /// The name of the kind.
    pub name: &'static str,
}

/// The path that means standard input.
const STDIN: &str = "-";

pub const TRACES: Kind = Kind { ending: Some("etl"), name: "trace file" };

/// The files of all paths without duplicates, because a file read twice would count its events twice.
pub fn find_all(paths: &[PathBuf], kind: &Kind, out: &Output) -> Vec<Input> {
    let mut inputs: Vec<Input> = paths.iter().flat_map(|path| find(path, kind, out)).collect();
    let mut known = BTreeMap::new();
    inputs.retain(|input| {
        let Some(file) = input.path().ok().and_then(identity) else { return true };
        let Some(earlier) = known.get(&file) else {
            known.insert(file, input.name.clone());
            return true;
        };
        out.note(&input.name, &format!("duplicate: same file as {earlier}; read once"));
        false
    });
    inputs
}

/// Runs a command on each file. Reports a file that cannot be read, and continues with the next one.
pub fn each<'i>(
    inputs: &'i [Input],
    out: &mut Output,
    mut run: impl FnMut(&'i Input, &mut Output) -> Result<Outcome, Stop>,
) -> Result<Done, Stop> {
    let mut done = Done::default();
    for input in inputs {
        match run(input, out) {
            Ok(outcome) => done.add(outcome),
            Err(Stop::Input(why)) => {
                done.unusable += 1;
                out.refused(&input.name, &why);
            }
            Err(stop) => return Err(stop),
        }
    }
    Ok(done)
}

/// The canonical path of a file; `None` if the file does not exist.
fn identity(path: &Path) -> Option<PathBuf> {
    if path == Path::new(STDIN) { Some(path.to_owned()) } else { fs::canonicalize(path).ok() }
}

/// The file at the path, standard input, or the files of a kind in a folder and its subfolders.
fn find(path: &Path, kind: &Kind, out: &Output) -> Vec<Input> {
    let input = |path: PathBuf| Input { name: path.display().to_string(), path: Ok(path) };
    // A missing file is reported when it is opened.
    if path == Path::new(STDIN) || !path.is_dir() {
        return vec![input(path.to_owned())];
    }
    let mut found = Vec::new();
    let mut refused = Vec::new();
    let mut links = Vec::new();
    search(path, kind.ending, &mut found, &mut refused, &mut links);
    for link in links {
        out.note(&link.display().to_string(), "link to a folder; not searched; name it to read its files");
    }
    if !found.is_empty() {
        out.searched(&path.display().to_string(), kind.name, found.len());
    }
    if found.is_empty() && refused.is_empty() {
        refused.push((
            path.to_owned(),
            match kind.ending {
                Some(ending) => format!("no {}s (*.{ending}) in this folder or its subfolders; name a file", kind.name),
                None => format!("no {}s in this folder or its subfolders", kind.name),
            },
        ));
    }
    let refused = refused.into_iter().map(|(path, why)| Input { name: path.display().to_string(), path: Err(why) });
    found.into_iter().map(input).chain(refused).collect()
}

/// Adds the files with an extension in a folder and its subfolders, sorted by name. Does not follow links to folders, which could
/// form a loop; reports them.
fn search(
    folder: &Path,
    ending: Option<&str>,
    found: &mut Vec<PathBuf>,
    refused: &mut Vec<(PathBuf, String)>,
    links: &mut Vec<PathBuf>,
) {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return refused.push((folder.to_owned(), error.to_string())),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let has_ending =
            |ending: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(OsStr::new(ending)));
        let is_wanted = ending.is_none_or(has_ending);
        if entry.file_type().is_ok_and(|ty| ty.is_dir()) {
            search(&path, ending, found, refused, links);
        } else if path.is_dir() {
            links.push(path);
        } else if is_wanted {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => found.push(path),
                Ok(_) => refused.push((path, "neither a file nor a folder".to_owned())),
                Err(error) => refused.push((path, reason(&error))),
            }
        }
    }
}

impl Input {
    /// The path, or the error from the search.
    pub fn path(&self) -> Result<&Path, Stop> {
        self.path.as_deref().map_err(|why| Stop::Input(why.clone()))
    }

    /// Opens the file to read it by position. A stream is copied to a temporary file.
    pub fn source(&self, out: &Output) -> Result<FileSource, String> {
        let path = self.path.as_ref().map_err(String::clone)?;
        let source = if path == Path::new(STDIN) { FileSource::spool(io::stdin().lock()) } else { FileSource::open(path) };
        let source = source.map_err(|error| reason(&error))?;
        if source.is_copy() {
            let length = Grouped(source.length());
            out.note(&self.name, &format!("stream copied to a temporary file of {length} bytes, because it is read twice"));
        }
        Ok(source)
    }

    /// Opens the file.
    pub fn open(&self) -> Result<Opened<'_>, Stop> {
        let path = self.path()?;
        let progress = Rc::new(FileProgress::new(&self.name));
        let mut inner: Box<dyn Read> = if path == Path::new(STDIN) {
            Box::new(io::stdin().lock())
        } else {
            let file = File::open(path).map_err(unreadable)?;
            if let Some(length) = file.metadata().ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len()) {
                progress.expect(length);
            }
            Box::new(file)
        };
        let mut head = Vec::new();
        inner.by_ref().take(kind::HEAD).read_to_end(&mut head).map_err(unreadable)?;
        if let Some(why) = kind::no_trace(&head) {
            return Err(Stop::Input(why));
        }
        let inner = Box::new(Cursor::new(head).chain(inner));
        Ok(Opened { name: &self.name, bytes: Bytes { inner, progress: progress.clone() }, progress })
    }
}

/// An open file.
pub struct Opened<'a> {
    /// The name as given by the user.
    pub name: &'a str,
    pub progress: Rc<FileProgress>,
    bytes: Bytes,
}

// Only `api`, which needs the feature, has other sources.
impl<'a> Opened<'a> {
    /// Bytes from another source, without progress.
    pub fn of(name: &'a str, source: impl Read + 'static) -> Self {
        let progress = Rc::new(FileProgress::new(name));
        progress.hide();
        Self { name, bytes: Bytes { inner: Box::new(source), progress: progress.clone() }, progress }
    }
}

/// The size of the read buffer.
const CAPACITY: usize = 1 << 18;

impl Opened<'_> {
    /// Reads the file as a stream.
    pub fn reader(self) -> Result<DecodedBuffers, Stop> {
        Reader::new(BufReader::with_capacity(CAPACITY, self.bytes)).map(DecodedBuffers).map_err(unreadable)
    }
}

/// The buffers of a trace, streamed.
pub struct DecodedBuffers(Reader<BufReader<Bytes>>);

impl DecodedBuffers {
    pub fn log_file(&self) -> &LogFile {
        self.0.log_file()
    }

    /// The next buffer, or the diagnostic in its place.
    pub fn next(&mut self) -> Result<Option<Result<DecodedBuffer<'_>, Diagnostic>>, Stop> {
        self.0.next_buffer().map_err(unreadable)
    }
}

struct Bytes {
    inner: Box<dyn Read>,
    progress: Rc<FileProgress>,
}

impl Read for Bytes {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.progress.add(count as u64);
        Ok(count)
    }
}

/// A portable file name: ASCII letters and digits, `-`, `_` and `.`, with a length that every file system accepts.
pub fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    name.chars().map(plain).take(100).collect()
}

fn unreadable(error: io::Error) -> Stop {
    Stop::Input(reason(&error))
}
