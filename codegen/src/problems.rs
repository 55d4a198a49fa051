//! Errors of a target each, told once for all the targets that have them.

use crate::axis::{Axis, TargetSet};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

#[derive(Default)]
pub(crate) struct Problems(Vec<(Diagnostic, TargetSet)>);

impl Problems {
    /// Adds an error for a target; returns the list of other places that matter.
    pub fn add(&mut self, target: usize, span: Span, title: &str, label: &str, help: &str) -> &mut Vec<(Span, String)> {
        let same = |(d, _): &(Diagnostic, _)| d.at.0 == span && d.title == title && d.at.1 == label;
        let index = match self.0.iter().position(same) {
            Some(index) => {
                self.0[index].0.also.clear();
                index
            }
            None => {
                let at = (span, label.to_owned());
                let diagnostic = Diagnostic { title: title.into(), at, also: Vec::new(), help: help.into() };
                self.0.push((diagnostic, TargetSet::default()));
                self.0.len() - 1
            }
        };
        let (diagnostic, targets) = &mut self.0[index];
        targets.insert(target);
        &mut diagnostic.also
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors, each with its targets in the title.
    pub fn into_list(self, axis: &Axis) -> Vec<Diagnostic> {
        let told = |(d, targets): (Diagnostic, TargetSet)| Diagnostic {
            title: format!("{} ({})", d.title, axis.describe(&targets)),
            ..d
        };
        self.0.into_iter().map(told).collect()
    }
}
