//! From spec text to [`Spec`]: every fact read, every key known, all errors in one run.

mod axis;
mod definition;
mod member;
mod scalars;
mod tree;

use crate::diagnostic::{Diagnostic, Errors};
use crate::source::Sources;
use crate::spec::Spec;
use toml::de::DeTable;
use tree::Reader;

/// Reads a spec set.
///
/// # Errors
///
/// Everything that is wrong with the texts, each with its place. Whether the facts agree with each other is for
/// [`resolve`](crate::resolve()) to say.
pub fn read(sources: Sources) -> Result<Spec, Errors> {
    let mut errors = Vec::new();
    let mut spec = Spec::default();
    let parsed: Vec<_> =
        sources.files().iter().enumerate().map(|(file, source)| parse(file, &source.text, &mut errors)).collect();
    // An unparsed file would only make the others look wrong.
    if errors.is_empty() {
        let roots = || parsed.iter().enumerate();
        let has = |root: &DeTable, key: &str| root.iter().any(|(k, _)| *k.get_ref() == key);
        let mut reader = Reader::new(&mut errors);
        axis::read(&mut reader, roots().filter(|(_, r)| has(r, "version")), &mut spec.axis);
        for (file, root) in roots().filter(|(_, r)| !has(r, "version")) {
            reader.file = file;
            if has(root, "scalar") || has(root, "typedef") {
                scalars::read(&mut reader, root, &mut spec);
            } else {
                definition::read(&mut reader, root, &mut spec);
            }
        }
    }
    match errors.is_empty() {
        true => Ok(Spec { sources, ..spec }),
        false => Err(Errors::new(sources, errors)),
    }
}

fn parse<'a>(file: usize, text: &'a str, errors: &mut Vec<Diagnostic>) -> DeTable<'a> {
    let mut reader = Reader::new(errors);
    reader.file = file;
    // Spans are 32 bits wide.
    if text.len() > 1 << 24 {
        reader.error(reader.span(0..0), "a file of over 16 MiB", "", "split the file, one structure each");
        return DeTable::default();
    }
    let (table, syntax) = DeTable::parse_recoverable(text);
    for error in syntax {
        let span = reader.span(error.span().unwrap_or(0..0));
        reader.error(span, "this is not TOML", error.message(), "mend the syntax; specs are TOML 1.0");
    }
    table.into_inner()
}
