//! Sources of the bytes of a trace, which are read by position.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The bytes of a trace. Its length is fixed when it is opened: a file that becomes shorter is an error, bytes that are added later are not read.
pub trait Source: Debug + Send + Sync {
    /// Number of bytes.
    fn length(&self) -> u64;

    /// Fills the slice with the bytes at an offset.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read, or there are fewer: [`io::ErrorKind::UnexpectedEof`].
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Number of bytes that were added since the source was opened.
    fn growth(&self) -> u64 {
        0
    }
}

/// A file. It is not mapped into memory, because a mapped file that becomes shorter ends the process.
#[derive(Debug)]
pub struct FileSource {
    file: Opened,
    length: u64,
    is_copy: bool,
}

#[derive(Debug)]
enum Opened {
    Once(File),
    ForEachRead(PathBuf),
}

impl FileSource {
    /// Opens a file or a disk. A stream, such as a pipe, is copied to a temporary file, which has no name and is removed with the value.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the temporary file cannot be written.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A disk has a length that its metadata does not state.
        let length = if metadata.is_file() { metadata.len() } else { file.seek(SeekFrom::End(0)).unwrap_or_default() };
        if !metadata.is_file() && length == 0 {
            return Self::spool(file);
        }
        Ok(Self { file: Opened::Once(file), length, is_copy: false })
    }

    /// Whether the source is a stream, of which a temporary file is read.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.is_copy
    }

    /// The file with this path, opened again for each read: for more files than a process can have open.
    #[must_use]
    pub fn reopened(self, path: impl Into<PathBuf>) -> Self {
        Self { file: Opened::ForEachRead(path.into()), ..self }
    }

    /// Copies a stream to a temporary file.
    ///
    /// # Errors
    ///
    /// The stream cannot be read, or the temporary file cannot be written.
    pub fn spool(mut stream: impl Read) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        let length = io::copy(&mut stream, &mut file)?;
        Ok(Self { file: Opened::Once(file), length, is_copy: true })
    }
}

impl Source for FileSource {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let read = match &self.file {
            Opened::Once(file) => read_exact_at(file, bytes, offset),
            Opened::ForEachRead(path) => read_exact_at(&File::open(path)?, bytes, offset),
        };
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), "the file became shorter while it was read; read it again when nothing changes it")
            }
            _ => error,
        })
    }

    fn growth(&self) -> u64 {
        let metadata = match &self.file {
            Opened::Once(file) => file.metadata(),
            Opened::ForEachRead(path) => path.metadata(),
        };
        metadata.map_or(0, |metadata| metadata.len().saturating_sub(self.length))
    }
}

#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        match file.seek_read(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                bytes = &mut std::mem::take(&mut bytes)[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
pub(crate) fn read_exact_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

/// Bytes in memory.
#[derive(Clone)]
pub struct BytesSource<B>(pub B);

impl<B> Debug for BytesSource<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BytesSource")
    }
}

impl<B: AsRef<[u8]> + Send + Sync> Source for BytesSource<B> {
    fn length(&self) -> u64 {
        self.0.as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.0.as_ref().get(offset..)).unwrap_or(&[]);
        bytes.copy_from_slice(rest.get(..bytes.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Reads a source from its start to its end. `S` is a reference to the source, or a box.
#[derive(Debug)]
pub struct Sequential<S> {
    source: S,
    offset: u64,
}

impl<S: Deref<Target: Source>> Sequential<S> {
    /// Begins at the start of a source.
    pub fn new(source: S) -> Self {
        Self { source, offset: 0 }
    }
}

impl<S: Deref<Target: Source>> Read for Sequential<S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.source.length() - self.offset).unwrap_or(usize::MAX);
        let count = left.min(bytes.len());
        self.source.read_at(self.offset, &mut bytes[..count])?;
        self.offset += count as u64;
        Ok(count)
    }
}
