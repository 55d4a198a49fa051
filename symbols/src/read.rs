//! Any symbol file, by what it begins with.

use crate::model::SymbolTable;
use crate::snapshot::Snapshot;
use crate::wanted::Wanted;
use crate::{images, isf, pdb, snapshot};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// What a symbol file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// The facts of one program database or ISF table.
    Table(SymbolTable),
    /// A snapshot, which names its kernels itself. All of its types are kept.
    Snapshot(Snapshot),
    /// A table of images: a snapshot for each set of offsets that images of it have.
    Images(Vec<Snapshot>),
}

/// Reads a program database, an ISF table, a snapshot or a table of images. The content tells which it is; the file's name does not matter.
///
/// # Errors
///
/// What the input is if it is none of them, or what is wrong with it. No input panics.
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

/// Where global variables and functions are, by name, in bytes from where their image begins: of a program database or an ISF table. A name
/// that the file lacks is left out. Snapshots and tables of images have none at all.
///
/// # Errors
///
/// What the input is if it is no symbol file, or what is wrong with it. No input panics.
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

/// Why a symbol file cannot be read, and what to do. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input is empty.
    Empty,
    /// The input begins like no symbol file.
    Unrecognized,
    /// A snapshot or a table of images that is not UTF-8.
    Utf8 {
        /// Where, in bytes.
        offset: usize,
    },
    /// A program database, or what is taken for one.
    Pdb(pdb::Error),
    /// An ISF table.
    Isf(isf::Error),
    /// A snapshot.
    Snapshot(snapshot::Error),
    /// A table of images.
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
            Error::Empty => f.write_str("an empty file: fetch or make it again"),
            Error::Unrecognized => f.write_str(
                "no symbol file: give a program database (.pdb, .pdz), an ISF table (.json, .json.xz), a snapshot (.facts) or a table of \
                 images (.tsv)",
            ),
            Error::Utf8 { offset } => write!(f, "a text that is not UTF-8 at byte {offset}: fetch or make it again"),
            Error::Pdb(error) => error.fmt(f),
            Error::Isf(error) => error.fmt(f),
            Error::Snapshot(error) => error.fmt(f),
            Error::Images(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
