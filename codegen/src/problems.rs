//! Deduplicates errors that repeat per target.

use crate::axis::{Axis, TargetId, TargetSet};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::HashMap;

#[derive(Default)]
pub(crate) struct Problems {
    list: Vec<(Diagnostic, TargetSet)>,
    /// Positions of errors in the list, by their message.
    known: HashMap<(Span, String, String), usize>,
    added: usize,
}

impl Problems {
    /// Adds an error for a target; returns the list of other relevant places.
    pub fn add(&mut self, target: TargetId, span: Span, title: &str, label: &str, help: &str) -> &mut Vec<(Span, String)> {
        self.added += 1;
        let index = *self.known.entry((span, title.to_owned(), label.to_owned())).or_insert(self.list.len());
        match self.list.get_mut(index) {
            Some((known, _)) => known.also.clear(),
            None => {
                let at = (span, label.to_owned());
                let diagnostic = Diagnostic { title: title.into(), at, also: Vec::new(), help: help.into() };
                self.list.push((diagnostic, TargetSet::default()));
            }
        }
        let (diagnostic, targets) = &mut self.list[index];
        targets.insert(target);
        &mut diagnostic.also
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How often an error was added.
    pub fn added(&self) -> usize {
        self.added
    }

    /// The errors, each with its targets in the title.
    pub fn into_list(self, axis: &Axis) -> Vec<Diagnostic> {
        let mut scopes: HashMap<TargetSet, String> = HashMap::new();
        let mut report = |(d, targets): (Diagnostic, TargetSet)| {
            let scope = scopes.entry(targets).or_insert_with_key(|targets| axis.describe_documented(targets));
            Diagnostic { title: format!("{} ({scope})", d.title), ..d }
        };
        self.list.into_iter().map(&mut report).collect()
    }
}
