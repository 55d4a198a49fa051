//! Files that are opened together: traces, sessions of crash dumps, schemas, and program databases.

use crate::symbols::{self, SymbolFile};
use etw_layouts_dump::Dump;
use etw_layouts_symbols::pdb;
use etw_layouts_trace::{BytesSource, Source, TraceFile};
use std::io::Cursor;
use std::path::PathBuf;

/// Files that are opened together.
#[derive(Default)]
pub struct Files {
    pub(crate) traces: Vec<TraceFile>,
    pub(crate) schemas: Vec<(PathBuf, Vec<u8>)>,
    pub(crate) symbols: Vec<SymbolFile>,
    /// What is left out, as sentences.
    pub(crate) notes: Vec<String>,
}

impl Files {
    /// Adds a trace file.
    ///
    /// # Errors
    ///
    /// The source cannot be read, or is not a trace file.
    pub fn add_trace(&mut self, name: String, source: impl Source + 'static) -> Result<(), String> {
        self.traces.push(TraceFile::new(name, source).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Adds the sessions of a minidump, each as a trace file in memory. A session that has no form as a trace file is left out, with a note.
    ///
    /// # Errors
    ///
    /// The bytes are not a minidump of the kernel, or no session has a form as a trace file.
    pub fn add_dump(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        let refused = |reason: &str| format!("{name}: {reason}");
        let dump =
            Dump::from_bytes(bytes).map_err(|error| refused(&format!("{error}; `etw dump` reads other kinds of dumps")))?;
        let before = self.traces.len();
        for session in dump.sessions() {
            let of_session = format!("{name}, session {}", session.name());
            let mut file = Cursor::new(Vec::new());
            match session.save(&mut file) {
                Ok(_) => self.add_trace(of_session, BytesSource(file.into_inner()))?,
                Err(error) => self.notes.push(format!("{of_session}: left out: {error}")),
            }
        }
        self.notes.extend(dump.diagnostics().iter().map(|diagnostic| refused(&diagnostic.to_string())));
        if self.traces.len() == before {
            Err(refused("no session with events; `etw dump sessions` lists what it has"))
        } else {
            Ok(())
        }
    }

    /// Adds a file with schemas, or a program database with functions. One that is corrupt is left out, with a note.
    pub fn add_schemas(&mut self, name: String, source: impl Source + 'static) {
        let bytes = match symbols::read(&source) {
            Ok(bytes) => bytes,
            Err(reason) => return self.notes.push(format!("{name}: {reason}")),
        };
        if pdb::is_pdb(&bytes) {
            let (mut identities, mut has_messages) = (Vec::new(), false);
            let read = pdb::identities(&bytes).and_then(|known| {
                identities = known;
                pdb::annotations(&bytes, |_| has_messages = true)
            });
            if let Err(error) = read {
                return self.notes.push(format!("{name}: {error}"));
            }
            self.symbols.push(SymbolFile { name: name.clone(), identities, source: Box::new(source) });
            if !has_messages {
                return;
            }
        }
        self.schemas.push((PathBuf::from(name), bytes));
    }
}
