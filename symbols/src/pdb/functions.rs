//! Functions, inlined functions and source lines at addresses of an image.

use super::{Error, container, ids};
use crate::pdb;
use msvc_demangler::DemangleFlags;
use pdb_addr2line::{Context, ContextPdbData, TypeFormatterFlags};
use self_cell::self_cell;
use std::borrow::Cow;
use std::fmt;

/// A function at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function {
    /// Name with namespaces and classes, without arguments.
    pub name: String,
    /// Path of the source file, as the compiler had it, and the line at the address.
    pub source: Option<(String, u32)>,
}

type Data = ContextPdbData<'static, 'static, container::Bytes<'static>>;
type Search<'a> = Context<'a, 'static>;

self_cell! {
    /// A program database, and the search for its functions, which refers to it.
    pub(super) struct Opened {
        owner: Data,
        #[not_covariant]
        dependent: Search,
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}

impl Opened {
    /// Opens a program database.
    ///
    /// # Errors
    ///
    /// The input is another format, or is corrupt.
    pub fn open(input: Vec<u8>) -> Result<Self, Error> {
        let unpacked = match container::msf(&input, usize::MAX)? {
            Cow::Owned(unpacked) => Some(unpacked),
            Cow::Borrowed(_) => None,
        };
        let mut file = container::open(unpacked.unwrap_or(input).into())?;
        ids::check(&pdb::stream(&mut file, ids::TYPES), &pdb::stream(&mut file, ids::IDS))?;
        let failed = |error: pdb_addr2line::Error| Error::damaged(error.to_string());
        let flags = TypeFormatterFlags::default() | TypeFormatterFlags::NO_ARGUMENTS;
        let data = ContextPdbData::try_from_pdb(file).map_err(failed)?;
        Self::try_new(data, |data| data.make_context_with_formatter_flags(flags)).map_err(failed)
    }

    /// The functions at an address: see [`Functions::at`](super::Functions::at).
    pub fn at(&self, address: u32) -> Vec<Function> {
        let function = |frame: pdb_addr2line::Frame<'_>| Function {
            name: frame.function.map_or_else(|| "?".to_owned(), plain),
            source: frame.file.map(|file| file.into_owned()).zip(frame.line),
        };
        self.with_dependent(|_, context| match context.find_frames(address) {
            Ok(Some(found)) => found.frames.into_iter().map(function).collect(),
            _ => Vec::new(),
        })
    }
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
