//! Tables of kernel images: which there are, and where each has a few members.
//!
//! ```text
//! file          version        arch   timestamp   size_of_image  ETW_GUID_ENTRY.Guid  ETW_REG_ENTRY.GuidEntry
//! ntoskrnl.exe  10.0.17763.55  arm64  0x5ba1ecc5  0x008f1000     0x0018               0x0020
//! ```
//!
//! Columns are separated by one tab each. The first line names them: the five of every table, then members, each as structure and
//! member. A line below is an image: its file, its version, `x86`, `x64` or `arm64`, time stamp and size as its header has them, and
//! the offset of each member. All numbers but the version's are hexadecimal with `0x`.
//!
//! An image is a partial witness: it was looked at, by somebody, for these members and for nothing else.

use crate::identity::{ImageFile, is_file_name};
use crate::model::{Arch, Globals, Offsets, Types};
use crate::snapshot::text::{build, hexadecimal};
use crate::snapshot::{Kernel, Snapshot};
use crate::wanted::Wanted;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// The most images of a table.
pub const MAX_IMAGES: usize = 65_536;

/// The most members of which a table tells the offset.
pub const MAX_MEMBERS: usize = 64;

/// What the facts of images say of their origin.
pub const PRODUCER: &str = "a table of kernel images";

/// The columns of every table.
const COLUMNS: [&str; 5] = ["file", "version", "arch", "timestamp", "size_of_image"];

/// Whether a file begins like a table of images. The first 41 bytes tell.
pub fn recognizes(input: &[u8]) -> bool {
    input.starts_with(COLUMNS.join("\t").as_bytes())
}

/// Reads a table of images: a snapshot for each set of offsets, of one architecture, with the images that have it in the order of the
/// table. Of structures that are not wanted nothing is kept.
///
/// # Errors
///
/// The first place that is not as documented in [`self`](crate::images), and why; an image that is there twice.
pub fn read(text: &str, wanted: &Wanted) -> Result<Vec<Snapshot>, Error> {
    let mut lines = (1..).zip(text.lines());
    let members = members(lines.next().map_or("", |(_, line)| line))?;
    let mut places = BTreeMap::new();
    let mut found: BTreeMap<(Arch, Vec<u64>), Vec<Kernel>> = BTreeMap::new();
    for (line, text) in lines {
        if line > MAX_IMAGES + 1 {
            return Err(Error { line, column: None, reason: format!("more than {MAX_IMAGES} images") });
        }
        let (kernel, image, offsets) = row(line, text, members.len())?;
        if let Some(first) = places.insert(image, line) {
            return Err(Error { line, column: None, reason: format!("the image of line {first} again") });
        }
        let kept = members.iter().zip(offsets).filter(|((structure, _), _)| wanted.names(structure));
        found.entry((kernel.arch, kept.map(|(_, offset)| offset).collect())).or_default().push(kernel);
    }
    if found.is_empty() {
        return Err(Error { line: 2, column: None, reason: "no image".to_owned() });
    }
    let kept: Vec<_> = members.iter().filter(|(structure, _)| wanted.names(structure)).collect();
    let snapshots = found.into_iter().map(|((_, values), kernels)| {
        let mut offsets = Offsets::new();
        for ((structure, member), offset) in kept.iter().zip(values) {
            offsets.entry((*structure).to_owned()).or_default().insert((*member).to_owned(), offset);
        }
        Snapshot { producer: PRODUCER.to_owned(), kernels, types: Types::new(), offsets }
    });
    Ok(snapshots.collect())
}

/// The structures and members of the first line.
fn members(line: &str) -> Result<Vec<(&str, &str)>, Error> {
    let wrong = |column, reason| Error { line: 1, column, reason };
    let names: Vec<_> = line.split('\t').take(COLUMNS.len() + MAX_MEMBERS + 1).collect();
    for (at, expected) in COLUMNS.iter().enumerate() {
        if names.get(at) != Some(expected) {
            return Err(wrong(Some(at + 1), format!("expected `{expected}`")));
        }
    }
    let names = &names[COLUMNS.len()..];
    if names.is_empty() || names.len() > MAX_MEMBERS {
        return Err(wrong(None, format!("expected 1 to {MAX_MEMBERS} members behind `{}`", COLUMNS.join(" "))));
    }
    let mut members = Vec::new();
    for (column, name) in (COLUMNS.len() + 1..).zip(names) {
        let is_name = |part: &str| {
            part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !part.starts_with(|c: char| c.is_ascii_digit())
        };
        let found = name.split_once('.').filter(|(a, b)| [a, b].iter().all(|part| !part.is_empty() && is_name(part)));
        let member = found.ok_or_else(|| wrong(Some(column), format!("expected STRUCTURE.MEMBER, not {}", shown(name))))?;
        if members.contains(&member) {
            return Err(wrong(Some(column), format!("{} is here twice", shown(name))));
        }
        members.push(member);
    }
    Ok(members)
}

/// What makes two images the same.
type Identity<'a> = (&'a str, u32, u32);

/// An image, and the offsets of so many members.
fn row(line: usize, text: &str, members: usize) -> Result<(Kernel, Identity<'_>, Vec<u64>), Error> {
    let fields: Vec<_> = text.split('\t').take(COLUMNS.len() + MAX_MEMBERS + 1).collect();
    let columns = COLUMNS.len() + members;
    let [name, version, arch, time_stamp, size, ref offsets @ ..] = fields[..] else { return Err(uneven(line, columns)) };
    if fields.len() != columns {
        return Err(uneven(line, columns));
    }
    let not = |column: usize, field: &str, what: &str| Error {
        line,
        column: Some(column),
        reason: format!("{} is no {what}", shown(field)),
    };
    let number = |column, field| {
        let value = hexadecimal(field).and_then(|value| u32::try_from(value).ok());
        value.ok_or_else(|| not(column, field, "number of up to 32 bits, as in 0x5ba1ecc5"))
    };
    if !is_file_name(name) {
        return Err(not(1, name, "name of a file"));
    }
    let build = build(version).ok_or_else(|| not(2, version, "version, as in 10.0.17763.1075"))?;
    let arch = arch.parse().map_err(|()| not(3, arch, "architecture: x86, x64 or arm64"))?;
    let (time_stamp, size) = (number(4, time_stamp)?, number(5, size)?);
    let offsets = (COLUMNS.len() + 1..).zip(offsets).map(|(column, field)| number(column, field).map(u64::from));
    let offsets = offsets.collect::<Result<_, _>>()?;
    let image = ImageFile { name: name.to_owned(), time_stamp, size };
    Ok((Kernel { build, arch, pdb: None, image: Some(image), globals: Globals::new() }, (name, time_stamp, size), offsets))
}

fn uneven(line: usize, columns: usize) -> Error {
    Error { line, column: None, reason: format!("expected {columns} columns, as the first line has, with a tab between any two") }
}

/// A field in a message: its beginning, and nothing that a terminal would obey.
fn shown(field: &str) -> String {
    const LENGTH: usize = 40;
    let more = if field.chars().nth(LENGTH).is_some() { "…" } else { "" };
    format!("`{}{more}`", field.chars().take(LENGTH).collect::<String>().escape_debug())
}

/// Why a table of images cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1; `None` if it is the line as a whole.
    pub column: Option<usize>,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}; correct it, or fetch the table of images again", self.reason)
    }
}

impl std::error::Error for Error {}
