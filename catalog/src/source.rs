//! Sources of the catalogue: collections of manifests, each of one Windows build.

use std::fmt;

/// A collection of manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Build of Windows, such as 26100; 0 if the manifests are not of a build.
    pub build: u32,
    /// Name in the data: the build, or the year of a collection that does not state it.
    pub name: &'static str,
    /// Release of Windows.
    pub release: &'static str,
    /// Repository, as `owner/name` on GitHub.
    pub repository: &'static str,
}

/// All sources: those of Windows builds, oldest first, then others; last, the mark of corrected fields. Bits of [`Mask`] are positions in this list.
pub const SOURCES: [Source; 12] = [
    Source { build: 7600, name: "7600", release: "Windows 7", repository: "repnz/etw-providers-docs" },
    Source { build: 10240, name: "10240", release: "Windows 10 1507", repository: "repnz/etw-providers-docs" },
    Source { build: 17134, name: "17134", release: "Windows 10 1803", repository: "repnz/etw-providers-docs" },
    Source { build: 18990, name: "18990", release: "Windows 10 20H1 (preview)", repository: "repnz/etw-providers-docs" },
    // The collection states only the year 2022. Its events are those of Windows 10 builds.
    Source { build: 19044, name: "2022", release: "Windows 10 (a collection of 2022)", repository: "fox-it/dissect.etl" },
    Source { build: 22621, name: "22621", release: "Windows 11 22H2", repository: "lilhoser/etwmanifests" },
    Source { build: 26100, name: "26100", release: "Windows 11 24H2", repository: "lilhoser/etwmanifests" },
    Source { build: 26200, name: "26200", release: "Windows 11 25H2", repository: "lilhoser/etwmanifests" },
    Source { build: 28000, name: "28000", release: "Windows 11 26H1", repository: "jdu2600/Windows10EtwEvents" },
    // Independent of Windows builds: the runtime is installed separately, and its versions of events do not change.
    Source { build: 0, name: "clr", release: ".NET runtime", repository: "microsoft/perfview" },
    Source { build: 0, name: "dotnet", release: ".NET runtime 5 and later", repository: "dotnet/runtime" },
    // Not a collection: the fields of other sources, changed by corrections.toml.
    Source { build: 0, name: "corrected", release: "corrected by evidence", repository: "catalog/corrections.toml" },
];

/// `Windows 11 24H2 (26100), lilhoser/etwmanifests`.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.build {
            0 => write!(f, "{}, {}", self.release, self.repository),
            build => write!(f, "{} ({build}), {}", self.release, self.repository),
        }
    }
}

/// A set of sources: bit N is `SOURCES[N]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mask(pub u16);

impl Mask {
    /// The mark of fields that are not those of the sources, but corrected. It is the last of [`SOURCES`].
    pub const CORRECTED: Self = Self(1 << (SOURCES.len() - 1));

    /// The set with one source; empty if no source has the name.
    pub fn named(name: &str) -> Self {
        SOURCES.iter().position(|source| source.name == name).map_or(Self(0), |index| Self(1 << index))
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Sources of both sets.
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Sources of this set that the other set lacks.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the sets have a common source.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Sources of the set, oldest build first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = &'static Source> {
        SOURCES.iter().enumerate().filter(move |(index, _)| self.0 & 1 << index != 0).map(|(_, source)| source)
    }

    /// The newest source at or before a build, otherwise the oldest source after it. A source that is not of a build has priority. `None` for
    /// an empty set.
    pub fn nearest(self, build: u32) -> Option<&'static Source> {
        self.iter().rfind(|source| source.build <= build).or_else(|| self.iter().next())
    }
}

/// Names of the sources, separated by spaces.
impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for source in self.iter() {
            write!(f, "{between}{}", source.name)?;
            between = " ";
        }
        Ok(())
    }
}
