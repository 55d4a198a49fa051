//! Where the new file is written: to a path, or to standard output.

use crate::output::Escaped;
use crate::output::stop::Stop;
use etw_layouts_cli::NewFile;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

pub enum Target {
    /// With the name as given by the user.
    File(NewFile, String),
    Stdout,
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
        }
    }

    /// An error of writing with the name of the file. A closed pipe keeps its kind, because it is not an error of the command.
    pub fn named(&self, stop: Stop) -> Stop {
        match (self, stop) {
            (Self::File(_, name), Stop::Output(error)) => unwritable(name, &error.to_string()),
            (_, stop) => stop,
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

fn unwritable(name: &str, why: &str) -> Stop {
    Stop::Output(io::Error::other(format!("{name}: {why}")))
}
