//! Files that are opened together: traces, sessions of crash dumps, and schemas.

use etw_layouts_dump::Dump;
use etw_layouts_trace::{BytesSource, Source, TraceFile};
use std::io::Cursor;
use std::path::PathBuf;

/// Files that are opened together.
#[derive(Default)]
pub struct Files {
    pub(crate) traces: Vec<TraceFile>,
    pub(crate) schemas: Vec<(PathBuf, Vec<u8>)>,
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

    /// Adds a file with schemas.
    pub fn add_schemas(&mut self, name: String, bytes: Vec<u8>) {
        if name.to_ascii_lowercase().ends_with(".pdb") {
            self.notes.push(format!(
                "{name}: used for messages of WPP, not for names of functions; `etw etl report --symbol-path FOLDER` and `etw etl events --stacks --symbol-path FOLDER` name \
                 functions"
            ));
        }
        self.schemas.push((PathBuf::from(name), bytes));
    }
}
