//! Libraries of schemas for the events of traces and dumps: those in the trace, those named by the user, and the catalogue.

use crate::wpp::WppMessages;
use crate::{Error, Refusals, unreadable};
use etw_layouts_etl::payload::packed::Library;
use etw_layouts_etl::payload::{PointerSize, Source};
use etw_layouts_etl::text::Several;
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{LogFile, Schemas};
use etw_layouts_schemas::LibraryBuilder;
use etw_layouts_schemas::files::{self, FileSchemas, Format};
use etw_layouts_schemas::tmf::WppMessage;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{env, fmt, fs, io};

/// The environment variable with paths for --manifests, separated as in PATH.
const VARIABLE: &str = "ETW_MANIFESTS";

/// Options for schemas.
#[derive(Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Schemas")]
pub struct SchemaOptions {
    /// Use the schemas in PATH: manifests (.man, .xml), Windows binaries with compiled manifests, or folders of them, such as the System32
    /// folder of a mounted disk image. Repeatable. Without the option, the environment variable ETW_MANIFESTS names paths,
    /// separated as in the environment variable PATH (`;` on Windows, `:` elsewhere). Schemas in the trace itself have priority; those of PATH have priority over the built-in ones.
    #[arg(long, value_name = "PATH")]
    #[serde(skip)]
    manifests: Vec<PathBuf>,
    /// Use the messages in PATH for events of the Windows software trace preprocessor (WPP): trace message format files (.tmf),
    /// private program databases (.pdb), or folders of them. Repeatable.
    #[arg(long, value_name = "PATH")]
    #[serde(skip)]
    tmf: Vec<PathBuf>,
    #[arg(skip)]
    #[serde(skip)]
    named: OnceLock<Arc<Named>>,
}

/// Shows the paths that the user named.
impl fmt::Debug for SchemaOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaOptions").field("manifests", &self.manifests).field("tmf", &self.tmf).finish()
    }
}

/// The schemas and messages that the user named.
#[derive(Default)]
struct Named {
    libraries: Vec<Arc<[u8]>>,
    messages: Arc<WppMessages>,
}

impl SchemaOptions {
    /// Options with these paths. [`load`](Self::load) reads them.
    pub fn new(manifests: Vec<PathBuf>, tmf: Vec<PathBuf>) -> Self {
        Self { manifests, tmf, named: OnceLock::new() }
    }

    /// Reads the paths that the user named. Errors in parts of files are reported.
    pub fn load(&self, out: &impl Refusals) -> Result<(), Error> {
        let paths: Vec<_> = match env::var_os(VARIABLE).filter(|_| self.manifests.is_empty()) {
            Some(variable) => env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty()).collect(),
            None => self.manifests.clone(),
        };
        let mut named = Named::default();
        for path in &paths {
            read(path, "manifests (.man, .xml), or Windows binaries with compiled manifests", &mut named, out)?;
        }
        for path in &self.tmf {
            read(path, "trace message format files (.tmf), or private program databases (.pdb)", &mut named, out)?;
        }
        self.named.get_or_init(|| Arc::new(named));
        Ok(())
    }

    /// Options without paths, with the schemas and messages of files in memory, each with its name. Files that cannot be used are reported.
    pub fn from_files(contents: impl IntoIterator<Item = (PathBuf, Vec<u8>)>, out: &impl Refusals) -> Self {
        let (options, mut named) = (Self::new(Vec::new(), Vec::new()), Named::default());
        for (path, bytes) in contents {
            let refused = |reason: &str| out.refused(&path.display().to_string(), reason);
            match files::read_bytes(&path, bytes) {
                Ok(Some(file)) => _ = named.add(&[file], out),
                Ok(None) => {
                    refused("no schemas; give manifests (.man, .xml), Windows binaries, or trace message format files (.tmf)")
                }
                Err(file) => refused(&file.reason),
            }
        }
        options.named.get_or_init(|| Arc::new(named));
        options
    }

    /// The schemas that the user named, without the paths of their files: a library for each path.
    #[cfg(feature = "table")]
    pub fn contents(&self) -> Vec<Vec<u8>> {
        let libraries = self.named.get().into_iter().flat_map(|named| &named.libraries);
        let content = |library: &Arc<[u8]>| {
            let mut builder = LibraryBuilder::default();
            let origin = builder.origin(Source::Manifest, "", None);
            // Each library was already read successfully.
            let library = etw_layouts_schemas::Library::from_bytes(&**library).ok();
            library.iter().flat_map(|library| library.providers()).for_each(|provider| builder.add(&provider, origin));
            builder.build().bytes().to_vec()
        };
        libraries.map(content).collect()
    }

    /// The WPP messages that the user named.
    pub fn messages(&self) -> Arc<WppMessages> {
        self.named.get().map(|named| named.messages.clone()).unwrap_or_default()
    }

    /// The schemas for the events of a trace, without those that the trace carries.
    pub fn of_trace(&self, log: &LogFile) -> Schemas {
        let pointers = if log.pointer_size == 4 { PointerSize::Bits32 } else { PointerSize::Bits64 };
        let schemas = self.of_any().with_pointers(pointers);
        if log.build == 0 { schemas } else { schemas.with_build(log.build) }
    }

    /// The schemas for the events of a crash dump; the build is that of its kernel.
    pub fn of_dump(&self, producer: Producer) -> Schemas {
        let pointers = if producer.pointer_size() == 4 { PointerSize::Bits32 } else { PointerSize::Bits64 };
        self.of_any().with_pointers(pointers).with_build(producer.build.number[2])
    }

    /// The schemas for events of any trace, in the order in which they are used.
    pub fn of_any(&self) -> Schemas {
        let named = self.named.get().into_iter().flat_map(|named| &named.libraries).cloned();
        let schemas = named.fold(Schemas::built_in(), |schemas, library| {
            // Each library was already read successfully.
            schemas.clone().with_library(library).unwrap_or(schemas)
        });
        schemas.with_static_library(etw_layouts_catalog::library())
    }
}

/// Reads the schemas and messages in a file or folder.
fn read(path: &Path, wanted: &str, named: &mut Named, out: &impl Refusals) -> Result<(), Error> {
    let name = path.display();
    let failed = |error: &io::Error| format!("cannot read schemas: {name}: {}", unreadable(error));
    if path.is_file() {
        let bytes = fs::read(path).map_err(|error| failed(&error))?;
        if Library::read(&bytes).is_ok() {
            named.libraries.push(bytes.into());
            return Ok(());
        }
    }
    let found = files::read_path(path, &|_| {}).map_err(|error| failed(&error))?;
    let count = named.add(&found.files, out);
    for file in &found.unusable {
        out.refused(&file.path.display().to_string(), &file.reason);
    }
    if count == 0 {
        return Err(format!("no schemas in {name}; give {wanted}").into());
    }
    Ok(())
}

impl Named {
    /// Adds the schemas and messages of files as one library, and returns their number.
    fn add(&mut self, files: &[FileSchemas], out: &impl Refusals) -> usize {
        let mut builder = LibraryBuilder::default();
        let (mut providers, mut messages) = (0, 0);
        let known = Arc::make_mut(&mut self.messages);
        for file in files {
            messages += file.messages.len();
            let others: Vec<_> = file.messages.iter().filter(|message| known.add(message)).collect();
            if let Some(WppMessage { guid, number, .. }) = others.first() {
                let reason = format!(
                    "ambiguous messages: {} differ from messages with the same GUID and number that were read before and are used, the first is \
                     {number} of {guid}; give only the files of the traced binary",
                    others.len()
                );
                out.refused(&file.path.display().to_string(), &reason);
            }
            // Messages become events, so that filters and counts find their names, and tables have columns for their arguments.
            let origin_of_messages = builder.origin(Source::Manifest, "", None);
            file.messages.iter().for_each(|message| builder.add(&message.to_provider(), origin_of_messages));
            let source = match file.format {
                Format::Binary => Source::Binary,
                _ => Source::Manifest,
            };
            let origin = builder.origin(source, &file.path.display().to_string(), None);
            file.schemas.providers.iter().for_each(|provider| builder.add(provider, origin));
            providers += file.schemas.providers.len();
            for error in &file.schemas.errors {
                out.refused(&file.path.display().to_string(), &error.to_string());
            }
            if let more @ 1.. = file.schemas.errors_total.saturating_sub(file.schemas.errors.len()) {
                out.refused(&file.path.display().to_string(), &format!("{} not printed", Several(more as u64, "more error")));
            }
        }
        if providers + messages > 0 {
            self.libraries.push(builder.build().bytes().into());
        }
        providers + messages
    }
}
