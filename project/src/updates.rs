//! The servicing updates of Windows: the list `updates.txt` of the facts.
//!
//! A line has a KB number, the month of the update if it is known, and the builds of the update:
//! `KB5031356 2023-10 10.0.19044.3570 10.0.19045.3570`. `#` begins a comment.

#[cfg(test)]
mod tests;

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
    /// Year and month of updates by KB number, as in `2023-10`; without updates whose month is unknown.
    pub months: BTreeMap<u32, String>,
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
        Ok(updates)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace().peekable();
        let Some(word) = words.next() else { return Ok(()) };
        let kb = number(word)?;
        if let Some(month) = words.next_if(|word| word.contains('-')) {
            if !is_month(month) {
                return Err(format!("invalid month `{month}`; write year and month, as in 2022-01"));
            }
            self.months.insert(kb, month.to_owned());
        }
        if words.peek().is_none() {
            return Err(format!("`{word}` has no builds; write `KB5031356 10.0.19045.3570`"));
        }
        words.try_for_each(|word| self.enter(kb, word))
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

fn is_month(word: &str) -> bool {
    let (year, month) = word.split_once('-').unwrap_or_default();
    let is_number = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number(year, 4) && is_number(month, 2) && ("01"..="12").contains(&month)
}
