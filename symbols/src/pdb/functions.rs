//! Functions, inlined functions and source lines at addresses of an image.

use super::{Error, container, ids};
use crate::pdb;
use msvc_demangler::DemangleFlags;
use pdb_addr2line::{Context, ContextPdbData, TypeFormatterFlags};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// The functions of a program database. It is read by a thread of its own, which ends with this value.
///
/// `pdb-addr2line` assumes valid files, and files from elsewhere can be anything. Records that make it recurse without end are refused; a panic
/// ends only the thread; and a search that takes longer than 30 seconds is given up. Then nothing is found in the file any more.
#[derive(Debug)]
pub struct Functions {
    asked: Sender<u32>,
    found: Receiver<Vec<Function>>,
    has_failed: bool,
}

/// A function at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function {
    /// Name with namespaces and classes, without arguments.
    pub name: String,
    /// Path of the source file, as the compiler had it, and the line at the address.
    pub source: Option<(String, u32)>,
}

/// Time limit for opening the functions of a file, and for each search.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Size of the stack of the thread, in bytes: names of nested types are written recursively.
const STACK: usize = 16 << 20;

impl Functions {
    /// Opens a program database.
    ///
    /// # Errors
    ///
    /// The input is another format, is corrupt, or cannot be read within 30 seconds. No input causes a panic of the caller.
    pub fn open(input: Vec<u8>) -> Result<Self, Error> {
        let (asked, questions) = channel();
        let (answer, found) = channel();
        let (report, opened) = channel();
        let work = move || match answers(&input, &questions, &answer, &report) {
            Ok(()) => {}
            Err(error) => drop(report.send(Err(error))),
        };
        let spawned = thread::Builder::new().name("program database".to_owned()).stack_size(STACK).spawn(work);
        spawned.map_err(|error| Error::damaged(format!("no thread for it: {error}")))?;
        match opened.recv_timeout(TIME_LIMIT) {
            Ok(result) => result.map(|()| Self { asked, found, has_failed: false }),
            Err(_) => Err(Error::damaged("its functions cannot be read")),
        }
    }

    /// The functions at an address, in bytes from the start of the image: the inlined ones first, the innermost of them first, and the function
    /// that contains the address last. Empty if none is known. A public symbol has no size, so the function of one can be the nearest before
    /// the address.
    pub fn at(&mut self, address: u32) -> Vec<Function> {
        if self.has_failed || self.asked.send(address).is_err() {
            return Vec::new();
        }
        let found = self.found.recv_timeout(TIME_LIMIT);
        self.has_failed = found.is_err();
        found.unwrap_or_default()
    }

    /// Whether a search failed, so that nothing is found any more.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }
}

/// Answers questions until no more can be asked.
fn answers(
    input: &[u8],
    questions: &Receiver<u32>,
    answer: &Sender<Vec<Function>>,
    opened: &Sender<Result<(), Error>>,
) -> Result<(), Error> {
    let msf = container::msf(input, usize::MAX)?;
    let mut file = container::open(&msf)?;
    ids::check(&pdb::stream(&mut file, ids::TYPES), &pdb::stream(&mut file, ids::IDS))?;
    let failed = |error: pdb_addr2line::Error| Error::damaged(error.to_string());
    let data = ContextPdbData::try_from_pdb(file).map_err(failed)?;
    let flags = TypeFormatterFlags::default() | TypeFormatterFlags::NO_ARGUMENTS;
    let context = data.make_context_with_formatter_flags(flags).map_err(failed)?;
    let _ = opened.send(Ok(()));
    for address in questions {
        if answer.send(at(&context, address)).is_err() {
            break;
        }
    }
    Ok(())
}

fn at(context: &Context<'_, '_>, address: u32) -> Vec<Function> {
    let Ok(Some(found)) = context.find_frames(address) else { return Vec::new() };
    let function = |frame: pdb_addr2line::Frame<'_>| Function {
        name: frame.function.map_or_else(|| "?".to_owned(), plain),
        source: frame.file.map(|file| file.into_owned()).zip(frame.line),
    };
    found.frames.into_iter().map(function).collect()
}

/// Maximum length of a decorated name that is undecorated, in bytes, and maximum number of digits in it. Digits refer to earlier parts, which are
/// copied, so each can multiply the size of the result; the decorated names of the Windows kernel have few.
const MAX_DECORATED: usize = 4096;
const MAX_REFERENCES: usize = 48;

/// The name of a function whose public symbol is decorated.
fn plain(name: String) -> String {
    let references = name.bytes().filter(u8::is_ascii_digit).count();
    if !name.starts_with('?') || name.len() > MAX_DECORATED || references > MAX_REFERENCES {
        return name;
    }
    msvc_demangler::demangle(&name, DemangleFlags::NAME_ONLY).unwrap_or(name)
}
