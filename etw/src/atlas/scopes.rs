//! Sets of targets in words, which are asked for many times.

use etw_layouts_codegen::axis::{Axis, TargetId, TargetSet};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// The words of an axis, each set's once.
pub struct Scopes<'a> {
    axis: &'a Axis,
    known: RwLock<HashMap<TargetSet, String>>,
}

impl<'a> Scopes<'a> {
    pub fn of(axis: &'a Axis) -> Self {
        Self { axis, known: RwLock::default() }
    }

    /// A set of targets in words.
    pub fn words(&self, set: &TargetSet) -> String {
        if let Some(text) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(set) {
            return text.clone();
        }
        let text = self.axis.words(set);
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(set.clone(), text.clone());
        text
    }

    /// The build of a target, without the architecture.
    pub fn build(&self, target: TargetId) -> String {
        self.axis.kernel_name(self.axis.targets[target].kernel)
    }
}
