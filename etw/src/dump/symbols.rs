//! The symbols of the kernel of a full dump.

use etw_layouts::constants::DUMP_TYPE;
use etw_layouts_dump::{MemoryDump, Source};
use etw_layouts_memory::globals;
use etw_layouts_symbols::store::SymbolPath;
use etw_layouts_symbols::{self as symbols, Globals, Symbols, Wanted};
use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Reads the given symbols of the kernel of a dump, or those found along the symbol path.
pub fn read<S: Source>(dump: &MemoryDump<S>, file: Option<&Path>, symbol_path: Option<&str>) -> Result<SymbolFile, Missing> {
    let named = dump.image().and_then(|image| image.pdb.as_ref());
    if let Some(path) = file {
        let wrong = |why: &dyn Display| Missing::Wrong(format!("{}: {why}", path.display()));
        let bytes = symbols::load(path).map_err(|error| wrong(&error))?;
        let table = match symbols::read(&bytes, &Wanted::from_iter(globals())).map_err(|error| wrong(&error))? {
            Symbols::Table(table) => table,
            _ => return Err(wrong(&"no addresses of global variables in this symbol file; give a PDB or an ISF table")),
        };
        let note = match (table.pdb, named) {
            (Some(own), Some(named)) if own.guid != named.id.guid => {
                let (own, kernel) = (own.guid, named.id.guid);
                return Err(wrong(&format!(
                    "symbols of another build: PDB GUID is {own}, but the kernel has {kernel}; give the matching PDB"
                )));
            }
            (Some(_), Some(_)) => None,
            _ => Some("the symbols may be from another build: the dump or the symbol file does not name a PDB".into()),
        };
        return Ok(SymbolFile { path: path.to_owned(), globals: table.globals, note });
    }
    // For memory without the headers of a dump, only symbols that the caller names are used.
    let is_dump = dump.header().kind != DUMP_TYPE(0);
    let variable = env::var("_NT_SYMBOL_PATH").ok().filter(|_| is_dump);
    let (text, is_asked) = match (symbol_path, variable) {
        (Some(path), _) => (path.to_owned(), true),
        (None, Some(path)) => (path, false),
        (None, None) if is_dump => {
            return Err(Missing::None("none; use --symbols FILE, --symbol-path PATH or _NT_SYMBOL_PATH".into()));
        }
        (None, None) => return Err(Missing::None("none; use --symbols FILE".into())),
    };
    let missing = |why: String| if is_asked { Missing::Requested(why) } else { Missing::None(why) };
    let Some(named) = named else { return Err(missing("the dump does not name the kernel's PDB; use --symbols FILE".into())) };
    let pdb = symbols::Pdb { name: named.name.clone(), guid: named.id.guid, age: named.id.age };
    let cache = etw_layouts_cli::symbol_options::home_cache().unwrap_or_else(|| Path::new("symbols").to_owned());
    let wrong = |why: String| if is_asked { Missing::Wrong(why) } else { Missing::None(why) };
    let path = SymbolPath::parse(&text, &cache).map_err(|error| wrong(error.to_string()))?;
    let path = path.find(&pdb, &mut |_, _| {}).map_err(|error| missing(error.to_string()))?;
    let bytes = symbols::load(&path).map_err(|error| missing(format!("{}: {error}", path.display())))?;
    let globals = symbols::globals(&bytes, globals());
    let globals = globals.map_err(|error| Missing::Wrong(format!("{}: {error}", path.display())))?;
    Ok(SymbolFile { path, globals, note: None })
}

/// Why there are no symbols.
pub enum Missing {
    /// The given symbols cannot be read, or are from another build.
    Wrong(String),
    /// The given path has no symbols for the kernel.
    Requested(String),
    /// No symbols were given.
    None(String),
}

/// A symbol file that was read.
pub struct SymbolFile {
    pub path: PathBuf,
    /// Addresses of global variables where walks start.
    pub globals: Globals,
    /// A warning if the symbols may be from another build.
    pub note: Option<String>,
}
