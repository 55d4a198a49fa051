//! Reads a TMF file: for each source file a line with its GUID, and for each message a line `#typev` and its arguments in braces.

use super::WppMessage;
use super::argument::{WppArgument, WppType};
use crate::schemas::SchemaError;
use etw_layouts_payload::Uuid;
use std::sync::Arc;

/// Whether bytes begin like a TMF file.
pub fn is_tmf(bytes: &[u8]) -> bool {
    let start = bytes.get(..512).unwrap_or(bytes);
    let text = String::from_utf8_lossy(start);
    let mut lines = text.trim_start_matches('\u{FEFF}').lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().is_some_and(|line| line.starts_with("//PDB:") || line.starts_with("// PDB:") || guid(line).is_some())
}

/// Reads the messages of a TMF file. A line that cannot be parsed is an error, and does not affect other messages.
pub fn read(bytes: &[u8]) -> (Vec<WppMessage>, Vec<SchemaError>) {
    let text = String::from_utf8_lossy(bytes);
    let mut messages: Vec<WppMessage> = Vec::new();
    let mut errors = Vec::new();
    // The GUID with its component, and whether the lines are arguments of the last message.
    let (mut source, mut in_arguments) = (None, false);
    for (number, line) in (1u32..).zip(text.trim_start_matches('\u{FEFF}').lines()) {
        let line = line.trim();
        let error =
            |message: &str| SchemaError::line(number, format!("{message}: `{}`; generate the file again", shortened(line)));
        match line {
            "" | "{" => {}
            "}" => in_arguments = false,
            _ if line.starts_with("//") => {}
            _ if line.starts_with("#typev") || line.starts_with("#type ") => {
                in_arguments = false;
                match source.as_ref().ok_or("message before the GUID of its source file").and_then(|source| message(line, source))
                {
                    Ok(message) => {
                        messages.push(message);
                        in_arguments = true;
                    }
                    Err(problem) => errors.push(error(problem)),
                }
            }
            _ if in_arguments => match (messages.last_mut(), argument(line)) {
                (Some(message), Some(argument)) => message.arguments.push(argument),
                _ => {
                    // The message is dropped, because arguments after an unknown one would be read from the wrong bytes.
                    messages.pop();
                    in_arguments = false;
                    errors.push(error("invalid argument of a message"));
                }
            },
            _ => match guid(line) {
                Some(found) => source = Some(found),
                None => errors.push(error("unexpected line: neither a source file, a message nor an argument")),
            },
        }
        if errors.len() >= crate::Schemas::MAX_ERRORS {
            break;
        }
    }
    (messages, errors)
}

/// A line of a source file: `GUID COMPONENT // SRC=…`.
fn guid(line: &str) -> Option<(Uuid, Arc<str>)> {
    let (guid, rest) = line.split_at_checked(36)?;
    let guid = Uuid::try_parse(guid).ok()?;
    let component = rest.split("//").next().unwrap_or_default().trim();
    (rest.is_empty() || rest.starts_with([' ', '\t', ','])).then(|| (guid, component.trim_start_matches(',').trim().into()))
}

/// A line of a message: `#typev NAME NUMBER "FORMAT" // LEVEL=… FLAGS=… FUNC=…`.
fn message(line: &str, (guid, component): &(Uuid, Arc<str>)) -> Result<WppMessage, &'static str> {
    let (head, rest) = line.split_once('"').ok_or("message without a format")?;
    let (format, comment) = match rest.rfind("\" //") {
        Some(end) => rest.split_at(end),
        None => rest.split_at(rest.rfind('"').ok_or("format of a message without a closing quotation mark")?),
    };
    let mut words = head.split_whitespace().skip(1);
    let name = words.next().ok_or("message without a name")?;
    let number = words.next().and_then(|number| number.parse().ok()).ok_or("message without a number")?;
    let stated = |key: &str| {
        let value = comment.split_once(key).map_or("", |(_, value)| value);
        value.split_whitespace().next().filter(|value| !KEYS.iter().any(|key| value.starts_with(key))).unwrap_or_default()
    };
    Ok(WppMessage {
        guid: *guid,
        number,
        component: component.clone(),
        name: name.to_owned(),
        level: stated(KEYS[0]).to_owned(),
        flags: stated(KEYS[1]).to_owned(),
        function: stated(KEYS[2]).into(),
        format: format.strip_prefix("%0").unwrap_or(format).to_owned(),
        arguments: Vec::new(),
    })
}

const KEYS: [&str; 3] = ["LEVEL=", "FLAGS=", "FUNC="];

/// A line of an argument: `NAME, ItemTYPE -- NUMBER`. Names are expressions, and can have commas.
fn argument(line: &str) -> Option<WppArgument> {
    let (rest, number) = line.rsplit_once("--")?;
    let (name, ty) = rest.split_at_checked(rest.rfind(", Item")?)?;
    Some(WppArgument {
        number: number.trim().parse().ok()?,
        name: name.trim().to_owned(),
        ty: WppType::named(ty.trim_start_matches(',').trim()),
    })
}

fn shortened(line: &str) -> String {
    line.chars().take(60).collect()
}
