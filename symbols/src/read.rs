//! Reading of any supported symbol file, by its first bytes.

use crate::model::SymbolTable;
use crate::snapshot::Snapshot;
use crate::wanted::Wanted;
use crate::{images, isf, pdb, snapshot};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Contents of a symbol file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// The facts of a program database or ISF table.
    Table(SymbolTable),
    /// A snapshot, which states its builds. All of its types are kept.
    Snapshot(Snapshot),
    /// A table of images: a snapshot for each set of offsets.
    Images(Vec<Snapshot>),
}

/// Reads a program database, an ISF table, a snapshot or a table of images. The format is detected from the content, not from the
/// file name.
///
/// # Errors
///
/// The actual format of the input if it is not supported, or the error of its reader. No input causes a panic.
pub fn read(input: &[u8], wanted: &Wanted) -> Result<Symbols, Error> {
    if input.is_empty() {
        return Err(Error::Empty);
    }
    if pdb::recognizes(input) {
        return Ok(Symbols::Table(pdb::read(input, wanted)?));
    }
    let text = || str::from_utf8(input).map_err(|error| Error::Utf8 { offset: error.valid_up_to() });
    if input.starts_with(snapshot::MAGIC.as_bytes()) {
        return Ok(Symbols::Snapshot(Snapshot::parse(text()?)?));
    }
    if images::recognizes(input) {
        return Ok(Symbols::Images(images::read(text()?, wanted)?));
    }
    match isf::read(input, wanted) {
        Err(isf::Error::Unrecognized) => Err(Error::Unrecognized),
        result => Ok(Symbols::Table(result?)),
    }
}

/// Addresses of global variables and functions by name, in bytes from the image base, from a program database or an ISF table.
/// Names that the file lacks are omitted. Snapshots and tables of images give none.
///
/// # Errors
///
/// The actual format of the input if it is not a symbol file, or the error of its reader. No input causes a panic.
pub fn globals<'n>(input: &[u8], names: impl IntoIterator<Item = &'n str>) -> Result<BTreeMap<String, u64>, Error> {
    let names = names.into_iter().collect();
    if input.is_empty() {
        return Err(Error::Empty);
    }
    if pdb::recognizes(input) {
        return Ok(pdb::globals(input, &names)?);
    }
    if input.starts_with(snapshot::MAGIC.as_bytes()) || images::recognizes(input) {
        return Ok(BTreeMap::new());
    }
    match isf::globals(input, &names) {
        Err(isf::Error::Unrecognized) => Err(Error::Unrecognized),
        result => Ok(result?),
    }
}

/// Error of reading a symbol file, with a remedy. The message does not include the file name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input is empty.
    Empty,
    /// The input does not begin as any supported symbol file.
    Unrecognized,
    /// A snapshot or a table of images that is not UTF-8.
    Utf8 {
        /// Offset in bytes.
        offset: usize,
    },
    /// Error of a program database, or of a file similar to one.
    Pdb(pdb::Error),
    /// Error of an ISF table.
    Isf(isf::Error),
    /// Error of a snapshot.
    Snapshot(snapshot::Error),
    /// Error of a table of images.
    Images(images::Error),
}

impl From<pdb::Error> for Error {
    fn from(error: pdb::Error) -> Error {
        Error::Pdb(error)
    }
}

impl From<isf::Error> for Error {
    fn from(error: isf::Error) -> Error {
        Error::Isf(error)
    }
}

impl From<snapshot::Error> for Error {
    fn from(error: snapshot::Error) -> Error {
        Error::Snapshot(error)
    }
}

impl From<images::Error> for Error {
    fn from(error: images::Error) -> Error {
        Error::Images(error)
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::Empty => f.write_str("empty file; download or create it again"),
            Error::Unrecognized => f.write_str(
                "not a symbol file; name a program database (.pdb, .pdz), an ISF table (.json, .json.xz), a snapshot (.facts) or a table of \
                 images (.tsv)",
            ),
            Error::Utf8 { offset } => write!(f, "invalid UTF-8 at byte {offset}; download or create the file again"),
            Error::Pdb(error) => error.fmt(f),
            Error::Isf(error) => error.fmt(f),
            Error::Snapshot(error) => error.fmt(f),
            Error::Images(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
