//! Builds, architectures and updates.

use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;

/// The facts about a named update, in any form.
pub trait UpdateFacts {
    /// First build of each branch with the update, oldest branch first. Builds after the last of them have it from the start.
    fn revisions(&self) -> impl Iterator<Item = Build>;

    /// Whether a build after the last of these, or between them, never got the update.
    fn is_without(&self, number: [u32; 3]) -> bool;

    /// Whether it changed an architecture.
    fn changes(&self, arch: Arch) -> bool;

    /// Whether a build has the update.
    fn has(&self, build: Build) -> bool {
        match self.first_of(build) {
            Some(first) => first.revision <= build.revision,
            None if self.is_without(build.number) => false,
            None => self.revisions().last().is_some_and(|last| last.number < build.number),
        }
    }

    /// The first build with the update on the branch of a build, if the branch got it by servicing.
    fn first_of(&self, build: Build) -> Option<Build> {
        self.revisions().find(|revision| revision.number == build.number)
    }
}

/// A processor architecture; displayed as `x86`, `x64` and `arm64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// 32-bit x86.
    X86,
    /// 64-bit x86.
    X64,
    /// 64-bit ARM.
    Arm64,
}

/// A build, with a text form such as 10.0.19041.1415. `{:#}` omits a revision of 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    /// Major version, minor version and build number.
    pub number: [u32; 3],
    /// Revision (update); 0 for the first, or if unknown.
    pub revision: u32,
}

/// Error of a text that is not a build or an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    expected: &'static str,
    /// A build with the version of another build, and the build with its own version.
    other: Option<[Build; 2]>,
}

/// The versions of Windows, each with the builds of its releases, from the first to the last. No release has a build between
/// these ranges; previews do, with the version before or after them. Numbers of six or seven digits are those of updates.
const VERSIONS: [([u32; 2], RangeInclusive<u32>); 8] = [
    ([5, 0], 2195..=2195),
    ([5, 1], 2600..=2600),
    ([5, 2], 3790..=3790),
    ([6, 0], 6000..=6003),
    ([6, 1], 7600..=7601),
    ([6, 2], 9200..=9200),
    ([6, 3], 9600..=9600),
    ([10, 0], 10240..=99_999),
];

impl Arch {
    /// All architectures.
    pub const ALL: [Self; 3] = [Self::X86, Self::X64, Self::Arm64];

    /// Name of the architecture.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::X86 => "x86",
            Self::X64 => "x64",
            Self::Arm64 => "arm64",
        }
    }

    /// Size of a pointer, in bytes.
    pub const fn pointer_size(self) -> u64 {
        match self {
            Self::X86 => 4,
            Self::X64 | Self::Arm64 => 8,
        }
    }
}

impl Build {
    /// A build from its four numbers.
    pub const fn new(major: u32, minor: u32, build: u32, revision: u32) -> Self {
        Self { number: [major, minor, build], revision }
    }
}

impl FromStr for Build {
    type Err = ParseError;

    /// Parses the four numbers of a build. Without the last one, the revision is 0. One or two numbers are a build of Windows and
    /// its revision; their version is that of the release with this build: 10.0 from build 10240 on.
    ///
    /// ```
    /// use etw_layouts_runtime::meta::Build;
    ///
    /// assert_eq!("10.0.19045.3570".parse(), Ok(Build::new(10, 0, 19045, 3570)));
    /// assert_eq!("19045.3570".parse(), Ok(Build::new(10, 0, 19045, 3570)));
    /// assert_eq!("7601".parse(), Ok(Build::new(6, 1, 7601, 0)));
    /// assert!("6.1".parse::<Build>().is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// The text is not one to four decimal numbers, no release has the build of one or two numbers, or the version is that of
    /// other builds. The registry has such a pair: its value `CurrentVersion` stays 6.3 on Windows 10 and later.
    ///
    /// ```
    /// # use etw_layouts_runtime::meta::Build;
    /// let error = "6.3.19045.3570".parse::<Build>().unwrap_err();
    /// assert_eq!(error.to_string(), "no build 19045 in 6.3; write 10.0.19045.3570");
    /// assert_eq!(error.meant(), Some(Build::new(10, 0, 19045, 3570)));
    /// ```
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut numbers = [0; 4];
        let mut count = 0;
        for part in text.split('.') {
            let number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten();
            let (Some(place), Some(number)) = (numbers.get_mut(count), number) else { return Err(ParseError::BUILD) };
            *place = number;
            count += 1;
        }
        let is_of_windows = |version: [u32; 2]| VERSIONS.iter().any(|(known, _)| *known == version);
        let version = |build: u32| VERSIONS.iter().find(|(_, builds)| builds.contains(&build)).map(|(version, _)| *version);
        let of = |[major, minor]: [u32; 2], build, revision| Self::new(major, minor, build, revision);
        match (count, numbers) {
            (1 | 2, [build, revision, ..]) => Ok(of(version(build).ok_or(ParseError::BUILD)?, build, revision)),
            (_, [major, minor, build, revision]) => {
                let written = Self::new(major, minor, build, revision);
                match version(build).filter(|version| is_of_windows([major, minor]) && *version != [major, minor]) {
                    Some(version) => {
                        Err(ParseError { other: Some([written, of(version, build, revision)]), ..ParseError::BUILD })
                    }
                    None => Ok(written),
                }
            }
        }
    }
}

impl FromStr for Arch {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL.into_iter().find(|arch| arch.as_str() == text);
        found.ok_or(ParseError { expected: "invalid architecture; write `x86`, `x64` or `arm64`", other: None })
    }
}

impl ParseError {
    const BUILD: Self = Self { expected: "invalid build; write it as `10.0.19041.1415`, or as `19041.1415`", other: None };

    /// The build that was meant, if the text has a build with the version of other builds.
    pub fn meant(&self) -> Option<Build> {
        self.other.map(|[_, meant]| meant)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.other {
            Some([Build { number: [major, minor, build], .. }, meant]) => {
                write!(f, "no build {build} in {major}.{minor}; write {meant:#}")
            }
            None => f.write_str(self.expected),
        }
    }
}

impl core::error::Error for ParseError {}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, build] = self.number;
        write!(f, "{major}.{minor}.{build}")?;
        match self.revision {
            0 if f.alternate() => Ok(()),
            revision => write!(f, ".{revision}"),
        }
    }
}

impl fmt::Debug for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
