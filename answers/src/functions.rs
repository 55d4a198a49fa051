//! Functions of images, by the program databases that a trace names, and by the exports of images.

use crate::frame::Function;
use etw_layouts_symbols::image::Exports;
use etw_layouts_symbols::{ImageFile, Reason, pdb};
use etw_layouts_trace::ImagePdb;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The functions of program databases, which clones share. By default there are none.
#[derive(Clone, Default)]
pub struct Functions(Option<Arc<Mutex<Opened>>>);

/// Why a program database is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdbFailure {
    /// The kind of the problem.
    pub reason: Reason,
    /// The place and what is wrong there.
    pub detail: String,
}

impl PdbFailure {
    /// A file that was found, but cannot be used.
    #[must_use]
    pub fn unusable(detail: impl Into<String>) -> Self {
        Self { reason: Reason::Unusable, detail: detail.into() }
    }
}

/// Finds the bytes of a program database.
type Find = dyn FnMut(&ImagePdb) -> Result<Vec<u8>, PdbFailure> + Send;

/// Finds the exports of an image.
type FindExports = dyn FnMut(&ImageFile, Option<&ImagePdb>) -> Option<Exports> + Send;

/// Limits of the exports that are kept: their size in bytes, and the number of images.
const EXPORTS: usize = 128 << 20;
const IMAGES: usize = 1 << 14;

struct Opened {
    find: Box<Find>,
    find_exports: Option<Box<FindExports>>,
    exports: HashMap<(ImageFile, Option<ImagePdb>), Option<Exports>>,
    /// Size of the exports, in bytes.
    exports_size: usize,
    files: HashMap<ImagePdb, (pdb::Functions, usize)>,
    /// Size of the files, in bytes.
    size: usize,
    failures: BTreeMap<ImagePdb, PdbFailure>,
    /// Number of files that could not be read in time. Their threads can still run, and their memory is not free.
    hung: u32,
}

/// Maximum number of files that could not be read in time; no further file is read.
const MAX_HUNG: u32 = 2;

/// Limit of the size of the files that are in memory at the same time, in bytes. Beyond it they are closed, and opened again when needed.
const MEMORY: usize = if cfg!(target_family = "wasm") { 1 << 28 } else { 1 << 30 };

impl Functions {
    /// The functions of program databases. `find` returns the bytes of a program database, or the reason why it has none. It is called again for a
    /// program database that was closed to limit memory.
    pub fn new(find: impl FnMut(&ImagePdb) -> Result<Vec<u8>, PdbFailure> + Send + 'static) -> Self {
        Self(Some(Arc::new(Mutex::new(Opened {
            find: Box::new(find),
            find_exports: None,
            exports: HashMap::new(),
            exports_size: 0,
            files: HashMap::new(),
            size: 0,
            failures: BTreeMap::new(),
            hung: 0,
        }))))
    }

    /// Uses the exports of images without a usable program database, too. `find` returns the exports of an image, by its file name, time stamp and
    /// size, and by its program database.
    #[must_use]
    pub fn with_exports(self, find: impl FnMut(&ImageFile, Option<&ImagePdb>) -> Option<Exports> + Send + 'static) -> Self {
        if let Some(mut opened) = self.lock() {
            opened.find_exports = Some(Box::new(find));
        }
        self
    }

    /// The program databases that were wanted and cannot be used, each with the reason.
    #[must_use]
    pub fn failures(&self) -> BTreeMap<ImagePdb, PdbFailure> {
        self.lock().map(|opened| opened.failures.clone()).unwrap_or_default()
    }

    /// The functions at an offset in an image: inlined ones first, the innermost of them first.
    pub(crate) fn at(&self, pdb: &ImagePdb, offset: u32) -> Vec<Function> {
        let Some(mut opened) = self.lock() else { return Vec::new() };
        let Some(functions) = opened.functions(pdb) else { return Vec::new() };
        let found = functions.at(offset);
        if functions.has_failed() {
            // Its thread can still run, so its memory is not free.
            opened.files.remove(pdb);
            opened.hung += 1;
            let failure = PdbFailure::unusable("its functions cannot be read: the file is corrupt; copy it again");
            opened.failures.insert(pdb.clone(), failure);
        }
        let function = |found: pdb::Function| Function {
            name: found.name.into(),
            source: found.source.map(|(file, line)| (file.into(), line)),
        };
        found.into_iter().map(function).collect()
    }

    /// The nearest export at or before an offset in an image, and the distance to it in bytes.
    pub(crate) fn export_at(&self, image: &ImageFile, pdb: Option<&ImagePdb>, offset: u32) -> Option<(Arc<str>, u32)> {
        let mut opened = self.lock()?;
        let (name, distance) = opened.exports(image, pdb)?.at(offset)?;
        Some((name.into(), distance))
    }

    fn lock(&self) -> Option<MutexGuard<'_, Opened>> {
        self.0.as_ref().map(|opened| opened.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Opened {
    fn exports(&mut self, image: &ImageFile, pdb: Option<&ImagePdb>) -> Option<&Exports> {
        let key = (image.clone(), pdb.cloned());
        if !self.exports.contains_key(&key) {
            let found = self.find_exports.as_mut()?(image, pdb);
            if self.exports_size > EXPORTS || self.exports.len() >= IMAGES {
                (self.exports, self.exports_size) = (HashMap::new(), 0);
            }
            self.exports_size += found.as_ref().map_or(0, Exports::size);
            self.exports.insert(key.clone(), found);
        }
        self.exports.get(&key)?.as_ref()
    }

    fn functions(&mut self, pdb: &ImagePdb) -> Option<&mut pdb::Functions> {
        if self.failures.contains_key(pdb) {
            return None;
        }
        if !self.files.contains_key(pdb) {
            let opened = (self.find)(pdb).and_then(|bytes| {
                if self.hung >= MAX_HUNG {
                    let detail =
                        format!("not read: {MAX_HUNG} others could not be read in time; take those out of the symbol path");
                    return Err(PdbFailure::unusable(detail));
                }
                let size = bytes.len();
                if self.size.saturating_add(size) > MEMORY {
                    (self.files, self.size) = (HashMap::new(), 0);
                }
                pdb::Functions::open(bytes).map(|functions| (functions, size)).map_err(|error| {
                    self.hung += u32::from(error == pdb::Error::TimedOut);
                    PdbFailure::unusable(error.to_string())
                })
            });
            match opened {
                Ok((functions, size)) => {
                    self.size += size;
                    self.files.insert(pdb.clone(), (functions, size));
                }
                Err(reason) => _ = self.failures.insert(pdb.clone(), reason),
            }
        }
        self.files.get_mut(pdb).map(|(functions, _)| functions)
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Functions").field("failures", &self.failures()).finish_non_exhaustive()
    }
}
