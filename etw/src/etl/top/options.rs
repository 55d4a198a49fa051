//! Questions and keys as options.

use crate::output::stop::Stop;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use etw_layouts_answers::top::{Key, What};

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
