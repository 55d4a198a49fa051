//! Walking a parsed TOML text, with an error for everything that is not as it should be.

use crate::axis::{Axis, TargetSet};
use crate::diagnostic::{Diagnostic, nearest};
use crate::source::{At, Span};
use crate::spec::{Piece, Piecewise};
use core::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) type Node<'a> = Spanned<DeValue<'a>>;

/// Collects errors while values are taken out of the tree.
pub(super) struct Reader<'e> {
    pub file: usize,
    errors: &'e mut Vec<Diagnostic>,
}

/// A table whose keys are all known.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    entries: &'a DeTable<'a>,
    pub span: Span,
}

impl<'e> Reader<'e> {
    pub fn new(errors: &'e mut Vec<Diagnostic>) -> Self {
        Self { file: 0, errors }
    }

    pub fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range)
    }

    pub fn error(&mut self, span: Span, title: impl Into<String>, label: impl Into<String>, help: impl Into<String>) {
        self.errors.push(Diagnostic { title: title.into(), at: (span, label.into()), also: Vec::new(), help: help.into() });
    }

    pub fn error_also(&mut self, also: (Span, &str), span: Span, title: String, label: &str, help: &str) {
        self.error(span, title, label, help);
        if let Some(last) = self.errors.last_mut() {
            last.also.push((also.0, also.1.to_owned()));
        }
    }

    /// The root table of a file, with an error for every unknown key.
    pub fn root<'a>(&mut self, entries: &'a DeTable<'a>, keys: &[&str]) -> Table<'a> {
        self.known(Table { entries, span: self.span(0..0) }, keys)
    }

    /// A table, with an error for every unknown key.
    pub fn table<'a>(&mut self, node: &'a Node<'a>, keys: &[&str]) -> Option<Table<'a>> {
        let span = self.span(node.span());
        match node.get_ref() {
            DeValue::Table(entries) => Some(self.known(Table { entries, span }, keys)),
            _ => {
                self.error(
                    span,
                    "a table is expected",
                    "this is no table",
                    format!("write {{ … }} with the keys {}", keys.join(", ")),
                );
                None
            }
        }
    }

    fn known<'a>(&mut self, table: Table<'a>, keys: &[&str]) -> Table<'a> {
        for (key, span) in table.keys(self) {
            if !keys.contains(&key) {
                let help = match nearest(key, keys.iter().copied()) {
                    Some(near) => format!("write `{near}`, or remove the key"),
                    None => format!("the keys here are {}", keys.join(", ")),
                };
                self.error(span, format!("`{key}` is not a key here"), "unknown key", help);
            }
        }
        table
    }

    pub fn string(&mut self, node: &Node) -> Option<At<String>> {
        let span = self.span(node.span());
        match node.get_ref() {
            DeValue::String(text) => Some(At::new(text.to_string(), span)),
            _ => {
                self.error(span, "a string is expected", "this is no string", "write it in double quotes");
                None
            }
        }
    }

    pub fn integer(&mut self, node: &Node) -> Option<At<i64>> {
        let span = self.span(node.span());
        let value = match node.get_ref() {
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).ok(),
            _ => None,
        };
        if value.is_none() {
            self.error(
                span,
                "an integer is expected",
                "this is no integer of 64 bits",
                "write a number such as 8 or 0x08, without quotes",
            );
        }
        value.map(|value| At::new(value, span))
    }

    /// A number that is no less than `least`, up to 64 bits.
    pub fn count(&mut self, node: &Node, least: u64) -> Option<u64> {
        let span = self.span(node.span());
        let value = match node.get_ref() {
            DeValue::Integer(n) => u64::from_str_radix(n.as_str(), n.radix()).ok(),
            _ => return self.integer(node).and(None),
        };
        if value.is_none_or(|value| value < least) {
            self.error(span, format!("a number of {least} or more is expected"), "this is not", "write what the declaration has");
        }
        value.filter(|value| *value >= least)
    }

    /// A power of two up to `most`.
    pub fn power_of_two(&mut self, node: &Node, most: u64) -> Option<u64> {
        let value = self.count(node, 1)?;
        if !value.is_power_of_two() || value > most {
            let span = self.span(node.span());
            self.error(span, format!("a power of two up to {most} is expected"), "this is not", "write 1, 2, 4, 8, 16 …");
            return None;
        }
        Some(value)
    }

    pub fn array<'a>(&mut self, node: &'a Node<'a>) -> impl Iterator<Item = &'a Node<'a>> + use<'a> {
        let items = match node.get_ref() {
            DeValue::Array(items) => Some(items.iter()),
            _ => {
                self.error(self.span(node.span()), "an array is expected", "this is no array", "write [ … ]");
                None
            }
        };
        items.into_iter().flatten()
    }

    /// One of some words.
    pub fn word<T: Copy>(&mut self, node: &Node, words: &[(&str, T)]) -> Option<T> {
        let At { value, span } = self.string(node)?;
        let found = words.iter().find(|(word, _)| *word == value);
        if found.is_none() {
            let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.error(span, format!("`{value}` is not known here"), "unknown word", format!("write one of {}", all.join(", ")));
        }
        found.map(|(_, value)| *value)
    }

    pub fn scope(&mut self, axis: &Axis, text: &At<String>) -> Option<TargetSet> {
        match axis.scope(&text.value) {
            Ok(set) => Some(set),
            Err(message) => {
                let near = text.value.split([' ', ',']).flat_map(|w| w.split("..")).find_map(|word| {
                    let unknown = !word.is_empty() && !axis.labels().any(|l| l == word);
                    unknown.then(|| nearest(word, axis.labels()))?
                });
                let help = match near {
                    Some(near) => format!("did you mean `{near}`? A new kernel is added in windows.toml"),
                    None => "write a range such as \"6.1..\", an architecture, or both: \"6.2.. x64\"; a new kernel is added in windows.toml".into(),
                };
                self.error(text.span, message, "not a scope", help);
                None
            }
        }
    }

    /// A value that may differ between targets, for the targets of `within`.
    pub fn piecewise<T>(
        &mut self,
        axis: &Axis,
        within: &TargetSet,
        node: &Node,
        value: &mut dyn FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Piecewise<T> {
        let mut pieces: Vec<Piece<T>> = Vec::new();
        self.pieces(axis, within, node, value, &mut pieces);
        for (i, piece) in pieces.iter().enumerate() {
            let clash = |other: &&Piece<T>| !other.targets.intersection(&piece.targets).is_empty();
            if let Some(other) = pieces[..i].iter().find(clash) {
                let both = axis.describe(&other.targets.intersection(&piece.targets));
                let title = format!("two values for {both}");
                self.error_also((other.span, "the first"), piece.span, title, "the second", "let the scopes exclude each other");
            }
        }
        Piecewise(pieces)
    }

    fn pieces<T>(
        &mut self,
        axis: &Axis,
        within: &TargetSet,
        node: &Node,
        value: &mut dyn FnMut(&mut Self, &Node) -> Option<T>,
        pieces: &mut Vec<Piece<T>>,
    ) {
        let span = self.span(node.span());
        let DeValue::Table(entries) = node.get_ref() else {
            let targets = within.clone();
            pieces.extend(value(self, node).map(|value| Piece { targets, value, span }));
            return;
        };
        if entries.is_empty() {
            self.error(span, "a table without entries", "nothing is stated here", "write a value, or scopes with their values");
        }
        for (key, node) in entries.iter() {
            let key = At::new(key.get_ref().to_string(), self.span(key.span()));
            let Some(scope) = self.scope(axis, &key) else { continue };
            // An architecture that no kernel has is no mistake in a table for all of them.
            if scope.is_empty() && within == &axis.all() {
                continue;
            }
            let scope = scope.intersection(within);
            if scope.is_empty() {
                let help = format!("the scopes here lie within {}", axis.describe(within));
                self.error(key.span, format!("`{}` covers no target here", key.value), "an empty scope", help);
            } else {
                self.pieces(axis, &scope, node, value, pieces);
            }
        }
    }
}

impl<'a> Table<'a> {
    pub fn get(&self, key: &str) -> Option<&'a Node<'a>> {
        self.entries.iter().find(|(k, _)| *k.get_ref() == key).map(|(_, node)| node)
    }

    /// The value of a key that has to be there.
    pub fn require(&self, reader: &mut Reader, key: &str) -> Option<&'a Node<'a>> {
        let found = self.get(key);
        if found.is_none() {
            reader.error(self.span, format!("`{key}` is missing"), "here", format!("add `{key} = …`"));
        }
        found
    }

    /// The text of a key, or nothing.
    pub fn text(&self, reader: &mut Reader, key: &str) -> String {
        let text = self.get(key).and_then(|node| reader.string(node));
        text.map(|t| t.value.trim().to_owned()).unwrap_or_default()
    }

    pub fn keys(&self, reader: &Reader) -> Vec<(&'a str, Span)> {
        let key = |k: &'a Spanned<_>| (std::ops::Deref::deref(Spanned::get_ref(k)), reader.span(k.span()));
        self.entries.iter().map(|(k, _): (&'a Spanned<std::borrow::Cow<'a, str>>, _)| key(k)).collect()
    }
}
