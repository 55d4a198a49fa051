//! The functions of images in call stacks, by PDBs along the symbol path.

use crate::object::object;
use crate::output::{Escaped, Output, Several};
use crate::symbol_options::home_cache;
use etw_layouts_answers::Functions;
use etw_layouts_symbols::store::SymbolPath;
use etw_layouts_symbols::{Pdb, load};
use etw_layouts_trace::ImagePdb;
use std::env;
use std::path::Path;

/// Where the functions of images are found.
#[derive(Default, clap::Args)]
pub struct StackSymbols {
    /// Find the functions in call stacks in PDBs along this path, in the syntax of the Windows debuggers: folders, srv*CACHE*URL or
    /// cache*FOLDER, separated by `;` [default: the value of _NT_SYMBOL_PATH]. The trace names the PDB of each image. Downloads
    /// without a CACHE are stored in .cache/etw/symbols of the home folder. With an empty PATH, no PDB is read.
    #[arg(long, value_name = "PATH")]
    symbol_path: Option<String>,
}

/// The number of PDBs to report that cannot be used.
const FAILURES: usize = 8;

impl StackSymbols {
    /// The functions, which are searched only if stacks are needed.
    ///
    /// # Errors
    ///
    /// The symbol path is invalid, or given without need.
    pub fn functions(&self, are_needed: bool) -> Result<Functions, String> {
        if self.symbol_path.is_some() && !are_needed {
            return Err(
                "--symbol-path has no effect without names of functions; add --stacks, or the key `function` or `stack` in --by"
                    .into(),
            );
        }
        let path = self.symbol_path.clone().or_else(|| env::var("_NT_SYMBOL_PATH").ok()).filter(|path| !path.trim().is_empty());
        let Some(path) = path.filter(|_| are_needed) else { return Ok(Functions::default()) };
        let cache = home_cache().unwrap_or_else(|| Path::new("symbols").to_owned());
        let path = SymbolPath::parse(&path, &cache).map_err(|error| error.to_string())?;
        Ok(Functions::new(move |pdb| {
            let found = path.find(&in_store(pdb), &mut |_, _| {}).map_err(|_| NOT_FOUND.to_owned())?;
            load(&found).map_err(|error| format!("{}: {error}", found.display()))
        }))
    }

    /// Reports the PDBs that were not found, or cannot be used.
    pub fn report(&self, functions: &Functions, out: &Output) {
        let failures = functions.failures();
        let (absent, wrong): (Vec<_>, Vec<_>) = failures.iter().partition(|(_, why)| *why == NOT_FOUND);
        if !absent.is_empty() {
            let note = format!("{} not found along the symbol path", Several(absent.len() as u64, "PDB"));
            out.say(format_args!("note: {note}"), &object! { note: &note });
        }
        for (pdb, why) in wrong.iter().take(FAILURES) {
            let note = format!("{}: {why}", path_in_store(pdb));
            out.say(format_args!("note: {}", Escaped(&note)), &object! { note: &note });
        }
        if let more @ 1.. = wrong.len().saturating_sub(FAILURES) {
            let note = format!("{} more cannot be used", Several(more as u64, "PDB"));
            out.say(format_args!("note: {note}"), &object! { note: &note });
        }
    }
}

const NOT_FOUND: &str = "not found along the symbol path";

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
