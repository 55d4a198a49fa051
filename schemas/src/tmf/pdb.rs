//! Messages in program databases: the WPP preprocessor writes each with the intrinsic `__annotation`, as the lines of a TMF file after the text `TMF:`.

use super::{WppMessage, parse};
use crate::schemas::{SchemaError, Schemas, SourcePosition};
use etw_layouts_symbols::pdb::{self, Annotation};
use std::sync::Arc;

/// The first text of an annotation with a message.
const MARK: &[u8] = b"TMF:";

/// Maximum number of messages. Large drivers have some ten thousand.
const MAX_MESSAGES: usize = 1 << 20;

/// Reads the messages of a program database, which private ones have. An annotation that cannot be parsed is an error of the [`Schemas`], which have no
/// providers, and does not affect other messages. A message that does not state its function has the function that contains the annotation.
///
/// # Errors
///
/// The input is another format, or is corrupt.
pub fn read_pdb(bytes: &[u8]) -> Result<(Vec<WppMessage>, Schemas), pdb::Error> {
    let (mut messages, mut schemas, mut left_out) = (Vec::new(), Schemas::default(), 0_u64);
    // Many annotations of a function share its name.
    let mut last: Arc<str> = Arc::default();
    let corrupt = pdb::annotations(bytes, |annotation| {
        if annotation.texts().next() != Some(MARK) {
            return;
        }
        if messages.len() >= MAX_MESSAGES {
            left_out += 1;
            return;
        }
        let (found, errors) = parse::read(&lines(&annotation));
        for error in errors {
            schemas.report(SchemaError { place: SourcePosition::Module(annotation.module), ..error });
        }
        let function = String::from_utf8_lossy(annotation.function.unwrap_or_default());
        if *function != *last {
            last = function.into();
        }
        messages.extend(found.into_iter().map(|message| match message.function.is_empty() {
            true => WppMessage { function: last.clone(), ..message },
            false => message,
        }));
    })?;
    if left_out > 0 {
        let message =
            format!("more than {MAX_MESSAGES} messages: {left_out} annotations left out; give .tmf files of the wanted sources");
        schemas.report(SchemaError { place: SourcePosition::Module(0), message });
    }
    for module in corrupt {
        let message = "corrupt symbols: messages after the damage are missing; copy the file again".to_owned();
        schemas.report(SchemaError { place: SourcePosition::Module(module), message });
    }
    Ok((messages, schemas))
}

/// The texts after the first as the lines of a TMF file.
fn lines(annotation: &Annotation<'_>) -> Vec<u8> {
    annotation.texts().skip(1).flat_map(|text| [text, b"\n"]).flatten().copied().collect()
}
