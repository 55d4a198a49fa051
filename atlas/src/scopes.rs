//! Names of sets of targets. They are cached, because pages need them many times.

use etw_layouts_codegen::axis::{Axis, TargetId, TargetSet};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// The cached names of target sets.
pub struct Scopes<'a> {
    axis: &'a Axis,
    known: RwLock<HashMap<TargetSet, String>>,
}

impl<'a> Scopes<'a> {
    pub fn of(axis: &'a Axis) -> Self {
        Self { axis, known: RwLock::default() }
    }

    /// The name of a set of targets.
    pub fn words(&self, set: &TargetSet) -> String {
        if let Some(text) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(set) {
            return text.clone();
        }
        let text = self.named(&self.axis.words(set));
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(set.clone(), text.clone());
        text
    }

    /// Replaces numeric labels by release names: `6.1` becomes Windows 7. Labels that are in common use, such as `24H2`, stay.
    fn named(&self, text: &str) -> String {
        let is_number = |label: &&str| {
            let number = label.rsplit('-').next().unwrap_or_default();
            number.split('.').count() == 2 && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        let release = |label: &str| {
            let release = self.axis.releases.get(self.axis.labelled(label)?.start)?;
            release.name.split(',').next()
        };
        let one = |word: &str| {
            let label = word.trim_end_matches([',', ';']);
            let name = Some(label).filter(is_number).and_then(release).unwrap_or(label);
            format!("{name}{}", &word[label.len()..])
        };
        text.split(' ').map(one).collect::<Vec<_>>().join(" ")
    }

    /// The build of a target, without the architecture.
    pub fn build(&self, target: TargetId) -> String {
        self.axis.revision_name(self.axis.targets[target].revision)
    }
}
