//! Ranges and piecewise values as text.

use super::form::Value;
use crate::axis::{Arch, Axis, Scope, TargetSet};
use crate::spec::{Piece, Piecewise};
use std::cell::RefCell;
use std::collections::HashMap;

/// The context for writing ranges.
pub struct Scopes<'a> {
    /// The axis.
    pub axis: &'a Axis,
    /// The targets that the assertions of the definition apply to.
    pub documented: TargetSet,
    /// Ranges that are already written: most members have the same ones.
    pub spelled: RefCell<HashMap<(TargetSet, TargetSet), Scope>>,
}

/// The targets that have each text.
type Texts = Vec<(TargetSet, String)>;

impl Scopes<'_> {
    fn spell(&self, among: &TargetSet, set: &TargetSet) -> Scope {
        let key = (among.clone(), set.clone());
        self.spelled.borrow_mut().entry(key).or_insert_with(|| self.axis.spell(among, set)).clone()
    }

    /// A range within another one; `None` if they are equal.
    pub fn range(&self, set: &TargetSet, within: &TargetSet) -> Option<Value> {
        (set != within).then(|| Value::Plain(format!("\"{}\"", self.spell(within, set))))
    }

    /// A value that can differ between the targets of a range; `None` without such a value.
    pub fn pieces<T>(&self, value: &Piecewise<T>, within: &TargetSet, show: impl Fn(&Piece<T>) -> String) -> Option<Value> {
        self.spelled(merged(value.0.iter().map(|piece| (piece.targets.intersection(within), show(piece)))), within, false)
    }

    /// An assertion. Values for the documented targets of the range come first, then values for its other targets.
    pub fn assertion(&self, value: &Piecewise<u64>, within: &TargetSet, show: impl Fn(&Piece<u64>) -> String) -> Option<Value> {
        let texts = merged(value.0.iter().map(|piece| (piece.targets.intersection(within), show(piece))));
        let stated = within.intersection(&self.documented);
        let leading = self.axis.leading(within);
        let sets = [stated, leading, within.clone()];
        let among = sets.into_iter().find(|set| !set.is_empty()).unwrap_or_default();
        let inside = merged(texts.iter().map(|(set, text)| (set.intersection(&among), text.clone())));
        let outside = merged(texts.iter().map(|(set, text)| (set.difference(&among), text.clone())));
        let inside = self.spelled(inside, &among, true);
        // A scope with other architectures does not cover those that follow.
        let apart = |(set, text): &(TargetSet, String)| {
            let leading = self.axis.leading(set);
            [set.difference(&leading), leading].map(|set| (set, text.clone()))
        };
        let apart: Texts = outside.iter().flat_map(apart).filter(|(set, _)| !set.is_empty()).collect();
        let inside = match inside {
            None if apart.len() == outside.len() => return self.spelled(outside, within, true),
            Some(value) if outside.is_empty() => return Some(value),
            None => Vec::new(),
            Some(Value::Pieces(pieces)) => pieces,
            Some(value) => vec![(key(&self.spell(within, &among).to_string()), value)],
        };
        // By architecture, both could have the same keys.
        let outside = apart.iter().map(|(set, text)| (key(&self.spell(within, set).to_string()), Value::Plain(text.clone())));
        Some(Value::Pieces(inside.into_iter().chain(outside).collect()))
    }

    /// The value by range or by architecture. Offsets (`are_places`) that differ are written by architecture, other values only
    /// if that is shorter.
    fn spelled(&self, texts: Texts, within: &TargetSet, are_places: bool) -> Option<Value> {
        match &texts[..] {
            [] => return None,
            [(set, text)] if set == within => return Some(Value::Plain(text.clone())),
            _ => {}
        }
        let flat = self.flat(&texts, within);
        let names_arch = |(set, _): &(TargetSet, String)| {
            let scope = self.spell(within, set);
            Arch::ALL.iter().any(|arch| scope.speaks_of(*arch))
        };
        let by_arch = self.by_arch(&texts, within, are_places).filter(|_| texts.iter().any(names_arch));
        let is_better = |by_arch: &Value| are_places || by_arch.one_line().len() <= flat.one_line().len();
        Some(by_arch.filter(is_better).unwrap_or(flat))
    }

    fn flat(&self, texts: &Texts, within: &TargetSet) -> Value {
        let scopes: Vec<_> = texts.iter().map(|(set, _)| self.spell(within, set)).collect();
        let mut spelled: Vec<String> = scopes.iter().map(ToString::to_string).collect();
        // A range that names an architecture has it, independently of the ranges next to it.
        for (index, scope) in scopes.iter().enumerate() {
            let plain = spelled[index].split(", ").filter(|part| !part.starts_with("no ")).collect::<Vec<_>>().join(", ");
            let tried: Vec<&str> =
                (0..spelled.len()).map(|other| if other == index { &plain } else { &spelled[other] } as &str).collect();
            if scope.to_string() != plain && self.denotes(&tried, texts, within) {
                spelled[index] = plain;
            }
        }
        Value::Pieces(spelled.iter().zip(texts).map(|(scope, (_, text))| (key(scope), Value::Plain(text.clone()))).collect())
    }

    /// Whether ranges in the same table denote the targets of the texts.
    fn denotes(&self, scopes: &[&str], texts: &Texts, within: &TargetSet) -> bool {
        let sets = scopes.iter().map(|scope| Some((*scope, self.axis.scope(scope).ok()?)));
        let Some(mut sets) = sets.collect::<Option<Vec<_>>>() else { return false };
        self.axis.settle(&mut sets);
        sets.iter().zip(texts).all(|((_, set), (wanted, _))| set.intersection(within) == *wanted)
    }

    fn by_arch(&self, texts: &Texts, within: &TargetSet, are_places: bool) -> Option<Value> {
        let of = |arch: Arch| within.intersection(&self.axis.filter(|target| target.arch == arch));
        let mut pieces = Vec::new();
        let (mut given, mut alone) = (TargetSet::default(), Vec::new());
        for arch in Arch::ALL.into_iter().filter(|arch| !self.axis.ranges.contains_key(arch)) {
            let followers = self.axis.ranges.iter().filter(|(_, leader)| **leader == arch);
            let own = of(arch);
            if own.is_empty() {
                continue;
            }
            let all = followers.fold(own.clone(), |all, (follower, _)| all.union(&of(*follower)));
            let among = |set: &TargetSet| merged(texts.iter().map(|(targets, text)| (targets.intersection(set), text.clone())));
            let (texts, set) = match self.inner(&among(&all), &all) {
                Some(Some(value)) => (value, all),
                Some(None) => continue,
                None => {
                    alone.push(arch);
                    (self.inner(&among(&own), &own)??, own)
                }
            };
            given = given.union(&set);
            pieces.push((arch.to_string(), texts));
        }
        for arch in self.axis.ranges.keys().copied() {
            let own = of(arch).difference(&given);
            let texts = merged(texts.iter().map(|(targets, text)| (targets.intersection(&own), text.clone())));
            match self.inner(&texts, &own)? {
                Some(value) => pieces.push((arch.to_string(), value)),
                // Without a key of its own, it would follow; in an assertion, only where references document it.
                None if alone.contains(&self.axis.ranges[&arch]) => {
                    let following = if are_places { own.intersection(&self.documented) } else { own };
                    if !following.is_empty() {
                        return None;
                    }
                }
                None => {}
            }
        }
        Some(Value::Pieces(pieces))
    }

    /// The value of some architectures, in ranges that name none. `None` if there are no such ranges.
    fn inner(&self, texts: &Texts, within: &TargetSet) -> Option<Option<Value>> {
        Some(match &texts[..] {
            [] => None,
            [(set, text)] if set == within => Some(Value::Plain(text.clone())),
            _ => {
                let mut pieces = Vec::new();
                for (set, text) in texts {
                    let scope = self.spell(within, set);
                    if Arch::ALL.iter().any(|arch| scope.speaks_of(*arch)) {
                        let one = Arch::ALL.into_iter().find(|arch| within.iter().all(|t| self.axis.targets[t].arch == *arch))?;
                        let suffix = format!(" {one}");
                        let plain = scope
                            .to_string()
                            .split(", ")
                            .map(|part| part.strip_suffix(&suffix).map(str::to_owned))
                            .collect::<Option<Vec<_>>>()?;
                        pieces.push((key(&plain.join(", ")), Value::Plain(text.clone())));
                    } else {
                        pieces.push((key(&scope.to_string()), Value::Plain(text.clone())));
                    }
                }
                Some(Value::Pieces(pieces))
            }
        })
    }
}

/// The targets of each text, in the order of their first ones.
fn merged(texts: impl Iterator<Item = (TargetSet, String)>) -> Texts {
    let mut all: Texts = Vec::new();
    for (set, text) in texts.filter(|(set, _)| !set.is_empty()) {
        match all.iter_mut().find(|(_, other)| *other == text) {
            Some((known, _)) => *known = known.union(&set),
            None => all.push((set, text)),
        }
    }
    all.sort_by_key(|(set, _)| set.iter().next());
    all
}

fn key(scope: &str) -> String {
    match scope.parse::<Arch>() {
        Ok(arch) => arch.to_string(),
        Err(_) => format!("\"{scope}\""),
    }
}
