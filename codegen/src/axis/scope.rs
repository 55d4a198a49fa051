//! The text of a scope, such as `6.1..6.3 x64, 2022-01.., no arm64`. This is only its grammar, without its meaning.

use super::Arch;
use core::fmt;
use core::str::FromStr;

/// A scope as written: parts between commas. [`Axis::targets`](super::Axis::targets) interprets it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Scope(pub Vec<Part>);

/// A part of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The revisions that are in all of the ranges, on one architecture or on all that have ranges of their own: `server-2022.. 2022-07.. x64`.
    Of(Vec<Range>, Option<Arch>),
    /// `no arm64`: an architecture that does not have the range of another one here.
    No(Arch),
}

/// A range of revisions. An end is a label, a build, a service pack or an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Range {
    /// The revisions that one name denotes.
    Point(String),
    /// The revisions from the first name to the last. An empty name leaves the range open at that end.
    Between(String, String),
}

impl Scope {
    /// The names at the ends of its ranges.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let ranges = self.0.iter().flat_map(|part| match part {
            Part::Of(ranges, _) => &ranges[..],
            Part::No(_) => &[],
        });
        let names = ranges.flat_map(|range| match range {
            Range::Point(name) => [name.as_str(), ""],
            Range::Between(first, last) => [first.as_str(), last.as_str()],
        });
        names.filter(|name| !name.is_empty())
    }

    /// Whether a part names the architecture.
    pub fn speaks_of(&self, arch: Arch) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Of(_, Some(named)) | Part::No(named) if *named == arch))
    }
}

/// The architecture that a word denotes in other tools, such as `amd64`; also with capitals.
pub(crate) fn architecture(word: &str) -> Option<Arch> {
    match word.to_ascii_lowercase().as_str() {
        "x64" | "amd64" | "x86_64" | "x86-64" => Some(Arch::X64),
        "x86" | "i386" | "i486" | "i586" | "i686" | "ia32" | "win32" => Some(Arch::X86),
        "arm64" | "aarch64" => Some(Arch::Arm64),
        _ => None,
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(|part| part.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let arch = |word: &str| word.parse::<Arch>().ok();
        let (ranges, last) = match words[..] {
            [] | ["no"] => return Err("empty range".into()),
            ["no", word] => return arch(word).map(Self::No).ok_or_else(|| format!("unknown architecture `{word}`")),
            ["no", _, word, ..] => return Err(format!("unexpected `{word}` after a complete range")),
            [ref ranges @ .., last] if arch(last).is_some() => (ranges, arch(last)),
            ref ranges => (ranges, None),
        };
        if let Some(at) = ranges.iter().position(|word| arch(word).is_some()) {
            return Err(format!("unexpected `{}` after a complete range", words[at + 1]));
        }
        Ok(Self::Of(ranges.iter().map(|word| Range::of(word)).collect(), last))
    }
}

impl Range {
    fn of(text: &str) -> Self {
        match text.split_once("..") {
            Some((first, last)) => Self::Between(first.into(), last.into()),
            None => Self::Point(text.into()),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            write!(f, "{}{part}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Of(ranges, arch) => {
                let words: Vec<String> = ranges.iter().map(Range::to_string).chain(arch.map(|arch| arch.to_string())).collect();
                f.write_str(&words.join(" "))
            }
            Self::No(arch) => write!(f, "no {arch}"),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Point(name) => f.write_str(name),
            Self::Between(first, last) => write!(f, "{first}..{last}"),
        }
    }
}
