//! Where the new file is written: to a path, to standard output, or to memory.

use crate::output::Escaped;
use crate::output::stop::Stop;
use etw_layouts_cli::NewFile;
use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

pub enum Target {
    /// With the name as given by the user.
    File(NewFile, String),
    Stdout,
    Memory(RefCell<Vec<u8>>),
}

/// The size of the write buffer.
const CAPACITY: usize = 1 << 17;

impl Target {
    /// Creates the file under its temporary name.
    pub fn create(path: &Path) -> Result<Self, Stop> {
        if path != Path::new("-") {
            let name = Escaped(&path.display().to_string()).to_string();
            return match NewFile::create(path) {
                Ok(new) => Ok(Self::File(new, name)),
                Err(why) => Err(unwritable(&name, &why)),
            };
        }
        match io::stdout().is_terminal() {
            true => Err(Stop::Input(
                "standard output is a terminal, and pcapng is binary; redirect it, or give -o a file name".into(),
            )),
            false => Ok(Self::Stdout),
        }
    }

    pub fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    pub fn writer(&self) -> Box<dyn Write + '_> {
        match self {
            Self::File(new, _) => Box::new(BufWriter::with_capacity(CAPACITY, new.file())),
            Self::Stdout => Box::new(BufWriter::with_capacity(CAPACITY, io::stdout().lock())),
            Self::Memory(bytes) => Box::new(Kept(bytes)),
        }
    }

    /// The error of writing. A closed pipe keeps its kind, because it is not an error of the command.
    pub fn unwritable(&self, error: io::Error) -> Stop {
        match self {
            Self::File(_, name) => unwritable(name, &error.to_string()),
            _ => Stop::Output(error),
        }
    }

    /// Gives the file its name.
    pub fn finish(self) -> Result<(), Stop> {
        match self {
            Self::File(new, name) => new.finish().map_err(|why| unwritable(&name, &why)),
            _ => Ok(()),
        }
    }
}

/// A writer to memory.
struct Kept<'a>(&'a RefCell<Vec<u8>>);

impl Write for Kept<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unwritable(name: &str, why: &str) -> Stop {
    Stop::Output(io::Error::other(format!("{name}: {why}")))
}
