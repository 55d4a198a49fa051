//! The servicing updates of Windows: the list `updates.txt` of the facts, and the months of its updates.
//!
//! A line has a KB number and the builds of the update: `KB5031356 10.0.19044.3570 10.0.19045.3570`. `month 2018-01 KB4056893`
//! gives the month of an update. `#` begins a comment.

mod calendar;
#[cfg(test)]
mod tests;

pub use calendar::{Calendar, Month};

use crate::Error;
use etw_layouts_codegen::axis::Build;
use std::collections::BTreeMap;

/// File name of the list in the folder of facts.
pub const FILE: &str = "updates.txt";

/// The updates of a list.
#[derive(Clone, Debug, Default)]
pub struct Updates {
    /// KB numbers of each build, ascending. Some builds have two, and some KB numbers have several revisions.
    pub kbs: BTreeMap<Build, Vec<u32>>,
    /// The first month, and an update of that month.
    first: Option<(Month, u32)>,
}

impl Updates {
    /// Parses a list; error messages name it as `path`.
    ///
    /// # Errors
    ///
    /// The first invalid line, with the expected form.
    pub fn parse(text: &str, path: &str) -> Result<Self, Error> {
        let mut updates = Self::default();
        for (index, line) in text.lines().enumerate() {
            let fault = updates.line(line.split('#').next().unwrap_or_default());
            fault.map_err(|fault| format!("{path}:{}: {fault}", index + 1))?;
        }
        let known = |kb| updates.kbs.values().any(|kbs| kbs.contains(&kb));
        match updates.first {
            Some((month, kb)) if !known(kb) => Err(format!("{path}: KB{kb} of {month} is not in the list; add its line").into()),
            _ => Ok(updates),
        }
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (None, _) => Ok(()),
            (Some("month"), Some(month)) => {
                let kb = number(words.next().unwrap_or_default())?;
                match self.first.replace((month.parse()?, kb)) {
                    Some((before, _)) => Err(format!("duplicate month, after {before}; keep one")),
                    None => {
                        words.next().map_or(Ok(()), |word| Err(format!("unexpected `{word}`; write `month 2022-01 KB5009557`")))
                    }
                }
            }
            (Some(kb), Some(first)) => {
                let kb = number(kb)?;
                [first].into_iter().chain(words).try_for_each(|word| self.enter(kb, word))
            }
            (Some(kb), None) => Err(format!("`{kb}` has no builds; write `KB5031356 10.0.19045.3570`")),
        }
    }

    fn enter(&mut self, kb: u32, word: &str) -> Result<(), String> {
        let build = word.parse().ok().filter(|_| word.split('.').count() == 4);
        let build: Build = build.ok_or_else(|| format!("invalid build `{word}`; write four numbers, as in 10.0.19045.3570"))?;
        let kbs = self.kbs.entry(build).or_default();
        match kbs.binary_search(&kb) {
            Ok(_) => Err(format!("duplicate entry: KB{kb} already lists {build}; remove one")),
            Err(at) => {
                kbs.insert(at, kb);
                Ok(())
            }
        }
    }
}

fn number(word: &str) -> Result<u32, String> {
    let digits = word.strip_prefix("KB").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| format!("invalid KB number `{word}`; write `KB` and digits, as in KB5031356"))
}
