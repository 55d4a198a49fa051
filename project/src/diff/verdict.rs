//! What a comparison of two sides shows: which structures are equal, which differ, and of which this is unknown.

use super::{Changes, Side, changes};
use crate::Error;
use std::collections::BTreeSet;

/// All structures and enumerations of two sides. Each is in one of the sets.
#[derive(Debug, Default)]
pub struct Verdict<'a> {
    /// The layouts of both sides are known and equal.
    pub equal: BTreeSet<&'a str>,
    /// They differ, whichever of its candidates an uncertain layout is.
    pub differ: BTreeSet<&'a str>,
    /// They can be equal and can differ: a layout is inferred or uncertain.
    pub unknown: BTreeSet<&'a str>,
    /// Those in `differ` and `unknown` with an inferred or uncertain layout.
    pub inferred: BTreeSet<&'a str>,
}

impl<'a> Verdict<'a> {
    /// The result for two sides and their differences.
    pub fn of(a: &'a Side, b: &'a Side, changes: &Changes) -> Self {
        let changed = changes.structures();
        let can_be_equal = equal_alternatives(a, b);
        let mut verdict = Self::default();
        for name in a.types.keys().chain(b.types.keys()).map(String::as_str) {
            let is_inferred = a.unexamined.contains(name) || b.unexamined.contains(name);
            let set = match changed.contains(name) {
                true if can_be_equal.contains(name) => &mut verdict.unknown,
                true => &mut verdict.differ,
                false if is_inferred => &mut verdict.unknown,
                false => &mut verdict.equal,
            };
            set.insert(name);
            if is_inferred {
                verdict.inferred.insert(name);
            }
        }
        verdict
    }

    /// Fails if no structure is known to differ, and if it is unknown whether some do.
    ///
    /// # Errors
    ///
    /// It is unknown whether the sides differ.
    pub fn ensure_decided(&self, a: &Side, b: &Side) -> Result<(), Error> {
        if self.unknown.is_empty() || !self.differ.is_empty() {
            return Ok(());
        }
        let [one, other] = [a, b].map(|side| side.choice.as_ref().map_or(&side.label, |choice| &choice.asked.name));
        let all = self.equal.len() + self.unknown.len();
        let count = format!("{} of {all} structures and enumerations have inferred or uncertain layouts", self.unknown.len());
        let help = "compare with a symbol file of the build that has not been examined, or import it";
        Err(format!("unknown whether {one} and {other} differ: {count}; {help}").into())
    }
}

/// The structures for which another candidate of a side has no difference from a candidate of the other side.
fn equal_alternatives(a: &Side, b: &Side) -> BTreeSet<String> {
    let names: BTreeSet<&String> = a.alternatives.iter().chain(&b.alternatives).flat_map(|side| side.types.keys()).collect();
    let candidates = |side: &Side, name: &str| -> Vec<Side> {
        let own = std::iter::once(side).chain(&side.alternatives).filter(|side| side.types.contains_key(name));
        own.map(|side| side.only(name)).collect()
    };
    let can_be_equal = |name: &&String| {
        let (ours, theirs) = (candidates(a, name), candidates(b, name));
        ours.iter().any(|one| theirs.iter().any(|other| changes(one, other).is_empty()))
    };
    names.into_iter().filter(can_be_equal).cloned().collect()
}
