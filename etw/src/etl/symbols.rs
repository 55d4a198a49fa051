//! PDBs along the symbol path: the functions of images in call stacks, and messages of WPP.

use crate::object::object;
use crate::output::{Escaped, Output, Several};
use crate::selection::Wanted;
use crate::symbol_options::home_cache;
use etw_layouts_answers::{Functions, PdbFailure};
use etw_layouts_symbols::store::{NO_FOLDER, Reason, SymbolPath};
use etw_layouts_symbols::{Pdb, load};
use etw_layouts_trace::ImagePdb;
use std::collections::BTreeMap;
use std::env;
use std::path::Path;

/// Where the functions of images are found.
#[derive(Default, clap::Args)]
pub struct StackSymbols {
    /// Find the functions in call stacks in PDBs along this path, in the syntax of the Windows debuggers: folders, srv*CACHE*URL or
    /// cache*FOLDER, separated by `;` [default: the value of _NT_SYMBOL_PATH]. The trace names the PDB of each image. For an image without a
    /// PDB, its exports are used if a folder of the path has the image. `etw etl events` finds the formats of WPP messages in private PDBs, too. Downloads
    /// without a CACHE are stored in .cache/etw/symbols of the home folder. With an empty PATH, no PDB is read.
    #[arg(long, value_name = "PATH")]
    symbol_path: Option<String>,
}

/// Where the messages of WPP are found.
#[derive(clap::Args)]
pub struct MessageSymbols {
    /// Find the formats of WPP messages in PDBs along this path, in the syntax of the Windows debuggers: folders, srv*CACHE*URL or
    /// cache*FOLDER, separated by `;` [default: the value of _NT_SYMBOL_PATH]. The trace names the PDBs; private PDBs have formats. Downloads
    /// without a CACHE are stored in .cache/etw/symbols of the home folder. With an empty PATH, no PDB is read.
    #[arg(long, value_name = "PATH")]
    symbol_path: Option<String>,
}

impl MessageSymbols {
    /// The PDBs.
    ///
    /// # Errors
    ///
    /// The symbol path is invalid.
    pub fn search(&self) -> Result<Option<PdbSearch>, String> {
        PdbSearch::new(self.symbol_path.as_deref())
    }

    /// The PDBs, if they are needed.
    ///
    /// # Errors
    ///
    /// The symbol path is invalid, or given without need.
    pub fn search_for(&self, wanted: &Wanted) -> Result<Option<PdbSearch>, String> {
        match (&self.symbol_path, wanted.asks_for_content()) {
            (Some(_), false) => Err(
                "--symbol-path has no effect without an option that selects events by what they are or contain, such as --event"
                    .into(),
            ),
            (_, true) => self.search(),
            (None, false) => Ok(None),
        }
    }
}

impl StackSymbols {
    /// The symbols along a path; without one, along that of the environment.
    #[cfg(feature = "table")]
    pub fn new(symbol_path: Option<String>) -> Self {
        Self { symbol_path }
    }

    /// The functions, which are searched only if stacks are needed.
    ///
    /// # Errors
    ///
    /// The symbol path is invalid, or given without need.
    pub fn functions(&self, are_needed: bool) -> Result<Functions, String> {
        if self.symbol_path.is_some() && !are_needed {
            return Err(
                "--symbol-path has no effect without names of functions; add the key `function` or `stack` in --by".into()
            );
        }
        if are_needed { self.all() } else { Ok(Functions::default()) }
    }

    /// The functions.
    ///
    /// # Errors
    ///
    /// The symbol path is invalid.
    pub fn all(&self) -> Result<Functions, String> {
        let search = self.search()?;
        let Some(mut search) = search else { return Ok(Functions::default()) };
        let path = search.path.clone();
        let functions = Functions::new(move |pdb| search.read(pdb));
        Ok(functions.with_exports(move |image, pdb| path.find_exports(image, pdb.map(in_store).as_ref())))
    }

    /// The PDBs along the path.
    ///
    /// # Errors
    ///
    /// The symbol path is invalid.
    pub fn search(&self) -> Result<Option<PdbSearch>, String> {
        PdbSearch::new(self.symbol_path.as_deref())
    }

    /// Reports the PDBs that were not found, or cannot be used.
    pub fn report(&self, functions: &Functions, out: &Output) {
        report(&functions.failures(), out);
    }
}

/// A search for PDBs along a symbol path.
pub struct PdbSearch {
    path: SymbolPath,
    /// The number of PDBs for which a server did not respond.
    unreachable: u32,
}

/// The number of PDBs for which a server does not respond, after which servers are not contacted any more.
const MAX_UNREACHABLE: u32 = 3;

impl PdbSearch {
    /// The search along a path, or else along that of the environment; `None` without a path.
    pub fn new(path: Option<&str>) -> Result<Option<Self>, String> {
        let given = path.is_some();
        let path = path.map(str::to_owned).or_else(|| env::var("_NT_SYMBOL_PATH").ok()).filter(|path| !path.trim().is_empty());
        let Some(path) = path else { return Ok(None) };
        let cache = home_cache().unwrap_or_else(|| Path::new("symbols").to_owned());
        let path = SymbolPath::parse(&path, &cache).map_err(|error| error.to_string())?;
        // The variable is for all programs, and often names folders of other computers.
        if let Some(folder) = path.missing_folders().first().filter(|_| given) {
            return Err(format!(
                "invalid --symbol-path: the folder {} does not exist; check the path",
                Escaped(&folder.display().to_string())
            ));
        }
        Ok(Some(Self { path, unreachable: 0 }))
    }

    /// Reads a PDB.
    pub fn read(&mut self, pdb: &ImagePdb) -> Result<Vec<u8>, PdbFailure> {
        let found = self.path.find(&in_store(pdb), &mut |_, _| {}).map_err(|error| {
            let cause = error.cause();
            let reason = cause.map_or(Reason::NotFound, |cause| cause.reason);
            if self.unreachable >= MAX_UNREACHABLE && reason == Reason::NotFound {
                let detail = format!("servers not contacted after {MAX_UNREACHABLE} PDBs without a response");
                return PdbFailure { reason: Reason::Unreachable, detail };
            }
            if reason == Reason::Unreachable {
                self.unreachable += 1;
                if self.unreachable >= MAX_UNREACHABLE {
                    self.path = self.path.without_servers();
                }
            }
            PdbFailure { reason, detail: cause.map_or(String::new(), |cause| format!("{}: {}", cause.place, cause.answer)) }
        })?;
        load(&found).map_err(|error| PdbFailure::unusable(format!("{}: {error}", found.display())))
    }
}

/// The number of PDBs to report that cannot be used.
const FAILURES: usize = 8;

/// Reports the PDBs that cannot be read, by reason.
pub fn report(failures: &BTreeMap<ImagePdb, PdbFailure>, out: &Output) {
    for note in notes(failures) {
        out.say(format_args!("note: {}", Escaped(&note)), &object! { note: &note });
    }
}

/// Notes on the PDBs that cannot be read, by reason.
pub fn notes(failures: &BTreeMap<ImagePdb, PdbFailure>) -> Vec<String> {
    let of = |reason: Reason| failures.iter().filter(move |(_, failure)| failure.reason == reason);
    let counted = |(reason, problem, remedy): (Reason, &str, &str)| {
        let mut all = of(reason);
        let (_, first) = all.next()?;
        let (count, detail) = (1 + all.count() as u64, &first.detail);
        Some(match reason {
            Reason::NotFound if !detail.ends_with(NO_FOLDER) => format!("{} {problem}; {remedy}", Several(count, "PDB")),
            _ => {
                format!("{} {problem} ({}{detail}); {remedy}", Several(count, "PDB"), if count > 1 { "the first: " } else { "" })
            }
        })
    };
    let reasons = [
        (Reason::NotFound, "not found along the symbol path", "add a folder or server that has them"),
        (Reason::Refused, "not read: access refused", "check the permissions of the folder, or the account for the server"),
        (Reason::Unreachable, "not read: the symbol server does not respond", "check the network and the proxy, and try again"),
    ];
    let mut notes: Vec<_> = reasons.into_iter().filter_map(counted).collect();
    let unusable = of(Reason::Unusable).take(FAILURES);
    notes.extend(unusable.map(|(pdb, PdbFailure { detail, .. })| format!("{}: {detail}", path_in_store(pdb))));
    if let more @ 1.. = of(Reason::Unusable).count().saturating_sub(FAILURES) {
        notes.push(format!("{} more cannot be used", Several(more as u64, "PDB")));
    }
    notes
}

/// The PDB as symbol stores name it: by its file name.
pub fn in_store(pdb: &ImagePdb) -> Pdb {
    let name = pdb.name.rsplit(['\\', '/']).next().unwrap_or(&pdb.name);
    Pdb { name: name.to_owned(), guid: pdb.guid, age: pdb.age }
}

/// The path of the PDB in a symbol store.
pub fn path_in_store(pdb: &ImagePdb) -> String {
    let pdb = in_store(pdb);
    format!("{name}/{}/{name}", pdb.key(), name = pdb.name)
}
