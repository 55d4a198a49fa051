//! Opens dump files by path.

use crate::dump::Dump;
use crate::error::{Error, OpenError};
use crate::header::DumpHeader;
use crate::system::MemoryDump;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A dump file of any kind.
///
/// ```no_run
/// use etw_layouts_dump::DumpFile;
///
/// match DumpFile::open("MEMORY.DMP")? {
///     DumpFile::Triage(dump) => println!("a minidump with {} sessions", dump.sessions().len()),
///     DumpFile::Memory(dump) => println!("{} pages of memory", dump.pages()),
/// }
/// # Ok::<(), etw_layouts_dump::OpenError>(())
/// ```
pub enum DumpFile {
    /// A triage dump, read into memory.
    Triage(Dump<'static>),
    /// A full dump or kernel dump. Its pages are read on demand.
    Memory(MemoryDump<File>),
}

impl DumpFile {
    /// Opens a dump of any kind.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a supported dump.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let start = Start::read(path.as_ref())?;
        if start.header.is_triage() { start.triage().map(Self::Triage) } else { start.memory().map(Self::Memory) }
    }
}

impl Dump<'static> {
    /// Reads a triage dump into memory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a triage dump.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Start::read(path.as_ref())?.triage()
    }
}

impl MemoryDump<File> {
    /// Opens a full dump or kernel dump, and reads its headers, the list of pages and the list of modules. Pages are read from the
    /// file on demand.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a dump of physical memory of a supported kind.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Start::read(path.as_ref())?.memory()
    }
}

/// An open file, with its headers.
struct Start<'p> {
    path: &'p Path,
    file: File,
    /// The first bytes, which contain the headers.
    bytes: Vec<u8>,
    header: DumpHeader,
}

impl<'p> Start<'p> {
    fn read(path: &'p Path) -> Result<Self, OpenError> {
        let (file, mut bytes) = (File::open(path).map_err(unreadable(path))?, Vec::new());
        (&file).take(DumpHeader::SIZE as u64).read_to_end(&mut bytes).map_err(unreadable(path))?;
        let header = DumpHeader::read(&bytes).map_err(unusable(path))?;
        Ok(Self { path, file, bytes, header })
    }

    fn triage(mut self) -> Result<Dump<'static>, OpenError> {
        // Other dumps are not read into memory, because they can be as large as the memory of their system.
        if self.header.is_triage() {
            self.file.read_to_end(&mut self.bytes).map_err(unreadable(self.path))?;
        }
        Dump::with_header(self.bytes, self.header).map_err(unusable(self.path))
    }

    fn memory(self) -> Result<MemoryDump<File>, OpenError> {
        MemoryDump::with_header(self.file, self.header).map_err(unusable(self.path))
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    move |error| OpenError::Read { path: path.to_owned(), error }
}

fn unusable(path: &Path) -> impl FnOnce(Error) -> OpenError {
    move |error| OpenError::Dump { path: path.to_owned(), error }
}
