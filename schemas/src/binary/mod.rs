//! Reads schemas of PE files: the WEVT_TEMPLATE resources of programs, libraries and drivers, with the messages of the file and of its
//! language file (MUI).

mod resources;

use crate::messages::Messages;
use crate::schemas::{SchemaError, Schemas};
use crate::wevt;
use resources::Resources;
use std::fmt::{self, Display, Formatter};
#[cfg(feature = "manifests")]
use {object::read::ReadCache, std::fs::File, std::path::PathBuf};

/// Error of a PE file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BinaryError {
    /// The file is not a PE file, or its headers or resources are corrupt.
    File(&'static str),
    /// A WEVT_TEMPLATE resource is corrupt; the place is an offset in the resource.
    Schema(SchemaError),
}

/// Reads the schemas of a PE file. `languages` are its language files; they add messages that the file lacks.
///
/// For a file without schemas, the result is empty.
///
/// # Errors
///
/// The file is not a PE file, or is corrupt. Errors in language files are reported with the schemas. No input causes a panic.
pub fn read(file: &[u8], languages: &[&[u8]]) -> Result<Schemas, BinaryError> {
    let resources = resources::read(file).map_err(BinaryError::File)?.ok_or(BinaryError::File("not a PE file"))?;
    let mut messages = Messages::default();
    let mut errors = add(&resources, &mut messages);
    for language in languages {
        if let Ok(Some(resources)) = resources::read(*language) {
            errors.extend(add(&resources, &mut messages));
        }
    }
    schemas(&resources, &messages, errors)
}

/// Reads the schemas of an open file, with the messages of the first language file that has any. Only headers and resources are read.
/// `None` if the file has no schemas.
#[cfg(feature = "manifests")]
pub(crate) fn open(
    file: File,
    languages: impl FnOnce() -> Vec<PathBuf>,
) -> Result<Option<(Schemas, Option<PathBuf>)>, BinaryError> {
    let cache = ReadCache::new(file);
    let Some(resources) = resources::read(&cache).map_err(BinaryError::File)?.filter(|found| !found.templates.is_empty()) else {
        return Ok(None);
    };
    let mut messages = Messages::default();
    let mut errors = add(&resources, &mut messages);
    let mut language_file = None;
    for path in languages() {
        let Ok(file) = File::open(&path) else { continue };
        let cache = ReadCache::new(file);
        if let Ok(Some(resources)) = resources::read(&cache)
            && !resources.messages.is_empty()
        {
            errors.extend(add(&resources, &mut messages));
            language_file = Some(path);
            break;
        }
    }
    schemas(&resources, &messages, errors).map(|schemas| Some((schemas, language_file)))
}

/// The schemas of resources. If no provider can be read, the first error is returned. Otherwise, errors are added to the schemas.
fn schemas(resources: &Resources<'_>, messages: &Messages, errors: Vec<SchemaError>) -> Result<Schemas, BinaryError> {
    let mut all = Schemas::default();
    for resource in &resources.templates {
        match wevt::read(resource, messages) {
            Ok(schemas) => all.append(schemas),
            Err(error) => all.report(error),
        }
    }
    match (all.providers.is_empty(), all.errors.first()) {
        (true, Some(error)) => Err(BinaryError::Schema(error.clone())),
        _ => {
            errors.into_iter().for_each(|error| all.report(error));
            Ok(all)
        }
    }
}

/// The language identifier of English in resources.
const ENGLISH: u32 = 0x409;

/// Adds the message tables, English first, because the first message with an identifier is used.
fn add(resources: &Resources<'_>, messages: &mut Messages) -> Vec<SchemaError> {
    let mut tables = resources.messages.clone();
    tables.sort_by_key(|(language, _)| *language != ENGLISH);
    tables.into_iter().filter_map(|(_, table)| messages.add(table.to_vec()).err()).collect()
}

impl Display for BinaryError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(problem) => write!(f, "{problem}; get the complete file"),
            Self::Schema(error) => write!(f, "WEVT_TEMPLATE resource, {error}"),
        }
    }
}

impl std::error::Error for BinaryError {}
