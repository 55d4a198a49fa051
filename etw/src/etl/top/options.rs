//! Questions and keys as options.

use crate::output::stop::Stop;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use etw_layouts_answers::top::{Key, What};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Parses the name of a question.
pub fn what() -> impl TypedValueParser<Value = What> {
    let names = What::all().map(|what| PossibleValue::new(what.name()).help(help(what)));
    PossibleValuesParser::new(names).try_map(|name| What::named(&name).ok_or("unknown value"))
}

fn help(what: What) -> String {
    let default = what.default_keys().len();
    let names = |keys: &[Key]| keys.iter().map(|key| key.name()).collect::<Vec<_>>().join(", ");
    let sorted = what.measures()[what.main()].name;
    format!("{}; by {} (default: {}); sorted by {sorted}", what.summary(), names(what.keys()), names(&what.keys()[..default]))
}

/// Parses the name of a key.
pub fn key() -> impl TypedValueParser<Value = Key> {
    let names = Key::all().map(|key| PossibleValue::new(key.name()).help(key.summary()));
    PossibleValuesParser::new(names).try_map(|name| Key::named(&name).ok_or("unknown value"))
}

/// The given keys without duplicates, or the default ones.
///
/// # Errors
///
/// The events of the question do not have a key.
pub fn keys_of(what: What, given: &[Key]) -> Result<Vec<Key>, Stop> {
    let mut keys = Vec::new();
    for key in if given.is_empty() { what.default_keys() } else { given } {
        if !what.keys().contains(key) {
            let names: Vec<_> = what.keys().iter().map(|key| key.name()).collect();
            let why = format!("`{}` has no key `{}`; its keys are {}", what.name(), key.name(), names.join(", "));
            return Err(Stop::Input(why));
        }
        if !keys.contains(key) {
            keys.push(*key);
        }
    }
    Ok(keys)
}

/// What to sum.
#[derive(Clone)]
pub enum Question {
    One(What),
    /// All questions. The word is the first file.
    All(PathBuf),
}

/// Parses the name of a question, or of the first file if no question has the name.
#[derive(Clone)]
pub struct Parser;

impl TypedValueParser for Parser {
    type Value = Question;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, word: &OsStr) -> Result<Question, Error> {
        let what = word.to_str().and_then(What::named);
        let path = Path::new(word);
        match what {
            Some(what) => Ok(Question::One(what)),
            None if word == "-" || path.exists() => Ok(Question::All(path.to_owned())),
            None => {
                let names: Vec<_> = What::all().map(What::name).collect();
                let why = format!("`{}` is no question and no file; questions: {}\n", path.display(), names.join(", "));
                Err(Error::raw(ErrorKind::InvalidValue, why).with_cmd(command))
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(What::all().map(|what| PossibleValue::new(what.name()).help(help(what)))))
    }
}
