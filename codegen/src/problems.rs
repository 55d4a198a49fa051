//! Errors of a target each, told once for all the targets that have them.

use crate::axis::{Axis, TargetSet};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

#[derive(Default)]
pub(crate) struct Problems {
    list: Vec<(Diagnostic, TargetSet)>,
    added: usize,
}

impl Problems {
    /// Adds an error for a target; returns the list of other places that matter.
    pub fn add(&mut self, target: usize, span: Span, title: &str, label: &str, help: &str) -> &mut Vec<(Span, String)> {
        let same = |(d, _): &(Diagnostic, _)| d.at.0 == span && d.title == title && d.at.1 == label;
        self.added += 1;
        let index = match self.list.iter().position(same) {
            Some(index) => {
                self.list[index].0.also.clear();
                index
            }
            None => {
                let at = (span, label.to_owned());
                let diagnostic = Diagnostic { title: title.into(), at, also: Vec::new(), help: help.into() };
                self.list.push((diagnostic, TargetSet::default()));
                self.list.len() - 1
            }
        };
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
        let told = |(d, targets): (Diagnostic, TargetSet)| Diagnostic {
            title: format!("{} ({})", d.title, axis.describe(&targets)),
            ..d
        };
        self.list.into_iter().map(told).collect()
    }
}
