//! Why something cannot be done.

use std::fmt::{self, Display, Formatter};

/// Why something cannot be done, for users. Nothing that is compared and differs is an error.
///
/// Where the remedy is another input, this is a [`Refusal`]; where specs are wrong, [`Errors`](etw_layouts_codegen::Errors).
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Something cannot be done without another input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The file concerned, if any.
    pub place: Option<String>,
    /// What is wrong, in one line.
    pub problem: String,
    /// Which input remedies it. A program knows how its users give it.
    pub remedy: Remedy,
}

/// The input that remedies a [`Refusal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Symbol files, or a folder of facts.
    Facts,
    /// A folder that the facts of new builds are kept in.
    FactsFolder,
    /// A folder of specs that can be changed.
    SpecsFolder,
    /// Folders of specs and of facts that can be changed.
    Folders,
    /// The build of a symbol file.
    Build,
    /// A build with its revision or service pack.
    Revision,
    /// The architecture of a symbol file.
    Architecture,
    /// A symbol path.
    SymbolPath,
}

impl Refusal {
    pub(crate) fn new(problem: impl Into<String>, remedy: Remedy) -> Self {
        Self { place: None, problem: problem.into(), remedy }
    }

    pub(crate) fn at(self, place: impl Display) -> Self {
        Self { place: Some(place.to_string()), ..self }
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { place, problem, remedy } = self;
        if let Some(place) = place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{problem}: {remedy}")
    }
}

impl Display for Remedy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Facts => "name symbol files or a folder of facts",
            Self::FactsFolder => "name a folder of facts",
            Self::SpecsFolder => "name a folder of specs",
            Self::Folders => "name the folder of a copy, and one of facts",
            Self::Build => {
                "state the build, in a builds.tsv beside the file (columns file, build, arch), or in the file's name, as in \
                 10.0.19041.329-x64.json.xz"
            }
            Self::Revision => {
                "write its revision too, as in 10.0.26100.3915, or for Windows XP and Server 2003 its service pack, as in 5.1.2600-sp3"
            }
            Self::Architecture => "state the architecture: x86, x64 or arm64",
            Self::SymbolPath => "name a folder of symbols, or srv*CACHE*https://SERVER",
        })
    }
}

impl std::error::Error for Refusal {}

/// Several errors, such as one for each of some files.
#[derive(Debug)]
pub struct Several(pub Vec<Error>);

impl Display for Several {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for Several {}
