//! Libraries of schemas for the events of traces and dumps: the trace's own, those that the user names, and the catalogue.

use etw_layouts_cli::Error;
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::payload::packed::Library;
use etw_layouts_etl::{LogFile, Schemas};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{env, fs};

/// The variable with paths for --manifests, separated like those of PATH.
const VARIABLE: &str = "ETW_MANIFESTS";

/// Options for schemas.
#[derive(clap::Args)]
#[command(next_help_heading = "Schemas")]
pub struct SchemaOptions {
    /// Use the schemas in PATH: a library of schemas (.etwschemas). Repeatable. Without the option, the environment variable
    /// ETW_MANIFESTS names paths, separated like those of PATH. Schemas in the trace itself take precedence.
    #[arg(long, value_name = "PATH")]
    manifests: Vec<PathBuf>,
    #[arg(skip)]
    named: OnceLock<Vec<Arc<[u8]>>>,
}

impl SchemaOptions {
    /// Reads what the user names.
    ///
    /// # Errors
    ///
    /// A path cannot be read, or has no schemas.
    pub fn load(&self) -> Result<(), Error> {
        let paths: Vec<_> = match env::var_os(VARIABLE).filter(|_| self.manifests.is_empty()) {
            Some(variable) => env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty()).collect(),
            None => self.manifests.clone(),
        };
        let libraries = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
        self.named.get_or_init(|| libraries);
        Ok(())
    }

    /// The schemas for the events of a trace or session; `own` is a library of schemas that the trace contains.
    pub fn of_trace(&self, log: &LogFile, own: Option<Arc<[u8]>>) -> Schemas {
        let pointers = if log.pointer_size == 4 { PointerSize::Bits32 } else { PointerSize::Bits64 };
        let schemas = self.with(own).with_pointers(pointers);
        if log.build == 0 { schemas } else { schemas.with_build(log.build) }
    }

    /// The schemas for events of any trace.
    pub fn of_any(&self) -> Schemas {
        self.with(None)
    }

    /// Libraries in the order in which they are asked.
    fn with(&self, own: Option<Arc<[u8]>>) -> Schemas {
        let named = self.named.get().into_iter().flatten().cloned();
        own.into_iter().chain(named).chain(catalogue()).fold(Schemas::built_in(), |schemas, library| {
            // Each has been read as a library.
            schemas.clone().with_library(library).unwrap_or(schemas)
        })
    }
}

/// Reads the schemas in a file or folder as a library.
fn read(path: &Path) -> Result<Arc<[u8]>, Error> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| format!("cannot read schemas: {name}: {error}"))?;
    match Library::read(&bytes) {
        Ok(_) => Ok(bytes.into()),
        Err(error) => Err(format!("cannot read schemas: {name}: {error}; give a library of schemas").into()),
    }
}

/// The library of the catalogue, if the program has one.
fn catalogue() -> Option<Arc<[u8]>> {
    None
}
