//! A spec file as a tree, each key and value with its place in the text.

use super::keys::{Holds, Key, Sort, key};
use core::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// A value of TOML and its place.
pub type Node<'a> = Spanned<DeValue<'a>>;

/// A spec file.
#[derive(Debug)]
pub struct Tree<'a> {
    text: &'a str,
    root: DeTable<'a>,
}

/// A table of a file.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// What sort of table.
    pub sort: Sort,
    text: &'a str,
    entries: &'a DeTable<'a>,
    start: usize,
    end: usize,
}

/// A key of a table and its value.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The key; nothing if such a table has no such key, or if the name is the user's.
    pub key: Option<&'static Key>,
    /// Its name.
    pub name: &'a str,
    /// The place of the name, its quotes included.
    pub name_span: Range<usize>,
    /// The value.
    pub value: &'a Node<'a>,
    text: &'a str,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `{ … }`
    Inline,
    /// Below a `[header]` or `[[header]]`.
    Header,
    /// `offset.x86 = …`
    Dotted,
}

/// A value that may differ between targets.
#[derive(Clone, Debug)]
pub enum Pieces<'a> {
    /// One for all.
    One(&'a Node<'a>),
    /// By scope.
    Several {
        /// How the table is written.
        form: Form,
        /// Its own place.
        span: Range<usize>,
        /// The scopes, in the order of the text.
        pieces: Vec<Piece<'a>>,
    },
}

/// A scope, and the value that it has.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    /// The scope's text.
    pub scope: &'a str,
    /// The place of the scope, its quotes included.
    pub scope_span: Range<usize>,
    /// The value.
    pub value: Pieces<'a>,
}

impl<'a> Tree<'a> {
    /// What can be read of a text, and what is wrong with the rest.
    pub fn parse(text: &'a str) -> (Self, Vec<Error>) {
        let (root, errors) = DeTable::parse_recoverable(text);
        (Self { text, root: root.into_inner() }, errors)
    }

    /// The root table: that of an axis, of scalars, of global variables, or of a file that specifies one thing, as its keys tell.
    pub fn root(&'a self) -> Table<'a> {
        let has = |keys: &[&str]| self.root.iter().any(|(key, _)| keys.contains(&&**key.get_ref()));
        let sort = match () {
            () if has(&["extends", "version", "architectures", "release"]) => Sort::Axis,
            () if has(&["scalar", "typedef"]) => Sort::Scalars,
            () if has(&["global"]) => Sort::Globals,
            () => Sort::File,
        };
        Table { sort, text: self.text, entries: &self.root, start: 0, end: 0 }
    }
}

impl<'a> Table<'a> {
    /// Its own place: its header, or all of it if it is written inline.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// How it is written.
    pub fn form(&self) -> Form {
        form(self.text, self.start)
    }

    /// The keys and their values, in the order of the text.
    pub fn entries(self) -> impl Iterator<Item = Entry<'a>> {
        self.entries.iter().map(move |(name, value)| {
            let (name_span, text): (_, &'a str) = (name.span(), name.get_ref());
            Entry { key: key(self.sort, text), name: text, name_span, value, text: self.text }
        })
    }

    /// A node within it, as a table of a sort.
    pub fn inner(self, sort: Sort, node: &'a Node<'a>) -> Option<Table<'a>> {
        table(sort, self.text, node)
    }

    /// A key that is there.
    pub fn get(self, name: &str) -> Option<Entry<'a>> {
        self.entries().find(|entry| entry.name == name)
    }

    /// The text of a key.
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.get(name)?.value.get_ref().as_str()
    }

    /// The tables of a list, or the one table, of a key.
    pub fn tables(self, name: &str) -> Vec<Table<'a>> {
        self.get(name).map(|entry| entry.tables()).unwrap_or_default()
    }

    /// The whole text that it is in.
    pub fn source(self) -> &'a str {
        self.text
    }

    /// The end of the line that it ends in.
    pub fn line_end(self) -> usize {
        let end = self.extent();
        end + self.text[end..].find('\n').unwrap_or(self.text.len() - end)
    }

    /// Where its last value ends, those of the tables below its header included.
    pub fn extent(self) -> usize {
        self.entries.iter().map(|(_, value)| end(value)).fold(self.end, usize::max)
    }
}

impl<'a> Entry<'a> {
    /// From the name to the end of the value; of a dotted key, to the end of its last line.
    pub fn span(&self) -> Range<usize> {
        self.name_span.start..end(self.value)
    }

    /// How the value is written, if it is a table.
    pub fn form(&self) -> Option<Form> {
        matches!(self.value.get_ref(), DeValue::Table(_)).then(|| form(self.text, self.value.span().start))
    }

    /// The tables that it holds: one, or those of a list. Whatever else is in the list is left out.
    pub fn tables(&self) -> Vec<Table<'a>> {
        let sort = match self.key.map(|key| key.holds) {
            Some(Holds::Table(sort) | Holds::Tables(sort) | Holds::Named(sort)) => sort,
            _ => return Vec::new(),
        };
        match self.value.get_ref() {
            DeValue::Array(list) => list.iter().filter_map(|node| table(sort, self.text, node)).collect(),
            _ => table(sort, self.text, self.value).into_iter().collect(),
        }
    }

    /// What it holds by names of the user's; each has the key of what holds it.
    pub fn named(&self) -> Vec<Entry<'a>> {
        let named = self.key.filter(|key| matches!(key.holds, Holds::Named(_) | Holds::NamedPiecewise));
        let (text, entries) = (self.text, self.value.get_ref().as_table().filter(|_| named.is_some()));
        let entry = |(name, value): (&'a Spanned<_>, &'a Node<'a>)| {
            let name_text: &'a std::borrow::Cow<'a, str> = Spanned::get_ref(name);
            Entry { key: named, name: name_text, name_span: name.span(), value, text }
        };
        entries.into_iter().flatten().map(entry).collect()
    }

    /// The piecewise value that it holds.
    pub fn pieces(&self) -> Pieces<'a> {
        Pieces::of(self.text, self.value)
    }
}

/// A node as a table of a sort.
fn table<'a>(sort: Sort, text: &'a str, node: &'a Node<'a>) -> Option<Table<'a>> {
    let DeValue::Table(entries) = node.get_ref() else { return None };
    let span = node.span();
    Some(Table { sort, text, entries, start: span.start, end: span.end })
}

impl<'a> Pieces<'a> {
    fn of(text: &'a str, node: &'a Node<'a>) -> Self {
        let DeValue::Table(entries) = node.get_ref() else { return Self::One(node) };
        let piece = |(scope, node): (&'a Spanned<_>, &'a Node<'a>)| {
            let scope_text: &'a std::borrow::Cow<'a, str> = Spanned::get_ref(scope);
            Piece { scope: scope_text, scope_span: scope.span(), value: Self::of(text, node) }
        };
        let span = node.span();
        Self::Several { form: form(text, span.start), span, pieces: entries.iter().map(piece).collect() }
    }

    /// Every value, in the order of the text.
    pub fn values(&self) -> Vec<&'a Node<'a>> {
        match self {
            Self::One(node) => vec![node],
            Self::Several { pieces, .. } => pieces.iter().flat_map(|piece| piece.value.values()).collect(),
        }
    }

    /// Every scope, with its place.
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

/// Where a value ends, with what stands below its header or in its dotted lines.
fn end(node: &Node) -> usize {
    let own = node.span().end;
    match node.get_ref() {
        DeValue::Table(entries) => entries.iter().map(|(_, value)| end(value)).fold(own, usize::max),
        _ => own,
    }
}

/// How the table is written whose own place begins there.
fn form(text: &str, start: usize) -> Form {
    match text.as_bytes().get(start) {
        Some(b'{') => Form::Inline,
        Some(b'[') => Form::Header,
        _ => Form::Dotted,
    }
}
