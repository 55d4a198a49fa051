//! Reads ranges, and values that can differ between targets.

use super::reader::Reader;
use crate::axis::{Arch, Axis, Build, Scope, TargetSet, architecture};
use crate::diagnostic::nearest;
use crate::source::At;
use crate::spec::{Piece, Piecewise};
use crate::syntax::{Node, Pieces};

/// The remedy if the axis lacks a build. Only a set without a file of the axis has to begin one.
fn new_row(axis: &Axis) -> &'static str {
    match axis.is_standard && !axis.revisions.iter().any(|revision| revision.added) {
        true => "add the build to windows.toml; begin that file with `extends = \"windows\"` to keep the built-in builds",
        false => "add the build to windows.toml",
    }
}

/// The build that a word means, if it has the version of other builds, or none: 10.0.26100 for `26100`.
fn meant(axis: &Axis, word: &str) -> Option<String> {
    let build = word.parse::<Build>().map_or_else(|error| error.meant(), Some)?;
    let number = axis.canonical(build).number;
    let is_known = axis.revisions.iter().any(|revision| revision.build.number == number);
    Some(format!("{build:#}")).filter(|build| is_known && build != word)
}

impl Reader<'_> {
    pub fn scope(&mut self, axis: &Axis, text: &At<String>) -> Option<TargetSet> {
        match axis.scope(&text.value) {
            Ok(set) => Some(set),
            Err(message) => {
                let scope: Scope = text.value.parse().unwrap_or_default();
                let is_build = |word: &str| crate::axis::build(word).is_some();
                let unknown = |word: &&str| !is_build(word) && !axis.ends().any(|end| end == *word);
                let other = text.value.split([' ', ',']).filter(|word| word.parse::<Arch>().is_err());
                let arch = other.filter_map(|word| Some(format!("write `{}` in place of `{word}`", architecture(word)?))).next();
                let similar = |word| nearest(word, axis.ends().chain(Arch::ALL.map(Arch::as_str))).map(str::to_owned);
                let near = scope.names().filter(unknown).find_map(|word| meant(axis, word).or_else(|| similar(word)));
                let new_row = new_row(axis);
                let help = match (arch, near) {
                    (Some(arch), _) => arch,
                    (None, Some(near)) => format!("did you mean `{near}`? Otherwise, {new_row}"),
                    (None, None) if scope.names().any(is_build) => new_row.to_owned(),
                    (None, None) => {
                        format!("write a range such as \"6.1..\", an architecture, or both: \"6.2.. x64\"; or {new_row}")
                    }
                };
                self.error(text.span, message, "not a valid range", help);
                None
            }
        }
    }

    /// A value that can differ between targets, for the targets of `within`.
    pub fn piecewise<T>(
        &mut self,
        axis: &Axis,
        within: &TargetSet,
        stated: &Pieces,
        value: &mut dyn FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Piecewise<T> {
        let mut pieces = Vec::new();
        self.pieces(axis, within, stated, value, &mut pieces);
        self.exclusive(axis, pieces)
    }

    /// As [`piecewise`](Self::piecewise), for an assertion, which is verified against the value computed from other facts.
    pub fn assertions<T>(
        &mut self,
        axis: &Axis,
        within: &TargetSet,
        stated: &Pieces,
        value: &mut dyn FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Piecewise<T> {
        let mut pieces = Vec::new();
        self.pieces(axis, within, stated, value, &mut pieces);
        for piece in &mut pieces {
            piece.targets = self.bounded(axis, &piece.targets);
        }
        self.exclusive(axis, pieces)
    }

    /// The targets of an assertion: the documented targets of its scope. If there are none, all targets of the scope except those of
    /// architectures that only follow another.
    pub fn bounded(&self, axis: &Axis, scope: &TargetSet) -> TargetSet {
        let sets = [scope.intersection(&self.documented), axis.leading(scope)];
        sets.into_iter().find(|set| !set.is_empty()).unwrap_or_else(|| scope.clone())
    }

    /// Checks that no target has two values.
    fn exclusive<T>(&mut self, axis: &Axis, pieces: Vec<Piece<T>>) -> Piecewise<T> {
        for (i, piece) in pieces.iter().enumerate() {
            let clash = |other: &&Piece<T>| !other.targets.intersection(&piece.targets).is_empty();
            if let Some(other) = pieces[..i].iter().find(clash) {
                let both = axis.describe(&other.targets.intersection(&piece.targets));
                let title = format!("two values for the same targets: {both}");
                self.error_also((other.span, "the first"), piece.span, title, "the second", "make the ranges disjoint");
            }
        }
        Piecewise(pieces)
    }

    fn pieces<T>(
        &mut self,
        axis: &Axis,
        within: &TargetSet,
        stated: &Pieces,
        value: &mut dyn FnMut(&mut Self, &Node) -> Option<T>,
        pieces: &mut Vec<Piece<T>>,
    ) {
        let (span, list) = match stated {
            Pieces::One(node) => {
                let (targets, span) = (within.clone(), self.span(node.span()));
                pieces.extend(value(self, node).map(|value| Piece { targets, value, span }));
                return;
            }
            Pieces::Several { span, pieces } => (self.span(span.clone()), pieces),
        };
        if list.is_empty() {
            self.error(span, "table has no entries", "no value here", "write a value, or ranges with their values");
        }
        let mut inner = Vec::new();
        let mut scopes = Vec::new();
        for piece in list {
            let key = At::new(piece.scope.to_owned(), self.span(piece.scope_span.clone()));
            if let Some(scope) = self.scope(axis, &key) {
                inner.push((key, &piece.value));
                scopes.push((piece.scope, scope));
            }
        }
        axis.settle(&mut scopes);
        for ((key, inner), (_, scope)) in inner.into_iter().zip(scopes) {
            // A table for the whole axis may have an architecture without builds.
            if scope.is_empty() && key.value.parse::<Arch>().is_ok() && within == &axis.all() {
                continue;
            }
            let scope = scope.intersection(within);
            if scope.is_empty() {
                let help = format!("choose a range within {}", axis.describe(within));
                self.error(key.span, format!("range `{}` has no target here", key.value), "empty range", help);
            } else {
                self.pieces(axis, &scope, inner, value, pieces);
            }
        }
    }
}
