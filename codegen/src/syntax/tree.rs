//! A spec file as a tree, with the place of each key and value in the text.

use super::keys::{Key, TableKind, ValueForm, key};
use core::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// A TOML value and its place.
pub type Node<'a> = Spanned<DeValue<'a>>;

/// A spec file.
#[derive(Debug)]
pub struct Tree<'a> {
    text: &'a str,
    root: DeTable<'a>,
}

/// A table of a file.
#[derive(Clone, Copy, Debug)]
pub struct TomlTable<'a> {
    /// The kind of table.
    pub kind: TableKind,
    text: &'a str,
    entries: &'a DeTable<'a>,
    start: usize,
    end: usize,
}

/// A key of a table and its value.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The key; `None` if this kind of table has no such key, or if the name is user-defined.
    pub key: Option<&'static Key>,
    /// Its name.
    pub name: &'a str,
    /// The place of the name, including its quotes.
    pub name_span: Range<usize>,
    /// The value.
    pub value: &'a Node<'a>,
    text: &'a str,
}

/// A value that can differ between targets.
#[derive(Clone, Debug)]
pub enum Pieces<'a> {
    /// One value for all targets.
    One(&'a Node<'a>),
    /// Values by scope.
    Several {
        /// The place of the table.
        span: Range<usize>,
        /// The scopes, in the order of the text.
        pieces: Vec<Piece<'a>>,
    },
}

/// A scope and its value.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    /// The scope's text.
    pub scope: &'a str,
    /// The place of the scope, including its quotes.
    pub scope_span: Range<usize>,
    /// The value.
    pub value: Pieces<'a>,
}

impl<'a> Tree<'a> {
    /// Parses a text as far as possible, and returns the errors.
    pub fn parse(text: &'a str) -> (Self, Vec<Error>) {
        let (root, errors) = DeTable::parse_recoverable(text);
        (Self { text, root: root.into_inner() }, errors)
    }

    /// The root table. Its keys decide whether it is an axis, scalars, global variables, events, providers, or a
    /// definition.
    pub fn root(&'a self) -> TomlTable<'a> {
        let has = |keys: &[&str]| self.root.iter().any(|(key, _)| keys.contains(&&**key.get_ref()));
        let kind = match () {
            () if has(&["extends", "architectures", "release"]) => TableKind::Axis,
            () if has(&["scalar", "typedef"]) => TableKind::Scalars,
            () if has(&["global"]) => TableKind::Globals,
            () if has(&["class", "event"]) => TableKind::Events,
            () if has(&["provider"]) => TableKind::Providers,
            () => TableKind::File,
        };
        TomlTable { kind, text: self.text, entries: &self.root, start: 0, end: 0 }
    }
}

impl<'a> TomlTable<'a> {
    /// Its place: the header, or the whole table if it is inline.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The keys and their values, in the order of the text.
    pub fn entries(self) -> impl Iterator<Item = Entry<'a>> {
        self.entries.iter().map(move |(name, value)| {
            let (name_span, text): (_, &'a str) = (name.span(), name.get_ref());
            Entry { key: key(self.kind, text), name: text, name_span, value, text: self.text }
        })
    }

    /// A node inside it, as a table of a kind.
    pub fn inner(self, kind: TableKind, node: &'a Node<'a>) -> Option<TomlTable<'a>> {
        table(kind, self.text, node)
    }

    /// The entry of a key, if it is present.
    pub fn get(self, name: &str) -> Option<Entry<'a>> {
        self.entries().find(|entry| entry.name == name)
    }

    /// The string of a key.
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.get(name)?.value.get_ref().as_str()
    }

    /// The tables of a list, or the one table, of a key.
    pub fn tables(self, name: &str) -> Vec<TomlTable<'a>> {
        self.get(name).map(|entry| entry.tables()).unwrap_or_default()
    }

    /// The whole text of the file.
    pub fn source(self) -> &'a str {
        self.text
    }

    /// The end of its own keys and the end of its lists, each with its whole line.
    pub(crate) fn ends(self) -> (usize, usize) {
        let lists = self.entries().filter(|entry| entry.key.is_some_and(|key| matches!(key.form, ValueForm::Tables(_))));
        let end = self.line_end();
        (lists.map(|entry| entry.value.span().start).min().unwrap_or(end), end)
    }

    /// The end of its last line.
    pub fn line_end(self) -> usize {
        let end = self.extent();
        end + self.text[end..].find('\n').unwrap_or(self.text.len() - end)
    }

    /// The end of its last value, including the tables below its header.
    pub fn extent(self) -> usize {
        self.entries.iter().map(|(_, value)| end(value)).fold(self.end, usize::max)
    }
}

impl<'a> Entry<'a> {
    /// From the name to the end of the value; for a dotted key, to the end of its last line.
    pub fn span(&self) -> Range<usize> {
        self.name_span.start..end(self.value)
    }

    /// Whether the value is a table below a `[header]`.
    pub fn has_header(&self) -> bool {
        let is_table = matches!(self.value.get_ref(), DeValue::Table(_));
        is_table && self.text.as_bytes().get(self.value.span().start) == Some(&b'[')
    }

    /// The tables in the value: one, or those of a list. Other elements of the list are left out.
    pub fn tables(&self) -> Vec<TomlTable<'a>> {
        let kind = match self.key.map(|key| key.form) {
            Some(ValueForm::Table(kind) | ValueForm::Tables(kind) | ValueForm::Named(kind)) => kind,
            _ => return Vec::new(),
        };
        match self.value.get_ref() {
            DeValue::Array(list) => list.iter().filter_map(|node| table(kind, self.text, node)).collect(),
            _ => table(kind, self.text, self.value).into_iter().collect(),
        }
    }

    /// The entries with user-defined names in the value; each has the key of this entry.
    pub fn named(&self) -> Vec<Entry<'a>> {
        let named = self.key.filter(|key| matches!(key.form, ValueForm::Named(_) | ValueForm::NamedPiecewise));
        let (text, entries) = (self.text, self.value.get_ref().as_table().filter(|_| named.is_some()));
        let entry = |(name, value): (&'a Spanned<_>, &'a Node<'a>)| {
            let name_text: &'a std::borrow::Cow<'a, str> = Spanned::get_ref(name);
            Entry { key: named, name: name_text, name_span: name.span(), value, text }
        };
        entries.into_iter().flatten().map(entry).collect()
    }

    /// The value as a piecewise value.
    pub fn pieces(&self) -> Pieces<'a> {
        Pieces::of(self.value)
    }
}

/// A node as a table of a kind.
fn table<'a>(kind: TableKind, text: &'a str, node: &'a Node<'a>) -> Option<TomlTable<'a>> {
    let DeValue::Table(entries) = node.get_ref() else { return None };
    let span = node.span();
    Some(TomlTable { kind, text, entries, start: span.start, end: span.end })
}

impl<'a> Pieces<'a> {
    fn of(node: &'a Node<'a>) -> Self {
        let DeValue::Table(entries) = node.get_ref() else { return Self::One(node) };
        let piece = |(scope, node): (&'a Spanned<_>, &'a Node<'a>)| {
            let scope_text: &'a std::borrow::Cow<'a, str> = Spanned::get_ref(scope);
            Piece { scope: scope_text, scope_span: scope.span(), value: Self::of(node) }
        };
        Self::Several { span: node.span(), pieces: entries.iter().map(piece).collect() }
    }

    /// All values, in the order of the text.
    pub fn values(&self) -> Vec<&'a Node<'a>> {
        match self {
            Self::One(node) => vec![node],
            Self::Several { pieces, .. } => pieces.iter().flat_map(|piece| piece.value.values()).collect(),
        }
    }

    /// All scopes, with their places.
    pub fn scopes(&self) -> Vec<(&'a str, Range<usize>)> {
        match self {
            Self::One(_) => Vec::new(),
            Self::Several { pieces, .. } => {
                let own = |piece: &Piece<'a>| [vec![(piece.scope, piece.scope_span.clone())], piece.value.scopes()].concat();
                pieces.iter().flat_map(own).collect()
            }
        }
    }
}

/// The end of a value, including the tables below its header and its dotted lines.
fn end(node: &Node) -> usize {
    let own = node.span().end;
    match node.get_ref() {
        DeValue::Table(entries) => entries.iter().map(|(_, value)| end(value)).fold(own, usize::max),
        _ => own,
    }
}
