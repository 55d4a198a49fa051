//! The list of the files of a change, as text.

use std::fmt::Write;

/// The files of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Command that makes the change.
    pub command: String,
    pub entries: Vec<Entry>,
}

/// A file of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of its folder: `specs`, `facts` or `generated`.
    pub folder: String,
    /// Its path in the folder, with `/`.
    pub path: String,
    /// Its modification time before the change, in nanoseconds since 1970; `None` if it did not exist.
    pub old: Option<u128>,
    /// Its size after the change, in bytes; `None` if it is removed.
    pub new: Option<u64>,
}

const HEAD: &str = "etw-layouts change 1";

/// The path of the new file of a file with this path. A file that is removed has an empty one.
pub fn beside(path: &str) -> String {
    format!("{path}.etw-new")
}

impl List {
    pub fn text(&self) -> String {
        let mut text = format!("{HEAD}\n{}\n", self.command);
        for Entry { folder, path, old, new } in &self.entries {
            let number = |number: Option<u128>| number.map_or("-".to_owned(), |number| number.to_string());
            // Writing to memory cannot fail.
            let _ = writeln!(text, "{folder} {} {} {path}", number(*old), number(new.map(u128::from)));
        }
        text
    }

    /// Parses a list; `None` if it is not one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = core::str::from_utf8(bytes).ok()?.lines();
        let command = (lines.next()? == HEAD).then(|| lines.next())??;
        let is_command = !command.is_empty() && command.bytes().all(|byte| byte.is_ascii_lowercase());
        let entries = lines.map(Entry::parse).collect::<Option<_>>()?;
        is_command.then(|| Self { command: command.to_owned(), entries })
    }
}

impl Entry {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(4, ' ');
        let folder = words.next()?.to_owned();
        let mut number = || match words.next()? {
            "-" => Some(None),
            number => number.parse().ok().map(Some),
        };
        let (old, new) = (number()?, number()?);
        let new = new.map(u64::try_from).transpose().ok()?;
        Some(Self { folder, path: words.next()?.to_owned(), old, new })
    }
}
