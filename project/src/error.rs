//! Errors.

use etw_layouts_codegen::nearest;
use std::fmt::{self, Display, Formatter};

/// An error message for the user: a [`Refusal`] if another input is needed, [`Errors`](etw_layouts_codegen::Errors) if specs are wrong.
/// Differences in a comparison are not errors.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// An input is missing or wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The file concerned, if any.
    pub place: Option<String>,
    /// What is wrong, in one line.
    pub problem: String,
    /// A known name that is similar to an unknown one.
    pub similar: Option<String>,
    /// The input that is needed. The calling program describes how to provide it.
    pub remedy: Remedy,
}

/// The input that remedies a [`Refusal`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Symbol files, or a folder of facts.
    Facts,
    /// A folder for the facts of new builds.
    FactsFolder,
    /// A folder of specs that can be written.
    SpecsFolder,
    /// Folders of specs and of facts that can be written.
    Folders,
    /// The build of a symbol file.
    Build,
    /// A build with its revision or service pack.
    Revision,
    /// The build of a symbol file, or the confirmation that it is new.
    NewBuild,
    /// The architecture of a symbol file.
    Architecture,
    /// A symbol path.
    SymbolPath,
    /// A name that the specs define.
    Definition,
    /// A name of a structure or global variable that the specs define.
    DefinitionOrVariable,
    /// A name of a structure or enumeration that symbol files can contain, in place of these macros.
    InSymbols(String),
    /// A name of a structure, in place of this global variable.
    NotVariable(String),
    /// A name of a structure, in place of this build.
    NotBuild(String),
    /// A name of a member or constant of this structure.
    Member(String),
    /// A member of a structure that is embedded in this structure.
    Embedded(String),
    /// A name of an event.
    Event,
}

impl Refusal {
    pub(crate) fn new(problem: impl Into<String>, remedy: Remedy) -> Self {
        Self { place: None, problem: problem.into(), similar: None, remedy }
    }

    /// An unknown name, with the nearest of the known ones.
    pub(crate) fn unknown<'a>(problem: String, name: &str, known: impl IntoIterator<Item = &'a str>, remedy: Remedy) -> Self {
        Self { similar: nearest(name, known).map(str::to_owned), ..Self::new(problem, remedy) }
    }

    pub(crate) fn at(self, place: impl Display) -> Self {
        Self { place: Some(place.to_string()), ..self }
    }

    /// The message, with a remedy that the calling program describes.
    pub fn message(&self, remedy: impl Display) -> String {
        let place = self.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        let similar = self.similar.as_ref().map(|similar| format!("did you mean `{similar}`? ")).unwrap_or_default();
        format!("{place}{}; {similar}{remedy}", self.problem)
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(&self.remedy))
    }
}

impl Display for Remedy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Facts => "name symbol files, or a folder of facts",
            Self::FactsFolder => "name a folder of facts",
            Self::SpecsFolder => "name a folder with your own specs",
            Self::Folders => "name a folder with a copy of them, and a folder of facts",
            Self::Build => {
                "specify it, in a builds.tsv in its folder (columns file, build, arch), or in the file name, as in \
                 10.0.19041.329-x64.json.xz"
            }
            Self::Revision => {
                "add the revision, as in 10.0.26100.3915, or for Windows XP and Server 2003 the service pack, as in 5.1.2600-sp3"
            }
            Self::NewBuild => "correct the build, in builds.tsv or in the file name, or confirm that it is new",
            Self::Architecture => "specify x86, x64 or arm64",
            Self::Definition | Self::DefinitionOrVariable => "use a name that the specs define",
            Self::InSymbols(_) | Self::NotVariable(_) | Self::NotBuild(_) => "name a structure",
            Self::Member(_) | Self::Embedded(_) => "use the name of a member or constant",
            Self::Event => "use the name of an event of the specs",
            Self::SymbolPath => "name a folder of symbol files, or srv*CACHE*https://SERVER",
        })
    }
}

impl std::error::Error for Refusal {}

/// Several errors, for example one per file.
#[derive(Debug)]
pub struct Several(pub Vec<Error>);

impl Display for Several {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for Several {}
