//! Options of traces.

use crate::error::Error;
use crate::wpp::WppSources;
use etw_layouts_etl::{Diagnostic, Schemas};
use etw_layouts_schemas::trace;
use std::fmt;
use std::sync::Arc;

/// Options of [`Trace::new`](crate::Trace::new).
#[derive(Default)]
pub struct Options<'o> {
    pub(crate) schemas: Schemas,
    pub(crate) skips_unreadable: bool,
    notices: Option<Box<dyn FnMut(Notice) + 'o>>,
    find_messages: Option<Box<FindMessages<'o>>>,
}

/// Finds the schemas of messages of WPP, as a library.
type FindMessages<'o> = dyn FnMut(&WppSources) -> Option<Arc<[u8]>> + 'o;

/// A report of the first pass.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// A diagnostic of a file.
    Diagnostic {
        /// Index of the file.
        file: usize,
        /// The diagnostic.
        diagnostic: Diagnostic,
    },
    /// A schema in a trace that cannot be used.
    Schema {
        /// Index of the file.
        file: usize,
        /// The reason.
        diagnostic: trace::Diagnostic,
    },
    /// Further schemas in a session that cannot be used.
    MoreSchemas {
        /// Index of the first file of the session.
        file: usize,
        /// Their number.
        count: u64,
    },
    /// A file that cannot be read to its end. The trace has none of its events.
    Unreadable {
        /// Index of the file.
        file: usize,
        /// The reason.
        error: Arc<Error>,
    },
    /// A file became longer while it was read. The new bytes are not read.
    Growth {
        /// Index of the file.
        file: usize,
        /// The number of new bytes.
        bytes: u64,
    },
    /// The names and call stacks of a session exceed the memory limit. They are stored in unnamed temporary files.
    Temporary {
        /// Index of the first file of the session.
        file: usize,
        /// Size of the temporary files, in bytes.
        bytes: u64,
    },
    /// The names and call stacks of a session exceed the memory limit on a host without temporary files, such as a browser. The trace lacks the last ones.
    NotKept {
        /// Index of the first file of the session.
        file: usize,
        /// Number of names, parts of call stacks, and keys of call stacks that the trace lacks.
        records: u64,
    },
}

impl<'o> Options<'o> {
    /// The default options: the schemas of kernel events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the schemas to use after those in the trace itself.
    #[must_use]
    pub fn schemas(self, schemas: Schemas) -> Self {
        Self { schemas, ..self }
    }

    /// Continues without the events of a file that cannot be read to its end, which becomes a [`Notice::Unreadable`]. Without this option, it is an
    /// error.
    #[must_use]
    pub fn skip_unreadable(self) -> Self {
        Self { skips_unreadable: true, ..self }
    }

    /// Calls a function with each report of the first pass.
    #[must_use]
    pub fn notices(self, notices: impl FnMut(Notice) + 'o) -> Self {
        Self { notices: Some(Box::new(notices)), ..self }
    }

    /// Calls a function for each session with messages of WPP, after its files were read, for a library with the schemas of the messages. They are used after
    /// all other schemas.
    #[must_use]
    pub fn find_messages(self, find: impl FnMut(&WppSources) -> Option<Arc<[u8]>> + 'o) -> Self {
        Self { find_messages: Some(Box::new(find)), ..self }
    }

    pub(crate) fn messages(&mut self, sources: &WppSources) -> Option<Arc<[u8]>> {
        self.find_messages.as_mut().filter(|_| !sources.guids().is_empty())?(sources)
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        if let Some(notices) = &mut self.notices {
            notices(notice);
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("schemas", &self.schemas).finish_non_exhaustive()
    }
}
