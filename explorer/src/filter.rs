//! The filter of the page: the options of `etw etl events` that select events, as words in one line.

use clap::{CommandFactory, Parser};
use etw_layouts_lines::selection::Wanted;
use serde::Serialize;

/// The options, as a command.
#[derive(Parser)]
#[command(name = "filter", no_binary_name = true, disable_help_flag = true)]
struct Words {
    #[command(flatten)]
    wanted: Wanted,
}

/// An option of the filter.
#[derive(Serialize)]
pub struct FilterOption {
    /// Its name.
    pub name: String,
    /// The name of its value, such as `GUID|GROUP|NAME`.
    pub value: String,
    /// Its help.
    pub help: String,
}

/// Options that name files: the page has files by name only when they are dropped on it.
const FILES: [&str; 2] = ["manifests", "tmf"];

/// The options of the filter, with their help.
pub fn options() -> Vec<FilterOption> {
    let command = Words::command();
    let arguments = command.get_arguments().filter_map(|argument| Some((argument, argument.get_long()?)));
    let arguments = arguments.filter(|(_, name)| !FILES.contains(name));
    let option = |(argument, name): (&clap::Arg, &str)| FilterOption {
        name: name.to_owned(),
        value: argument.get_value_names().into_iter().flatten().map(|name| name.to_string()).collect(),
        help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
    };
    arguments.map(option).collect()
}

/// Reads a filter: `name=value` or `--name value`, with spaces between; a value with spaces is in quotes. A word without a name is a text that a value
/// contains.
pub(crate) fn read(text: &str) -> Result<Wanted, String> {
    let mut words = Vec::new();
    let names: Vec<_> = options().into_iter().map(|option| option.name).collect();
    let mut given = split(text)?.into_iter();
    while let Some(word) = given.next() {
        let (name, value) = match word.strip_prefix("--") {
            Some(option) if option.contains('=') => option.split_once('=').unwrap_or((option, "")),
            Some(option) => {
                let Some(value) = given.next() else {
                    return Err(format!("option without a value: --{option}; write {option}=VALUE"));
                };
                words.push(checked(&names, option, &value)?);
                continue;
            }
            None => match word.split_once('=') {
                Some((name, value)) if is_name(name) => (name, value),
                _ => ("contains", word.as_str()),
            },
        };
        words.push(checked(&names, name, value)?);
    }
    let words = Words::try_parse_from(words).map_err(|error| first_line(&error))?;
    words.wanted.check().map_err(|error| error.to_string())?;
    Ok(words.wanted)
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

fn checked(names: &[String], name: &str, value: &str) -> Result<String, String> {
    match names.iter().any(|known| known == name) {
        true => Ok(format!("--{name}={value}")),
        false => Err(format!("unknown option `{name}`; known options: {}", names.join(", "))),
    }
}

/// The first line of the message of an error.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The words of a line. Quotes include spaces, and are removed.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("quote without an end; close it".into());
    }
    words.extend(word);
    Ok(words)
}
