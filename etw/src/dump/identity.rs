//! The build of a full dump, and the addresses of its global variables.

use super::symbols::{self, Missing, SymbolFile};
use crate::output::stop::Stop;
use crate::output::{Escaped, Output};
use etw_layouts::LAYOUTS;
use etw_layouts::runtime::meta::{Absent, Confidence};
use etw_layouts::runtime::packed::Selection;
use etw_layouts::{Arch, Build};
use etw_layouts_cli::built_in;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_dump::{IdentitySource, MemoryDump, Source};
use etw_layouts_memory::{Address, Kernel, globals};
use etw_layouts_project::subject::choose;
use etw_layouts_project::updates::{self, Updates};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::path::PathBuf;

/// The variable that a search finds.
const HOST: &str = "PspHostSiloGlobals";

/// Options for the build of a full dump.
#[derive(clap::Args)]
pub struct Args {
    /// Read the symbols of the kernel (a PDB file or an ISF table) from this file. Used for full and kernel dumps.
    #[arg(long, value_name = "FILE")]
    pub symbols: Option<PathBuf>,
    /// Search for the kernel's PDB along this path, in the syntax of the debuggers: folders, srv*CACHE*URL and cache*FOLDER,
    /// separated by `;`. Without this option, the environment variable _NT_SYMBOL_PATH is used. Downloads without a CACHE are
    /// stored in .cache/etw/symbols in the home folder.
    #[arg(long, value_name = "PATH", conflicts_with = "symbols")]
    pub symbol_path: Option<String>,
    /// Set the build with its revision: a build such as 10.0.19041.1415 or 19041.1415, a release such as 2004, or an update such as
    /// KB5008212. Used for minidumps, and for dumps in which neither the PDB nor the image of the kernel is found: their headers do
    /// not state the revision. A build with the same kernel is accepted too, such as 10.0.19045.1415 for 10.0.19041.1415. Without a
    /// revision, the first revision of the build is assumed.
    #[arg(long, value_name = "BUILD", value_parser = parse_build)]
    build: Option<Build>,
}

impl Args {
    /// The build of `--build`.
    pub fn build(&self) -> Option<Build> {
        self.build
    }
}

/// Parses a build as all commands accept it. The specs are read only if it is not given in full.
fn parse_build(text: &str) -> Result<Build, String> {
    let parsed = text.parse::<Build>().ok();
    if let Some(build) = parsed.filter(|_| text.split('.').count() > 2) {
        return Ok(build);
    }
    let layouts = built_in().shared_layouts();
    let found = layouts.and_then(|layouts| choose(&layouts.spec.axis, text, None).map(|asked| asked.own));
    found.map_err(|error| error.to_string())
}

/// The build of a dump, its symbols and its layouts.
#[derive(Serialize)]
pub struct Known {
    #[serde(flatten)]
    revision: Revision,
    base: Option<String>,
    size: Option<u32>,
    time_stamp: Option<u32>,
    pdb: Option<String>,
    guid: Option<String>,
    age: Option<u32>,
    pub symbols_source: SymbolsSource,
    /// The symbol file that was read.
    symbols: Option<String>,
    /// The reason why no symbols were read, or a warning that the symbols may be from another build.
    symbols_note: Option<String>,
    /// Global variables where walks start, with their addresses.
    globals: BTreeMap<&'static str, String>,
    /// The number of global variables known only for build and architecture.
    #[serde(skip)]
    by_build: usize,
    layouts: Vec<Layout>,
}

/// The source of the addresses of global variables.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SymbolsSource {
    /// A symbol file.
    File,
    /// The facts of the kernel's PDB.
    Facts,
    /// Facts of the same build and architecture, without a PDB.
    Build,
    /// A search in the image of the kernel.
    Search,
    /// Nothing: the addresses are unknown.
    None,
}

/// The source of the build.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum BuildSource {
    /// The kernel's PDB.
    Pdb,
    /// The kernel's image.
    Image,
    /// `--build`.
    Option,
    /// The dump header, which does not state the revision.
    Header,
}

/// A selected layout and its confidence.
#[derive(Serialize)]
struct Layout {
    structure: &'static str,
    confidence: &'static str,
    evidence: String,
    /// The target of the layout.
    of: Option<String>,
    /// Whether the layout is of another build, used as a substitute.
    substituted: bool,
}

/// The build of a dump.
#[derive(Serialize)]
pub struct Revision {
    /// Build and revision, as far as known.
    #[serde(serialize_with = "shown")]
    pub build: Build,
    build_source: BuildSource,
    /// The KB numbers of the update with this revision; empty if unknown.
    kb: Vec<String>,
    /// The build given with --build, if it is another number of the same kernel.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shown_if")]
    build_said: Option<Build>,
}

fn shown_if<S: serde::Serializer>(build: &Option<Build>, serializer: S) -> Result<S::Ok, S::Error> {
    build.as_ref().map(|build| format!("{build:#}")).serialize(serializer)
}

fn shown<S: serde::Serializer>(build: &Build, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{build:#}"))
}

impl Revision {
    /// The build of the header, without a revision, or the build given with --build.
    pub fn find(of_header: Build, args: &Args) -> Result<Self, Stop> {
        match args.build {
            Some(build) if build.number == of_header.number => Ok(Self::by(build, BuildSource::Option)),
            Some(said) if LAYOUTS.canonical(said).number == LAYOUTS.canonical(of_header).number => {
                let build = Build { number: of_header.number, ..LAYOUTS.canonical(said) };
                Ok(Self { build_said: Some(said), ..Self::by(build, BuildSource::Option) })
            }
            Some(said) => Err(Stop::Input(format!(
                "wrong --build {said:#}: the dump is of build {of_header:#}; add a revision to it, such as {of_header:#}.1415"
            ))),
            None => Ok(Self::by(of_header, BuildSource::Header)),
        }
    }

    fn by(build: Build, build_source: BuildSource) -> Self {
        Self { build, build_source, kb: kb(build), build_said: None }
    }

    /// The build that is used if --build gives another number.
    pub fn note(&self) -> Option<String> {
        let said = self.build_said?;
        Some(format!("--build {said:#} has the same kernel as {:#}, the build in the dump header", self.build))
    }
}

/// A line of text.
impl Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.build_source {
            BuildSource::Pdb => "from its PDB",
            BuildSource::Image => "from its image",
            BuildSource::Option => "from --build",
            BuildSource::Header => "from the dump header; revision unknown",
        };
        let kb = if self.kb.is_empty() { String::new() } else { format!(" ({})", self.kb.join(", ")) };
        writeln!(f, "  build          {:#}{kb}, {by}", self.build)?;
        self.note().iter().try_for_each(|note| writeln!(f, "                 {note}"))
    }
}

/// The KB numbers of the update for a build, under its number or another number of the same kernel.
fn kb(build: Build) -> Vec<String> {
    let Ok(updates) = Updates::parse(etw_layouts_facts::UPDATES, updates::FILE) else { return Vec::new() };
    let number = LAYOUTS.canonical(build).number;
    let is_it = |other: &Build| other.revision == build.revision && LAYOUTS.canonical(*other).number == number;
    let of = updates.kbs.iter().find(|(other, _)| is_it(other));
    of.into_iter().flat_map(|(_, kbs)| kbs).map(|kb| format!("KB{kb}")).collect()
}

/// The kernel of a dump for a walk, and its description.
pub fn find<S: Source>(dump: &MemoryDump<S>, args: &Args) -> Result<(Kernel, Known), Stop> {
    let identity = dump.identity();
    let revision = match identity.by {
        IdentitySource::Pdb => Revision::by(identity.build, BuildSource::Pdb),
        IdentitySource::Image => Revision::by(identity.build, BuildSource::Image),
        _ => Revision::find(identity.build, args)?,
    };
    let is_known = !dump.known_globals().is_empty();
    let is_asked = args.symbols.is_some() || args.symbol_path.is_some();
    // Search for symbols only if the addresses are unknown or the user asks for it.
    let found = if is_known && !is_asked {
        Err(Missing::None(String::new()))
    } else {
        symbols::read(dump, args.symbols.as_deref(), args.symbol_path.as_deref())
    };
    let (mut read, symbols_note) = match found {
        Ok(SymbolFile { path, globals, note }) => (Some((path, globals)), note),
        Err(Missing::Wrong(why)) => return Err(Stop::Input(why)),
        Err(Missing::Requested(why)) if !is_known => return Err(Stop::Input(why)),
        Err(Missing::Requested(why)) => (None, Some(why)),
        Err(Missing::None(_)) if is_known => (None, None),
        Err(Missing::None(why)) => (None, Some(why)),
    };
    let by_build = dump.image().map_or(0, |_| dump.globals_by_build(revision.build).len());
    let host = match &read {
        None if !is_known => dump.find_host(revision.build).map_err(|error| Stop::Input(error.to_string()))?,
        _ => None,
    };
    let symbols_source = match (&read, is_known, host, by_build) {
        (Some(_), ..) => SymbolsSource::File,
        (None, true, ..) => SymbolsSource::Facts,
        (None, false, Some(_), _) => SymbolsSource::Search,
        (None, false, None, 1..) => SymbolsSource::Build,
        (None, false, None, 0) => SymbolsSource::None,
    };
    let mut kernel = dump.kernel(revision.build);
    if let (Some(host), Some(image)) = (host, dump.image()) {
        kernel = kernel.with_globals(image.base, [(HOST, host)]);
    }
    let base = dump.image().map(|image| image.base).or(dump.modules().first().map(|module| module.range.start));
    if let (Some((_, globals)), Some(base)) = (&mut read, base) {
        if symbols_note.is_some() {
            // The symbols may be from another build; known addresses have priority.
            globals.retain(|name, _| !dump.known_globals().iter().any(|(known, _)| known == name));
        }
        kernel = kernel.with_globals(base, std::mem::take(globals));
    }
    let image = dump.image();
    let pdb = image.and_then(|image| image.pdb.as_ref());
    let at = |name: &&'static str| Some((*name, kernel.global(name)?.to_string()));
    let known = Known {
        revision,
        base: base.map(|base: Address| base.to_string()),
        size: image.map(|image| image.file.size),
        time_stamp: image.map(|image| image.file.time_stamp),
        pdb: pdb.map(|pdb| pdb.name.clone()),
        guid: pdb.map(|pdb| pdb.id.guid.to_string()),
        age: pdb.map(|pdb| pdb.id.age),
        symbols_source,
        symbols: read.map(|(path, _)| path.display().to_string()),
        symbols_note,
        globals: globals().filter_map(|name| at(&name)).collect(),
        by_build,
        layouts: kernel.chosen().map(|chosen| layout(chosen, kernel.arch())).collect(),
    };
    Ok((kernel, known))
}

/// A layout and its confidence.
fn layout((structure, chosen): (&'static str, &Result<Selection<'_>, Absent>), arch: Arch) -> Layout {
    match chosen {
        Ok(chosen) => Layout {
            structure,
            confidence: chosen.confidence.word(),
            evidence: sentence(&chosen.confidence, arch),
            of: Some(chosen.revision.build.to_string()),
            substituted: chosen.confidence.is_inferred(),
        },
        Err(absent) => Layout { structure, confidence: "absent", evidence: absent.to_string(), of: None, substituted: false },
    }
}

/// The confidence as other commands print it. The specs are read only to determine the following builds.
fn sentence(confidence: &Confidence, arch: Arch) -> String {
    if confidence.is_verified() {
        return confidence.to_string();
    }
    let sentence = |layouts: Cow<Layouts>| etw_layouts_project::sentence(&layouts.spec.axis, confidence, arch);
    built_in().shared_layouts().map_or_else(|_| confidence.to_string(), sentence)
}

impl Known {
    /// The confidence of the layouts, as words from all of them.
    pub fn confidence(&self) -> String {
        let mut words: Vec<&str> =
            self.layouts.iter().filter(|layout| layout.of.is_some()).map(|layout| layout.confidence).collect();
        words.sort_unstable();
        words.dedup();
        words.join(", ")
    }

    /// The note that addresses of global variables are known without symbols, with their source.
    fn of_facts(&self) -> Option<String> {
        match self.symbols_source {
            SymbolsSource::Facts => {
                let (guid, age) = (self.guid.as_ref()?, self.age?);
                Some(format!("built in: {} global variables of PDB {guid}, age {age}", self.globals.len()))
            }
            SymbolsSource::Search => {
                let build = self.revision.build;
                Some(format!(
                    "{HOST} found by a search in the image of the kernel: its ETW state refers back to it, by the layouts of build {build:#}; other \
                     variables are unknown"
                ))
            }
            SymbolsSource::Build => {
                let (count, build) = (self.by_build, self.revision.build);
                let plural = if count == 1 { "" } else { "s" };
                Some(format!("built in: {count} global variable{plural} of build {build:#}, from a table without a PDB GUID"))
            }
            SymbolsSource::File | SymbolsSource::None => None,
        }
    }

    /// Prints to standard error which parts of an answer are not verified.
    pub fn report(&self, file: &str, out: &Output) {
        let by_header = (self.revision.build_source == BuildSource::Header).then(|| {
            format!(
                "unknown revision: using the layouts of the first revision of {:#}; set the revision with --build",
                self.revision.build
            )
        });
        let of_context = self.layouts.iter().filter(|layout| layout.structure == "WMI_LOGGER_CONTEXT" && layout.substituted);
        let substituted =
            of_context.map(|layout| format!("the layout of {} is from another build: {}", layout.structure, layout.evidence));
        let known = self.of_facts().map(|known| format!("symbols: {known}"));
        let symbols = self.symbols_note.iter().map(|note| format!("symbols: {note}"));
        for note in by_header.into_iter().chain(self.revision.note()).chain(substituted).chain(symbols).chain(known) {
            out.note(file, &note);
        }
    }

    /// One line per layout.
    pub fn layouts(&self) -> impl Iterator<Item = String> + '_ {
        self.layouts.iter().map(|layout| {
            let of = layout.of.as_deref().filter(|_| layout.substituted).map(|of| format!(", from {of}")).unwrap_or_default();
            format!("{:22} {}{of}: {}", layout.structure, layout.confidence, layout.evidence)
        })
    }
}

impl Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.revision.fmt(f)?;
        if let (Some(pdb), Some(guid), Some(age)) = (&self.pdb, &self.guid, self.age) {
            writeln!(f, "    pdb          {} {guid}, age {age}", Escaped(pdb))?;
        }
        match (&self.symbols, &self.symbols_note) {
            (Some(path), note) => {
                writeln!(f, "    symbols      {}, {} global variables", Escaped(path), self.globals.len())?;
                note.iter().try_for_each(|note| writeln!(f, "                 {}", Escaped(note)))?;
            }
            (None, note) if self.symbols_source == SymbolsSource::Facts => {
                writeln!(f, "    symbols      {}", self.of_facts().unwrap_or_default())?;
                note.iter().try_for_each(|note| writeln!(f, "                 {}", Escaped(note)))?;
            }
            (None, note) => {
                writeln!(f, "    symbols      {}", Escaped(note.as_deref().unwrap_or("none")))?;
                self.of_facts().iter().try_for_each(|known| writeln!(f, "                 {known}"))?;
                if self.globals.contains_key("EtwpDebuggerData") && self.symbols_source != SymbolsSource::Search {
                    writeln!(
                        f,
                        "                 sessions are found through the kernel's debugger data; providers are not found"
                    )?;
                }
            }
        }
        writeln!(f, "    layouts   {}", self.confidence())?;
        // Substituted layouts are listed here or with --details.
        let substituted = self.layouts.iter().filter(|layout| layout.substituted).count();
        if substituted > 0 {
            writeln!(f, "                 {substituted} of {} from another build: see --details", self.layouts.len())?;
        }
        Ok(())
    }
}
