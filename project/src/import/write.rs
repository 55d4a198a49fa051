//! New entries, and where they go; the files of new definitions.

use super::pieces::{Value, with, without};
use super::tree::{Definition, Node, Now};
use etw_layouts_codegen::axis::{Axis, TargetSet};
use etw_layouts_codegen::spec::Kind;
use etw_layouts_codegen::syntax::{Holds, Sort};

/// How a line begins by which import says what symbols leave open.
pub const MARK: &str = "# import: ";

/// What edits need to know of the import.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The axis with the new kernel.
    pub axis: &'a Axis,
    /// The target that is imported.
    pub target: usize,
    /// Whether the definition's own `source` says that symbols show it.
    pub from_symbols: bool,
}

/// The file of a definition that had none, of what it states.
pub fn fresh(context: &Context, definition: &Definition, word: &str) -> String {
    let root = &definition.root;
    let all = context.axis.all();
    let mut out: String = root.notes.iter().map(|note| format!("{MARK}{note}\n")).collect();
    let own = Context { from_symbols: false, ..*context };
    out += &format!("[{word}]\n");
    let enumeration = word == "enum";
    out += &lines_of(&own.keys(root, if enumeration { Sort::Values } else { Sort::Aggregate }, &all));
    let within = &root.stated;
    if enumeration {
        let column = root.children.iter().map(|child| child.name.len() + "name = \"\", ".len()).max();
        let line = |child: &Node| format!("  {},\n", context.inline(child, Sort::Constant, within, 2, column));
        let list: String = root.children.iter().map(line).collect();
        return out + &format!("constants = [\n{list}]\n");
    }
    for child in &root.children {
        out += &context.table(child, within);
    }
    out
}

fn lines_of(keys: &[(&str, String)]) -> String {
    let width = keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0).min(6);
    keys.iter().map(|(key, value)| format!("{key:width$} = {value}\n")).collect()
}

impl Context<'_> {
    /// The remarks before an entry in a list, and the blanks that it is indented by.
    pub fn marked(&self, node: &Node, indent: usize) -> String {
        let pad = " ".repeat(indent);
        node.notes.iter().map(|note| format!("{pad}{MARK}{note}\n")).collect::<String>() + &pad
    }

    /// A new member with a header of its own, of what it states.
    pub fn table(&self, node: &Node, within: &TargetSet) -> String {
        let notes: String = node.notes.iter().map(|note| format!("{MARK}{note}\n")).collect();
        let mut out = format!("\n{notes}[[member]]\n{}", lines_of(&self.keys(node, Sort::Member, within)));
        out += &self.group(node, 0).map(|text| format!("{text}\n")).unwrap_or_default();
        out
    }

    /// A new member or constant in a list, of what it states, with its second key in a column.
    pub fn inline(&self, node: &Node, sort: Sort, within: &TargetSet, indent: usize, column: Option<usize>) -> String {
        let mut parts: Vec<_> =
            self.keys(node, sort, within).into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
        parts.extend(self.group(node, indent));
        let first = parts.remove(0) + if parts.is_empty() { "" } else { ", " };
        let width = if parts.is_empty() { 0 } else { column.unwrap_or(0) };
        format!("{{ {first:width$}{} }}", parts.join(", "))
    }

    fn group(&self, node: &Node, indent: usize) -> Option<String> {
        let word = match node.group? {
            Kind::Struct => "struct",
            Kind::Union => "union",
        };
        let within = &node.stated;
        let inner = indent + 2;
        let list: String = node
            .children
            .iter()
            .map(|child| format!("{}{},\n", self.marked(child, inner), self.inline(child, Sort::Member, within, inner, None)))
            .collect();
        Some(format!("{word} = [\n{list}{}]", " ".repeat(indent)))
    }

    /// The keys of a new entry and their values, in the order in which they are written.
    fn keys(&self, node: &Node, sort: Sort, within: &TargetSet) -> Vec<(&'static str, String)> {
        let Context { axis, from_symbols, .. } = *self;
        let targets = &node.stated;
        let named = !node.name.is_empty() && sort != Sort::Constant;
        let value = |key: &'static str, holds: Holds| match (key, holds) {
            ("name", _) => (!node.name.is_empty()).then(|| format!("\"{}\"", node.name)),
            ("in", _) => (targets != within).then(|| format!("\"{}\"", axis.spell(within, targets))),
            ("source", _) => (named && !from_symbols).then(|| "\"symbols\"".to_owned()),
            ("type", _) | (_, Holds::Piecewise) => node.keys.get(key)?.toml(axis, targets),
            _ => node.words.iter().find(|(word, _)| *word == key).map(|(_, text)| text.clone()),
        };
        sort.keys().iter().filter_map(|key| Some((key.name, value(key.name, key.holds)?))).collect()
    }
}

impl Now {
    /// What is said of a key.
    pub fn value(&self, key: &str) -> Option<Value> {
        let number = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok()).map(Value::Number);
        match key {
            "type" => self.ty.clone().map(Value::Text),
            "unverifiable" => self.unverifiable.clone().map(Value::Text),
            "value" => self.value.map(Value::Number),
            "bits" => number(self.bits),
            "align" => number(self.align),
            "pack" => number(self.pack),
            "size" => number(self.size),
            "offset" => number(self.offset),
            "mask" => number(self.mask),
            _ => None,
        }
    }
}

impl Node {
    /// The targets that have it when the kernel is in.
    pub fn targets(&self, target: usize) -> TargetSet {
        match self.now {
            Some(_) => with(&self.stated, target),
            None => without(&self.stated, target),
        }
    }
}
