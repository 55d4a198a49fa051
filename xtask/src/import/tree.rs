//! A spec file as a tree of entries, each with its place in the text.

use super::pieces::Pieces;
use crate::Error;
use core::ops::Range;
use etw_layouts_codegen::axis::{Axis, TargetSet};
use etw_layouts_codegen::spec::Kind;
use std::collections::BTreeMap;
use toml_edit::{Array, Document, Item, Key, TableLike, Value as Toml};

/// A spec file that holds a definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The path as errors show it.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// What it is.
    pub subject: Subject,
    /// The definition itself, with its members or constants as children.
    pub root: Node,
}

/// What a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A structure or union.
    Aggregate(Kind),
    /// An enumeration.
    Enumeration,
    /// Flags or constants, of which symbols know nothing.
    Macros,
}

/// A definition, a member, or a constant.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The name; empty for an anonymous structure or union.
    pub name: String,
    /// What its children form, if it is an unnamed type.
    pub group: Option<Kind>,
    /// The targets that have it, of those that are not being imported.
    pub base: TargetSet,
    /// The targets that have it, of those that are.
    pub now: BTreeMap<usize, Now>,
    /// The piecewise keys.
    pub keys: BTreeMap<&'static str, Pieces>,
    /// `in`.
    pub scope: Option<Scope>,
    /// What it says to people, as it is written: what it is for, and which values it holds.
    pub words: Words,
    /// The errata.
    pub errata: Vec<Erratum>,
    /// Nested members, members, or constants.
    pub children: Vec<Node>,
    /// Where it stands; a new one stands nowhere yet.
    pub place: Option<Place>,
    /// What symbols leave open about it.
    pub notes: Vec<String>,
}

/// Keys that no symbols know, and their values as TOML.
pub type Words = Vec<(&'static str, String)>;

/// What a target's symbols say of an entry, spelled as in specs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// The type.
    pub ty: Option<String>,
    /// The width of a bit field.
    pub bits: Option<u64>,
    /// The mask of a bit field.
    pub mask: Option<u64>,
    /// Bytes from the start that the spec counts from.
    pub offset: Option<u64>,
    /// The size of a structure.
    pub size: Option<u64>,
    /// An alignment that no rule explains.
    pub align: Option<u64>,
    /// A packing that no rule explains.
    pub pack: Option<u64>,
    /// The value of a constant.
    pub value: Option<i64>,
    /// Why no symbols can confirm it.
    pub unverifiable: Option<String>,
    /// Whether it is copied from another target, without symbols that say so.
    pub copied: bool,
}

/// The text of `in`.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The text.
    pub text: String,
    /// Its place, quotes included.
    pub span: Range<usize>,
    /// The targets that it denotes, whatever it stands in.
    pub denotes: TargetSet,
}

/// An erratum, as far as import can make it wrong.
#[derive(Clone, Debug)]
pub struct Erratum {
    /// Which fact.
    pub what: String,
    /// What is so.
    pub actual: super::pieces::Value,
    /// Its own `in`.
    pub scope: Option<Scope>,
    /// Where `what = "…"` ends.
    pub after_what: usize,
}

/// Where an entry stands in its file.
#[derive(Clone, Debug)]
pub struct Place {
    /// All of it; for a table with a header, the blank lines and comments before it too.
    pub span: Range<usize>,
    /// Whether it has a header of its own.
    pub header: bool,
    /// Behind the header or the opening brace.
    pub open: usize,
    /// The keys with the ends of their values, in the order of the text.
    pub keys: Vec<(String, Range<usize>)>,
    /// The list of its children, brackets included.
    pub list: Option<Range<usize>>,
}

const PIECEWISE: [&str; 10] = ["type", "bits", "mask", "offset", "size", "align", "pack", "source", "unverifiable", "value"];

impl Definition {
    /// Reads a file on an axis. `base` are the targets that are not being imported.
    ///
    /// # Errors
    ///
    /// What is no spec, or spelled in a way that import does not edit. `None` for `windows.toml` and `scalars.toml`.
    pub fn read(path: &str, text: &str, axis: &Axis, base: &TargetSet) -> Result<Option<Self>, Error> {
        let document = Document::parse(text).map_err(|e| format!("{path}: {e}"))?;
        let root = document.as_table();
        let subjects = ["struct", "union", "enum", "flags", "constants"];
        let Some((word, item)) = subjects.iter().find_map(|word| Some((*word, root.get(word)?))) else { return Ok(None) };
        let subject = match word {
            "struct" => Subject::Aggregate(Kind::Struct),
            "union" => Subject::Aggregate(Kind::Union),
            "enum" => Subject::Enumeration,
            _ => Subject::Macros,
        };
        let reader = Reader { axis, path, text };
        let table = item.as_table_like().ok_or_else(|| reader.odd(item))?;
        let mut node = reader.node(table, base)?;
        let header = item.span().ok_or_else(|| reader.odd(item))?;
        let mut end = reader.line_end(reader.extent(header.start, table));
        node.place = Some(Place {
            span: 0..end,
            header: true,
            open: reader.line_end(header.end),
            keys: reader.keys(table),
            list: table.get("constants").and_then(Item::span),
        });
        if let Some(constants) = table.get("constants") {
            node.children = reader.list(constants.as_array().ok_or_else(|| reader.odd(constants))?, &node.base)?;
        }
        if let Some(item) = root.get("member") {
            let members = item.as_array_of_tables().ok_or_else(|| reader.odd(item))?;
            for table in members.iter() {
                let header = table.span().ok_or_else(|| reader.odd(item))?;
                let mut member = reader.node(table, &node.base)?;
                let start = std::mem::replace(&mut end, reader.line_end(reader.extent(header.start, table)));
                member.place = Some(Place {
                    span: start..end,
                    header: true,
                    open: reader.line_end(header.end),
                    keys: reader.keys(table),
                    list: reader.group(table).and_then(|(_, item)| item.span()),
                });
                node.children.push(member);
            }
        }
        Ok(Some(Self { path: path.into(), text: text.into(), subject, root: node }))
    }
}

impl Node {
    /// Whether a target has it.
    pub fn active(&self, target: usize) -> bool {
        self.base.contains(target) || self.now.contains_key(&target)
    }

    /// All targets that have it.
    pub fn targets(&self) -> TargetSet {
        let mut set = self.base.clone();
        self.now.keys().for_each(|&target| set.insert(target));
        set
    }

    /// The type at a target that has it.
    pub fn type_at(&self, target: usize) -> Option<&str> {
        match self.now.get(&target) {
            Some(now) => now.ty.as_deref(),
            None => self.keys.get("type")?.at(target)?.text(),
        }
    }

    /// The number of a key at a target that has it.
    pub fn number_at(&self, key: &str, target: usize) -> Option<i64> {
        let unsigned = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok());
        match self.now.get(&target) {
            Some(now) => match key {
                "bits" => unsigned(now.bits),
                "size" => unsigned(now.size),
                "value" => now.value,
                _ => None,
            },
            None => self.keys.get(key)?.at(target)?.number(),
        }
    }

    /// Every entry below, itself included, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        visit(self);
        self.children.iter().for_each(|child| child.walk(visit));
    }

    /// Notes, once, what symbols leave open.
    pub fn remark(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    /// Whether a flattened member of that name is among the children.
    pub fn holds(&self, name: &str) -> bool {
        self.children.iter().any(|child| match child.name.is_empty() {
            true => child.holds(name),
            false => child.name == name,
        })
    }
}

struct Reader<'a> {
    axis: &'a Axis,
    path: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn node(&self, table: &dyn TableLike, within: &TargetSet) -> Result<Node, Error> {
        let mut node = Node { scope: self.scope(table)?, base: within.clone(), ..Node::default() };
        if let Some(scope) = &node.scope {
            node.base = scope.denotes.intersection(within);
        }
        node.name = table.get("name").and_then(Item::as_str).unwrap_or_default().to_owned();
        for key in PIECEWISE {
            if let Some(item) = table.get(key) {
                node.keys.insert(key, Pieces::read(item, self.axis, &self.axis.all()).ok_or_else(|| self.odd(item))?);
            }
        }
        for key in ["values", "doc"] {
            let span = table.get(key).and_then(Item::span);
            node.words.extend(span.map(|span| (key, self.text[span].to_owned())));
        }
        if let Some((kind, item)) = self.group(table) {
            node.group = Some(kind);
            node.children = self.list(item.as_array().ok_or_else(|| self.odd(item))?, &node.base)?;
        }
        if let Some(item) = table.get("errata") {
            for value in item.as_array().ok_or_else(|| self.odd(item))? {
                let erratum = value.as_inline_table().ok_or_else(|| self.odd(item))?;
                let what = erratum.get("what").and_then(Toml::as_str).unwrap_or_default().to_owned();
                let after_what = erratum.get("what").and_then(Toml::span).ok_or_else(|| self.odd(item))?.end;
                let actual = erratum.get("actual").and_then(super::pieces::Value::read).ok_or_else(|| self.odd(item))?;
                node.errata.push(Erratum { what, actual, scope: self.scope(erratum)?, after_what });
            }
        }
        Ok(node)
    }

    fn list(&self, array: &Array, within: &TargetSet) -> Result<Vec<Node>, Error> {
        let node = |value: &Toml| {
            let odd = || format!("{}: a list of tables has something else in it", self.path);
            let table = value.as_inline_table().ok_or_else(odd)?;
            let span = value.span().ok_or_else(odd)?;
            let mut node = self.node(table, within)?;
            let list = self.group(table).and_then(|(_, item)| item.span());
            node.place = Some(Place { open: span.start + 1, span, header: false, keys: self.keys(table), list });
            Ok(node)
        };
        array.iter().map(node).collect()
    }

    fn group<'t>(&self, table: &'t dyn TableLike) -> Option<(Kind, &'t Item)> {
        let of = |key, kind| table.get(key).map(|item| (kind, item));
        of("struct", Kind::Struct).or(of("union", Kind::Union))
    }

    fn scope(&self, table: &dyn TableLike) -> Result<Option<Scope>, Error> {
        let Some(item) = table.get("in") else { return Ok(None) };
        let (Some(text), Some(span)) = (item.as_str(), item.span()) else { return Err(self.odd(item)) };
        let denotes = self.axis.scope(text).map_err(|e| format!("{}: {e}", self.path))?;
        Ok(Some(Scope { text: text.into(), span, denotes }))
    }

    fn keys(&self, table: &dyn TableLike) -> Vec<(String, Range<usize>)> {
        let span = |(key, item): (&Key, &Item)| Some(key.span()?.start..item.span()?.end);
        let mut keys: Vec<_> =
            table.iter().filter_map(|(key, _)| Some((key.to_owned(), span(table.get_key_value(key)?)?))).collect();
        keys.sort_by_key(|(_, span)| span.start);
        keys
    }

    /// Where the last value of a table ends.
    fn extent(&self, start: usize, table: &dyn TableLike) -> usize {
        let ends = table.iter().map(|(_, item)| match item {
            Item::Table(inner) => self.extent(inner.span().map_or(start, |span| span.end), inner),
            item => item.span().map_or(start, |span| span.end),
        });
        ends.max().unwrap_or(start)
    }

    /// Behind the line that a place is in.
    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |length| at + length + 1)
    }

    fn odd(&self, item: &Item) -> Error {
        let line = item.span().map_or(1, |span| self.text[..span.start].matches('\n').count() + 1);
        format!("{}:{line}: import cannot edit a spec that is written in this way; write it as specs/README.md has it", self.path)
            .into()
    }
}
