//! What a definition's file says, with the place of each statement: the entries that an import changes.

use super::pieces::Pieces;
use super::splice::line_end;
use crate::Error;
use core::ops::Range;
use etw_layouts_codegen::axis::{Axis, TargetSet};
use etw_layouts_codegen::spec::Kind;
use etw_layouts_codegen::syntax::{Entry, Form, Sort, Table, Tree};
use std::collections::BTreeMap;

/// A structure, union or enumeration, as its file has it, or as an import makes it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The path as errors show it; empty for a new one.
    pub path: String,
    /// The whole text; empty for a new one.
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
}

/// A definition, a member, or a constant.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The name; empty for an anonymous structure or union.
    pub name: String,
    /// What its children form, if it is an unnamed type.
    pub group: Option<Kind>,
    /// The targets that have it by its text.
    pub stated: TargetSet,
    /// What the kernel that is imported has; nothing if it lacks the entry.
    pub now: Option<Now>,
    /// The piecewise keys.
    pub keys: BTreeMap<&'static str, Pieces>,
    /// `in`.
    pub scope: Option<Scope>,
    /// What it says to people, as it is written: what it is for, and which values it holds.
    pub words: Words,
    /// Nested members, members, or constants.
    pub children: Vec<Node>,
    /// Where it stands; a new one stands nowhere yet.
    pub place: Option<Place>,
    /// What symbols leave open about it.
    pub notes: Vec<String>,
}

/// Keys that no symbols know, and their values as TOML.
pub type Words = Vec<(&'static str, String)>;

/// What symbols say of an entry, spelled as in specs.
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
    /// The size of a structure, or of a member.
    pub size: Option<u64>,
    /// An alignment that no rule explains.
    pub align: Option<u64>,
    /// A packing that no rule explains.
    pub pack: Option<u64>,
    /// The value of a constant.
    pub value: Option<i64>,
    /// Why no symbols can confirm it.
    pub unverifiable: Option<String>,
}

/// The text of `in`.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its place, quotes included.
    pub span: Range<usize>,
    /// The targets that it denotes, whatever it stands in.
    pub denotes: TargetSet,
}

/// Where an entry stands in its file.
#[derive(Clone, Debug)]
pub struct Place {
    /// What sort of table it is.
    pub sort: Sort,
    /// All of it; for a table with a header, the blank lines and comments before it too.
    pub span: Range<usize>,
    /// Whether it has a header of its own.
    pub header: bool,
    /// Behind the header or the opening brace.
    pub open: usize,
    /// The keys with the ends of their values, in the order of the text; none of those that have headers of their own.
    pub keys: Vec<(String, Range<usize>)>,
    /// The list of its children, brackets included.
    pub list: Option<Range<usize>>,
}

impl Definition {
    /// Reads a file on an axis.
    ///
    /// # Errors
    ///
    /// What is no spec. `None` for files that symbols say nothing of: the axis, scalars, flags and constants.
    pub fn read(path: &str, text: &str, axis: &Axis) -> Result<Option<Self>, Error> {
        let (tree, errors) = Tree::parse(text);
        if let Some(error) = errors.first() {
            return Err(format!("{path}: {error}").into());
        }
        let root = tree.root();
        let subjects = [
            ("struct", Subject::Aggregate(Kind::Struct)),
            ("union", Subject::Aggregate(Kind::Union)),
            ("enum", Subject::Enumeration),
        ];
        let found = subjects.into_iter().find_map(|(word, subject)| Some((*root.tables(word).first()?, subject)));
        let Some((table, subject)) = found else { return Ok(None) };
        let reader = Reader { axis, path, text };
        let mut node = reader.node(table, &axis.all())?;
        let mut end = line_end(text, table.extent());
        node.place = Some(reader.place(table, 0..end));
        node.children = reader.list(table, "constants", &node.stated)?;
        for table in root.tables("member") {
            let mut member = reader.node(table, &node.stated)?;
            let start = std::mem::replace(&mut end, line_end(text, table.extent()));
            member.place = Some(reader.place(table, start..end));
            node.children.push(member);
        }
        Ok(Some(Self { path: path.into(), text: text.into(), subject, root: node }))
    }
}

impl Node {
    /// Whether a target other than the imported one has it.
    pub fn active(&self, target: usize) -> bool {
        self.stated.contains(target)
    }

    /// The type at a target other than the imported one that has it.
    pub fn type_at(&self, target: usize) -> Option<&str> {
        self.keys.get("type")?.at(target)?.text()
    }

    /// The number of a key at a target other than the imported one that has it.
    pub fn number_at(&self, key: &str, target: usize) -> Option<i64> {
        self.keys.get(key)?.at(target)?.number()
    }

    /// The entry with what the imported kernel has among what it states, each value under the key that has it.
    pub fn kept(&self, target: usize) -> Self {
        let mut node = self.clone();
        if let Some(now) = node.now.take() {
            node.stated.insert(target);
            for key in ["type", "bits", "align", "pack", "value", "unverifiable"] {
                if let Some(value) = now.value(key) {
                    node.keys.entry(key).or_default().say(target, value);
                }
            }
        }
        node.children = node.children.iter().map(|child| child.kept(target)).collect();
        node
    }

    /// Whether two targets have the same of it.
    pub fn is_alike(&self, one: usize, two: usize) -> bool {
        let [here, there] = [one, two].map(|target| self.active(target));
        let same = |pieces: &Pieces| pieces.at(one) == pieces.at(two);
        here == there && (!here || self.keys.values().all(same) && self.children.iter().all(|child| child.is_alike(one, two)))
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
}

/// Inserts nodes before those that stand at some indices.
pub fn insert(nodes: &mut Vec<Node>, mut new: BTreeMap<usize, Vec<Node>>) {
    for (i, node) in std::mem::take(nodes).into_iter().enumerate() {
        nodes.extend(new.remove(&i).into_iter().flatten());
        nodes.push(node);
    }
    nodes.extend(new.into_values().flatten());
}

struct Reader<'a> {
    axis: &'a Axis,
    path: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn node(&self, table: Table, within: &TargetSet) -> Result<Node, Error> {
        let mut node = Node { scope: self.scope(table)?, stated: within.clone(), ..Node::default() };
        if let Some(scope) = &node.scope {
            node.stated = scope.denotes.intersection(within);
        }
        node.name = table.text("name").unwrap_or_default().to_owned();
        for entry in table.entries() {
            // The type of an enumeration's values is the same for all targets, and is looked up like any other.
            let Some(key) = entry.key.filter(|key| key.holds.is_piecewise() || key.name == "type") else { continue };
            let pieces = Pieces::read(&entry.pieces(), self.axis, &self.axis.all());
            node.keys.insert(key.name, pieces.map_err(|error| self.wrong(&entry, &error))?);
        }
        for key in ["values", "leads_to", "doc"] {
            let entry = table.get(key);
            node.words.extend(entry.map(|entry| (key, self.text[entry.value.span()].to_owned())));
        }
        for (key, kind) in GROUPS {
            if table.get(key).is_some() {
                node.group = Some(kind);
                node.children = self.list(table, key, &node.stated)?;
            }
        }
        Ok(node)
    }

    /// The entries of a list.
    fn list(&self, table: Table, key: &str, within: &TargetSet) -> Result<Vec<Node>, Error> {
        let node = |table: Table| {
            let mut node = self.node(table, within)?;
            node.place = Some(self.place(table, table.span()));
            Ok(node)
        };
        table.tables(key).into_iter().map(node).collect()
    }

    fn place(&self, table: Table, span: Range<usize>) -> Place {
        let header = table.form() == Form::Header;
        let list = ["struct", "union", "constants"].into_iter().find_map(|key| table.get(key));
        let plain = |entry: &Entry| entry.form() != Some(Form::Header);
        Place {
            sort: table.sort,
            span,
            header,
            open: if header { line_end(self.text, table.span().end) } else { table.span().start + 1 },
            keys: table.entries().filter(plain).map(|entry| (entry.name.to_owned(), entry.span())).collect(),
            list: list.map(|entry| entry.value.span()),
        }
    }

    fn scope(&self, table: Table) -> Result<Option<Scope>, Error> {
        let Some(entry) = table.get("in") else { return Ok(None) };
        let text = entry.value.get_ref().as_str().ok_or_else(|| self.wrong(&entry, "not a string"))?;
        let denotes = self.axis.scope(text).map_err(|error| self.wrong(&entry, &error))?;
        Ok(Some(Scope { span: entry.value.span(), denotes }))
    }

    fn wrong(&self, entry: &Entry, what: &str) -> Error {
        let line = self.text[..entry.name_span.start].matches('\n').count() + 1;
        format!("{}:{line}: `{}`: {what}", self.path, entry.name).into()
    }
}

/// The keys of unnamed types.
const GROUPS: [(&str, Kind); 2] = [("struct", Kind::Struct), ("union", Kind::Union)];
