//! Which kernel a dump of memory is of, and where its global variables are.

use crate::etl::output::{Escaped, Output};
use crate::etl::stop::Stop;
use etw_layouts::axis::AXIS;
use etw_layouts::runtime::meta::{Absent, Confidence, Selection};
use etw_layouts::{Arch, Build};
use etw_layouts_cli::guid;
use etw_layouts_codegen::axis::Axis;
use etw_layouts_dump::{By, MemoryDump, Source};
use etw_layouts_memory::{Address, GLOBALS, Kernel};
use etw_layouts_project::Project;
use etw_layouts_project::project::Files;
use etw_layouts_project::updates::{self, Updates};
use etw_layouts_symbols::store::SymbolPath;
use etw_layouts_symbols::{self as symbols, Symbols, Wanted};
use serde::Serialize;
use std::collections::BTreeMap;
use std::env;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

/// What is said of the kernel of a full dump.
#[derive(clap::Args)]
pub struct Args {
    /// Symbols of the kernel of a full dump, or of one of the kernel's memory: its PDB or ISF table.
    #[arg(long, value_name = "FILE")]
    pub symbols: Option<PathBuf>,
    /// Where the kernel's PDB is looked up, as the debuggers write it: folders, srv*CACHE*URL, cache*FOLDER, between `;`. By
    /// default the value of _NT_SYMBOL_PATH. What is downloaded without a CACHE is kept in .cache/etw/symbols at home.
    #[arg(long, value_name = "PATH", conflicts_with = "symbols")]
    pub symbol_path: Option<String>,
    /// The kernel's build with its revision, such as 10.0.19041.1415, where neither PDB nor image of the kernel is known: of every
    /// minidump. One that is the same kernel will do: 10.0.19045.1415.
    #[arg(long, value_name = "BUILD")]
    build: Option<Build>,
}

/// What is known of the kernel.
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
    /// What the addresses of global variables are from: `file`; `facts` of the kernel's PDB; `build`, if a table has some that names only
    /// build and architecture; or `none`.
    pub symbols_by: &'static str,
    /// The file of symbols that was read.
    symbols: Option<String>,
    /// Why no symbols were read, or that it is not known whether they are the kernel's.
    symbols_note: Option<String>,
    /// Global variables from which walks start, and their addresses.
    globals: BTreeMap<&'static str, String>,
    /// How many of them are known by build and architecture alone.
    #[serde(skip)]
    by_build: usize,
    layouts: Vec<Layout>,
}

/// A layout that was taken, and how sure it is.
#[derive(Serialize)]
struct Layout {
    structure: &'static str,
    confidence: &'static str,
    evidence: String,
    /// The kernel whose layout it is.
    of: Option<String>,
    /// Whether that is not this kernel, but one that stands in for it.
    substituted: bool,
}

/// Which kernel it is.
#[derive(Serialize)]
pub struct Revision {
    /// Build and revision, as far as it is known.
    #[serde(serialize_with = "shown")]
    pub build: Build,
    /// By what: `pdb`, `image`, `option`, or `header`, which does not tell the revision.
    build_by: &'static str,
    /// The KB numbers of the update that brought it; none if they or the revision are not known.
    kb: Vec<String>,
    /// What --build says, where that is the same kernel under another number.
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
    /// The build that a header has, which does not tell the revision, or the one that is said to be the dump's.
    pub fn find(of_header: Build, args: &Args) -> Result<Self, Stop> {
        match args.build {
            Some(build) if build.number == of_header.number => Ok(Self::by(build, "option")),
            Some(said) if AXIS.canonical(said).number == AXIS.canonical(of_header).number => {
                let build = Build { number: of_header.number, ..AXIS.canonical(said) };
                Ok(Self { build_said: Some(said), ..Self::by(build, "option") })
            }
            Some(said) => Err(Stop::Input(format!("--build says {said:#}, and the dump is of {of_header:#}"))),
            None => Ok(Self::by(of_header, "header")),
        }
    }

    fn by(build: Build, build_by: &'static str) -> Self {
        Self { build, build_by, kb: kb(build), build_said: None }
    }

    /// Which build is meant where --build says another.
    pub fn note(&self) -> Option<String> {
        let said = self.build_said?;
        Some(format!("--build says {said:#}, which is the same kernel as {:#}, and the header has that number", self.build))
    }
}

/// A line of text.
impl Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.build_by {
            "pdb" => "known by its PDB",
            "image" => "known by its image",
            "option" => "as --build says",
            _ => "as the dump's header says, which does not tell the revision",
        };
        let kb = if self.kb.is_empty() { String::new() } else { format!(" ({})", self.kb.join(", ")) };
        writeln!(f, "  kernel      {:#}{kb}, {by}", self.build)?;
        self.note().iter().try_for_each(|note| writeln!(f, "              {note}"))
    }
}

/// The KB numbers of the update that brought a kernel, under its number or another.
fn kb(build: Build) -> Vec<String> {
    let Ok(updates) = Updates::parse(etw_layouts_facts::UPDATES, updates::FILE) else { return Vec::new() };
    let number = AXIS.canonical(build).number;
    let is_it = |other: &Build| other.revision == build.revision && AXIS.canonical(*other).number == number;
    let of = updates.kbs.iter().find(|(other, _)| is_it(other));
    of.into_iter().flat_map(|(_, kbs)| kbs).map(|kb| format!("KB{kb}")).collect()
}

/// The kernel of a dump, for a walk, and what is known of it.
pub fn find<S: Source>(dump: &MemoryDump<S>, args: &Args) -> Result<(Kernel, Known), Stop> {
    let identity = dump.identity();
    let revision = match identity.by {
        By::Pdb => Revision::by(identity.build, "pdb"),
        By::Image => Revision::by(identity.build, "image"),
        _ => Revision::find(identity.build, args)?,
    };
    let is_known = !dump.known_globals().is_empty();
    let is_asked = args.symbols.is_some() || args.symbol_path.is_some();
    // What is known is not looked for again, unless somebody asks for that.
    let found = if is_known && !is_asked { Err(Missing::None(String::new())) } else { symbols(dump, args) };
    let (read, symbols_note) = match found {
        Ok((path, bytes, note)) => (Some((path, bytes)), note),
        Err(Missing::Wrong(why)) => return Err(Stop::Input(why)),
        Err(Missing::Asked(why)) if !is_known => return Err(Stop::Input(why)),
        Err(Missing::Asked(why)) => (None, Some(why)),
        Err(Missing::None(_)) if is_known => (None, None),
        Err(Missing::None(why)) => (None, Some(why)),
    };
    let by_build = dump.image().map_or(0, |_| dump.globals_by_build(revision.build).len());
    let symbols_by = match (&read, is_known, by_build) {
        (Some(_), ..) => "file",
        (None, true, _) => "facts",
        (None, false, 1..) => "build",
        (None, false, 0) => "none",
    };
    let mut kernel = dump.kernel(revision.build);
    let base = dump.image().map(|image| image.base).or(dump.modules().first().map(|module| module.range.start));
    if let (Some((path, bytes)), Some(base)) = (&read, base) {
        let globals = symbols::globals(bytes, GLOBALS.iter().copied());
        let mut globals = globals.map_err(|error| Stop::Input(format!("{}: {error}", path.display())))?;
        if symbols_note.is_some() {
            // They may be another kernel's, and give way to what is known of the kernel's own.
            globals.retain(|name, _| !dump.known_globals().iter().any(|(known, _)| known == name));
        }
        kernel = kernel.with_globals(base, globals);
    }
    let image = dump.image();
    let pdb = image.and_then(|image| image.pdb.as_ref());
    let at = |name: &&'static str| Some((*name, kernel.global(name)?.to_string()));
    let mut axis = None;
    let known = Known {
        revision,
        base: base.map(|base: Address| base.to_string()),
        size: image.map(|image| image.file.size),
        time_stamp: image.map(|image| image.file.time_stamp),
        pdb: pdb.map(|pdb| pdb.name.clone()),
        guid: pdb.map(|pdb| guid(pdb.id.guid)),
        age: pdb.map(|pdb| pdb.id.age),
        symbols_by,
        symbols: read.map(|(path, _)| path.display().to_string()),
        symbols_note,
        globals: GLOBALS.iter().filter_map(at).collect(),
        by_build,
        layouts: kernel.chosen().map(|chosen| layout(chosen, kernel.arch(), &mut axis)).collect(),
    };
    Ok((kernel, known))
}

/// A layout, and how sure it is; the version axis of the specs, once it is read, has which architecture follows another.
fn layout((structure, chosen): (&'static str, &Result<Selection, Absent>), arch: Arch, axis: &mut Option<Axis>) -> Layout {
    match chosen {
        Ok(chosen) => Layout {
            structure,
            confidence: chosen.confidence.word(),
            evidence: sentence(&chosen.confidence, arch, axis),
            of: Some(chosen.kernel.build.to_string()),
            substituted: chosen.confidence.is_inferred(),
        },
        Err(absent) => Layout { structure, confidence: "absent", evidence: absent.to_string(), of: None, substituted: false },
    }
}

/// As the other commands say it. The specs are read only for what may follow them.
fn sentence(confidence: &Confidence, arch: Arch, axis: &mut Option<Axis>) -> String {
    if confidence.is_verified() {
        return confidence.to_string();
    }
    if axis.is_none() {
        let specs = Files::Embedded(etw_layouts_specs::FILES);
        *axis = Project::of(specs, Files::Embedded(&[])).layouts().ok().map(|layouts| layouts.spec.axis);
    }
    axis.as_ref().map_or_else(|| confidence.to_string(), |axis| etw_layouts_project::sentence(axis, confidence, arch))
}

/// Why there are no symbols.
enum Missing {
    /// Those that are named cannot be had, or are of another kernel.
    Wrong(String),
    /// A path to them was asked for, and none are there.
    Asked(String),
    /// Nobody asked for them.
    None(String),
}

/// A file of symbols, its bytes, and what is to be said of it.
type Read = (PathBuf, Vec<u8>, Option<String>);

/// The symbols that are named, or those that are found along the symbol path.
fn symbols<S: Source>(dump: &MemoryDump<S>, args: &Args) -> Result<Read, Missing> {
    let named = dump.image().and_then(|image| image.pdb.as_ref());
    if let Some(path) = &args.symbols {
        let wrong = |why: &dyn Display| Missing::Wrong(format!("{}: {why}", path.display()));
        let bytes = symbols::load(path).map_err(|error| wrong(&error))?;
        let table = match symbols::read(&bytes, &Wanted::from_iter([""])).map_err(|error| wrong(&error))? {
            Symbols::Table(table) => table,
            _ => return Err(wrong(&"it has no addresses of global variables: give a PDB or an ISF table")),
        };
        return match (table.pdb, named) {
            (Some(own), Some(named)) if own.guid != named.id.guid => {
                let (own, kernel) = (guid(own.guid), guid(named.id.guid));
                Err(wrong(&format!("symbols of another kernel: their GUID is {own}, and the kernel's PDB has {kernel}")))
            }
            (Some(_), Some(_)) => Ok((path.clone(), bytes, None)),
            _ => Ok((
                path.clone(),
                bytes,
                Some("whether these are the kernel's symbols is not known: one of both names no PDB".into()),
            )),
        };
    }
    let (text, is_asked) = match (&args.symbol_path, env::var("_NT_SYMBOL_PATH")) {
        (Some(path), _) => (path.clone(), true),
        (None, Ok(path)) => (path, false),
        (None, Err(_)) => {
            let help = "none are given: --symbols FILE, --symbol-path PATH or _NT_SYMBOL_PATH";
            return Err(Missing::None(help.into()));
        }
    };
    let missing = |why: String| if is_asked { Missing::Asked(why) } else { Missing::None(why) };
    let Some(named) = named else { return Err(missing("the dump does not tell which PDB the kernel has".into())) };
    let pdb = symbols::Pdb { name: named.name.clone(), guid: named.id.guid, age: named.id.age };
    let cache = etw_layouts_cli::kernel::home_cache().unwrap_or_else(|| Path::new("symbols").to_owned());
    let wrong = |why: String| if is_asked { Missing::Wrong(why) } else { Missing::None(why) };
    let path = SymbolPath::parse(&text, &cache).map_err(|error| wrong(error.to_string()))?;
    let path = path.find(&pdb, &mut |_, _| {}).map_err(|error| missing(error.to_string()))?;
    let bytes = symbols::load(&path).map_err(|error| missing(format!("{}: {error}", path.display())))?;
    Ok((path, bytes, None))
}

impl Known {
    /// How sure the layouts are, in words: as sure as the least of them.
    pub fn confidence(&self) -> String {
        let mut words: Vec<&str> = self.layouts.iter().map(|layout| layout.confidence).filter(|word| *word != "absent").collect();
        words.sort_unstable();
        words.dedup();
        words.join(", ")
    }

    /// That addresses of variables are known without symbols, and what states them.
    fn of_facts(&self) -> Option<String> {
        match self.symbols_by {
            "facts" => {
                let (guid, age) = (self.guid.as_ref()?, self.age?);
                Some(format!("known to etw: {} global variables of PDB {guid}, age {age}", self.globals.len()))
            }
            "build" => {
                let (count, build) = (self.by_build, self.revision.build);
                let plural = if count == 1 { "" } else { "s" };
                Some(format!("known to etw: {count} global variable{plural} of build {build:#}, from a table that names no PDB"))
            }
            _ => None,
        }
    }

    /// Says on the standard error what of an answer is not proven.
    pub fn tell(&self, file: &str, out: &Output) {
        let by_header = (self.revision.build_by == "header").then(|| {
            format!(
                "the kernel's revision is not known, so that the layouts of the first one of {:#} are taken; say it with --build",
                self.revision.build
            )
        });
        let of_context = self.layouts.iter().filter(|layout| layout.structure == "WMI_LOGGER_CONTEXT" && layout.substituted);
        let substituted =
            of_context.map(|layout| format!("the layout of {} is another kernel's: {}", layout.structure, layout.evidence));
        let known = self.of_facts().map(|known| format!("symbols: {known}"));
        let symbols = self.symbols_note.iter().map(|note| format!("symbols: {note}"));
        for note in by_header.into_iter().chain(self.revision.note()).chain(substituted).chain(symbols).chain(known) {
            out.aside(&Note { file, note });
        }
    }

    /// A line for each layout.
    pub fn layouts(&self) -> impl Iterator<Item = String> + '_ {
        self.layouts.iter().map(|layout| {
            let of =
                layout.of.as_deref().filter(|_| layout.substituted).map(|of| format!(", taken from {of}")).unwrap_or_default();
            format!("{:22} {}{of}: {}", layout.structure, layout.confidence, layout.evidence)
        })
    }
}

/// What of an answer is not as it may be thought.
#[derive(Serialize)]
pub struct Note<'a> {
    pub file: &'a str,
    pub note: String,
}

impl Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: note: {}", Escaped(self.file), Escaped(&self.note))
    }
}

impl Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.revision.fmt(f)?;
        if let (Some(pdb), Some(guid), Some(age)) = (&self.pdb, &self.guid, self.age) {
            writeln!(f, "    pdb       {} {guid}, age {age}", Escaped(pdb))?;
        }
        match (&self.symbols, &self.symbols_note) {
            (Some(path), note) => {
                writeln!(f, "    symbols   {}, {} global variables", Escaped(path), self.globals.len())?;
                note.iter().try_for_each(|note| writeln!(f, "              {}", Escaped(note)))?;
            }
            (None, note) if self.symbols_by == "facts" => {
                writeln!(f, "    symbols   {}", self.of_facts().unwrap_or_default())?;
                note.iter().try_for_each(|note| writeln!(f, "              {}", Escaped(note)))?;
            }
            (None, note) => {
                writeln!(f, "    symbols   {}", Escaped(note.as_deref().unwrap_or("none")))?;
                self.of_facts().iter().try_for_each(|known| writeln!(f, "              {known}"))?;
                if self.globals.contains_key("EtwpDebuggerData") {
                    writeln!(f, "              sessions are found by what the kernel tells debuggers, providers are not")?;
                }
            }
        }
        writeln!(f, "    layouts   {}", self.confidence())?;
        // Those that another kernel stands in for are told in full, here or on demand.
        let substituted = self.layouts.iter().filter(|layout| layout.substituted).count();
        if substituted > 0 {
            writeln!(f, "              {substituted} of {} taken from another kernel: see --details", self.layouts.len())?;
        }
        Ok(())
    }
}
