//! Program databases that are dropped on the page, for the names of functions.

use etw_layouts_answers::{Functions, PdbFailure};
use etw_layouts_symbols::{MAX_PDB, Pdb, Reason};
use etw_layouts_trace::{ImagePdb, Source};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A program database. It is read again when its functions are needed.
pub(crate) struct SymbolFile {
    pub name: String,
    /// The identities for which it is the right one.
    pub identities: Vec<Pdb>,
    pub source: Box<dyn Source>,
}

/// The functions of program databases.
#[derive(Default)]
pub(crate) struct Symbols {
    pub functions: Functions,
    names: Vec<String>,
    /// Names of the files that are in use.
    used: Arc<Mutex<BTreeSet<String>>>,
}

impl Symbols {
    pub fn new(files: Vec<SymbolFile>) -> Self {
        if files.is_empty() {
            return Self::default();
        }
        let names = files.iter().map(|file| file.name.clone()).collect();
        let used = Arc::<Mutex<BTreeSet<_>>>::default();
        let found = used.clone();
        let functions = Functions::new(move |pdb| {
            let file = find(&files, pdb)?;
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(file.name.clone());
            read(&*file.source).map_err(|reason| PdbFailure::unusable(format!("{}: {reason}", file.name)))
        });
        Self { functions, names, used }
    }

    /// The files that name no function, with the reason.
    pub fn unused(&self) -> Vec<String> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = self.functions.failures().into_values().filter(|failure| failure.reason == Reason::Unusable);
        let mut notes: Vec<_> = failures.map(|failure| failure.detail).collect();
        let is_noted = |name: &String| notes.iter().any(|note| note.starts_with(name.as_str()));
        let idle: Vec<_> = self.names.iter().filter(|name| !used.contains(*name) && !is_noted(name)).collect();
        let note = |name| format!("{name}: no function in the report: no call stack of a sample has an address in its image");
        notes.extend(idle.into_iter().map(note));
        notes
    }
}

/// The file of a program database.
fn find<'a>(files: &'a [SymbolFile], pdb: &ImagePdb) -> Result<&'a SymbolFile, PdbFailure> {
    let is_wanted = |known: &Pdb| (known.guid, known.age) == (pdb.guid, pdb.age);
    if let Some(file) = files.iter().find(|file| file.identities.iter().any(is_wanted)) {
        return Ok(file);
    }
    let wanted = pdb.name.rsplit(['\\', '/']).next().unwrap_or_default();
    let Some(other) = files.iter().find(|file| file.name.eq_ignore_ascii_case(wanted)) else {
        return Err(PdbFailure { reason: Reason::NotFound, detail: String::new() });
    };
    let (guid, age) = (pdb.guid.simple(), pdb.age);
    let detail = format!("{}: not the PDB of the image, which has GUID {guid:X} and age {age}; drop that one", other.name);
    Err(PdbFailure::unusable(detail))
}

/// All bytes of a file.
pub(crate) fn read(source: &dyn Source) -> Result<Vec<u8>, String> {
    if source.length() > MAX_PDB {
        return Err(format!("file too large: more than {} MiB", MAX_PDB >> 20));
    }
    let mut bytes = vec![0; source.length() as usize];
    source.read_at(0, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
