//! Tables of kernel images: the offsets of a few members in each, and the addresses of global variables.
//!
//! ```text
//! file          version        arch   timestamp   size_of_image  ETW_GUID_ENTRY.Guid  ETW_REG_ENTRY.GuidEntry
//! ntoskrnl.exe  10.0.17763.55  arm64  0x5ba1ecc5  0x008f1000     0x0018               0x0020
//! ```
//!
//! ```text
//! build           arch  EtwThreatIntProvRegHandle  ETW_REG_ENTRY.GuidEntry
//! 10.0.17763.107  x64   3fe1a8                     20
//! ```
//!
//! Columns are separated by a single tab. The first line names them: first those that identify an image, then members as
//! `STRUCTURE.MEMBER`, and global variables as plain names. Each further line describes an image. In the first form, the identity
//! consists of file, version, architecture (`x86`, `x64` or `arm64`), and the time stamp and size in the image header; both
//! numbers are hexadecimal with `0x`. In the second form it consists of build and architecture, which several images can share.
//! Member offsets and variable addresses, in bytes from the image base, are hexadecimal, with or without `0x`. An address of 0
//! means unknown.
//!
//! An image is partial evidence: it was examined only for these members and variables.

use crate::identity::{ImageFile, is_file_name};
use crate::model::{Arch, Globals, Offsets, Types};
use crate::snapshot::text::{build, hexadecimal};
use crate::snapshot::{Kernel, Snapshot};
use crate::wanted::Wanted;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Maximum number of images in a table.
pub const MAX_IMAGES: usize = 65_536;

/// Maximum number of members and variables in a table.
pub const MAX_MEMBERS: usize = 64;

/// Producer of facts of images that are identified by file, time stamp and size.
pub const PRODUCER: &str = "a table of kernel images";

/// Producer of facts of images that are identified by build and architecture only.
pub const BY_BUILD: &str = "a table of kernel images by build and architecture";

/// The identity columns of each form.
const IMAGE: &[&str] = &["file", "version", "arch", "timestamp", "size_of_image"];
const BUILD: &[&str] = &["build", "arch"];

/// Whether a file begins with a table of images. The first 41 bytes suffice.
pub fn recognizes(input: &[u8]) -> bool {
    input.starts_with(IMAGE.join("\t").as_bytes()) || input.starts_with((BUILD.join("\t") + "\t").as_bytes())
}

/// Reads a table of images. Returns one snapshot for each set of offsets and architecture, with its images in table order, and
/// the addresses of variables for each image. Structures and variables that are not wanted are omitted.
///
/// # Errors
///
/// The first position that violates the format in [`self`](crate::images), with the cause; or a duplicate image.
pub fn read(text: &str, wanted: &Wanted) -> Result<Vec<Snapshot>, Error> {
    let mut lines = (1..).zip(text.lines());
    let head = Head::read(lines.next().map_or("", |(_, line)| line))?;
    let variables = wanted.variables();
    let mut places = BTreeMap::new();
    let mut found: BTreeMap<(Arch, Vec<u64>), Vec<Kernel>> = BTreeMap::new();
    for (line, text) in lines {
        if line > MAX_IMAGES + 1 {
            return Err(Error { line, column: None, reason: format!("more than {MAX_IMAGES} images") });
        }
        let (mut kernel, image, values) = head.row(line, text)?;
        if let Some(first) = places.insert(image, line) {
            return Err(Error { line, column: None, reason: format!("duplicate of the image in line {first}") });
        }
        let mut offsets = Vec::new();
        for (column, value) in head.columns.iter().zip(values) {
            match *column {
                Column::Member(structure, _) if wanted.names(structure) => offsets.push(value),
                Column::Variable(name) if value != 0 && variables.contains(name) => {
                    kernel.globals.insert(name.to_owned(), value);
                }
                _ => {}
            }
        }
        found.entry((kernel.arch, offsets)).or_default().push(kernel);
    }
    if found.is_empty() {
        return Err(Error { line: 2, column: None, reason: "table has no images".to_owned() });
    }
    let members = head.columns.iter().filter_map(|column| match *column {
        Column::Member(structure, member) => Some((structure, member)).filter(|_| wanted.names(structure)),
        Column::Variable(_) => None,
    });
    let producer = if head.identity == BUILD { BY_BUILD } else { PRODUCER };
    let snapshots = found.into_iter().map(|((_, values), kernels)| {
        let mut offsets = Offsets::new();
        for ((structure, member), offset) in members.clone().zip(values) {
            offsets.entry(structure.to_owned()).or_default().insert(member.to_owned(), offset);
        }
        Snapshot { producer: producer.to_owned(), kernels, types: Types::new(), offsets }
    });
    Ok(snapshots.collect())
}

/// The first line.
struct Head<'a> {
    /// The identity columns.
    identity: &'static [&'static str],
    /// The other columns.
    columns: Vec<Column<'a>>,
}

/// A column of numbers.
#[derive(Clone, Copy, PartialEq)]
enum Column<'a> {
    /// Offsets of a member of a structure.
    Member(&'a str, &'a str),
    /// Addresses of a global variable.
    Variable(&'a str),
}

/// The identity of an image, for finding duplicates.
type Identity<'a> = (Option<(&'a str, u32, u32)>, Option<([u32; 4], Arch)>);

impl<'a> Head<'a> {
    fn read(line: &'a str) -> Result<Self, Error> {
        let wrong = |column, reason| Error { line: 1, column, reason };
        let identity = if line.split('\t').next() == BUILD.first().copied() { BUILD } else { IMAGE };
        let names: Vec<_> = line.split('\t').take(identity.len() + MAX_MEMBERS + 1).collect();
        for (at, expected) in identity.iter().enumerate() {
            if names.get(at) != Some(expected) {
                return Err(wrong(Some(at + 1), format!("expected `{expected}`")));
            }
        }
        let names = &names[identity.len()..];
        if names.is_empty() || names.len() > MAX_MEMBERS {
            let columns = identity.join(" ");
            return Err(wrong(None, format!("expected 1 to {MAX_MEMBERS} members or variables after `{columns}`")));
        }
        let mut columns = Vec::new();
        for (at, name) in (identity.len() + 1..).zip(names) {
            let parts: Vec<_> = name.splitn(3, '.').collect();
            let column = match parts[..] {
                [name] if is_identifier(name) => Column::Variable(name),
                [structure, member] if is_identifier(structure) && is_identifier(member) => Column::Member(structure, member),
                _ => return Err(wrong(Some(at), format!("expected STRUCTURE.MEMBER or VARIABLE, not {}", shown(name)))),
            };
            if columns.contains(&column) {
                return Err(wrong(Some(at), format!("duplicate column {}", shown(name))));
            }
            columns.push(column);
        }
        Ok(Self { identity, columns })
    }

    /// An image, and the numbers in its line.
    fn row<'t>(&self, line: usize, text: &'t str) -> Result<(Kernel, Identity<'t>, Vec<u64>), Error> {
        let columns = self.identity.len() + self.columns.len();
        let fields: Vec<_> = text.split('\t').take(columns + 1).collect();
        if fields.len() != columns {
            return Err(uneven(line, columns));
        }
        let not = |column: usize, field: &str, what: &str| Error {
            line,
            column: Some(column),
            reason: format!("{} is not a {what}", shown(field)),
        };
        let number = |column, field| {
            let value = hexadecimal(field).and_then(|value| u32::try_from(value).ok());
            value.ok_or_else(|| not(column, field, "number of up to 32 bits such as 0x5ba1ecc5"))
        };
        let (at, version, arch, image) = match fields[..] {
            [name, version, arch, time_stamp, size, ..] if self.identity == IMAGE => {
                if !is_file_name(name) {
                    return Err(not(1, name, "file name"));
                }
                (2, version, arch, Some((name, number(4, time_stamp)?, number(5, size)?)))
            }
            [build, arch, ..] => (1, build, arch, None),
            _ => return Err(uneven(line, columns)),
        };
        let build = build(version).ok_or_else(|| not(at, version, "version such as 10.0.17763.1075"))?;
        let arch = arch.parse().map_err(|()| not(at + 1, arch, "known architecture (x86, x64 or arm64)"))?;
        let values = (self.identity.len() + 1..).zip(&fields[self.identity.len()..]).map(|(column, field)| {
            let digits = if field.starts_with("0x") { Cow::Borrowed(*field) } else { Cow::Owned(format!("0x{field}")) };
            let value = hexadecimal(&digits).and_then(|value| u32::try_from(value).ok());
            value.map(u64::from).ok_or_else(|| not(column, field, "hexadecimal number of up to 32 bits such as 0x20"))
        });
        let values = values.collect::<Result<_, _>>()?;
        let identity = (image, image.is_none().then_some((build, arch)));
        let image = image.map(|(name, time_stamp, size)| ImageFile { name: name.to_owned(), time_stamp, size });
        Ok((Kernel { build, arch, pdb: None, image, globals: Globals::new() }, identity, values))
    }
}

fn is_identifier(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.starts_with(|first: char| !first.is_ascii_digit())
}

fn uneven(line: usize, columns: usize) -> Error {
    Error { line, column: None, reason: format!("expected {columns} columns separated by single tabs, as in the first line") }
}

/// The start of a field for a message, without control characters.
fn shown(field: &str) -> String {
    const LENGTH: usize = 40;
    let more = if field.chars().nth(LENGTH).is_some() { "…" } else { "" };
    format!("`{}{more}`", field.chars().take(LENGTH).collect::<String>().escape_debug())
}

/// Error of reading a table of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1; `None` if the error concerns the whole line.
    pub column: Option<usize>,
    /// The cause, and the expected form.
    pub reason: String,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}; correct the line, or download the table again", self.reason)
    }
}

impl std::error::Error for Error {}
