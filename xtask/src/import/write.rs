//! New entries, and where they go; the files of new definitions.

use super::edit::{Context, Editor, MARK, numbers};
use super::pieces::{self, Value};
use super::scope::spell;
use super::splice::{Splices, behind_comma, line_start};
use super::tree::{Definition, Node, Now, Place};
use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::spec::Kind;
use std::collections::BTreeMap;

/// The file of a definition that had none.
pub fn fresh(context: &Context, definition: &Definition, word: &str) -> String {
    let root = &definition.root;
    let within = root.targets();
    let mut out: String = root.notes.iter().map(|note| format!("{MARK}{note}\n")).collect();
    let mut keys = vec![("name", format!("\"{}\"", root.name))];
    let editor = Editor { context, text: "" };
    if let Some(ty) = editor.value(root, "type", &within, |now| now.ty.clone().map(Value::Text)) {
        keys.push(("type", ty));
    }
    if within != context.axis.all() {
        keys.push(("in", format!("\"{}\"", spell(context.axis, &within, &context.axis.all(), None))));
    }
    for (key, number) in numbers() {
        keys.extend(editor.value(root, key, &within, number).map(|text| (key, text)));
    }
    keys.push(("source", "\"symbols\"".into()));
    let reason = |now: &Now| now.unverifiable.clone().map(Value::Text);
    keys.extend(editor.value(root, "unverifiable", &within, reason).map(|text| ("unverifiable", text)));
    out += &format!("[{word}]\n");
    out += &lines_of(&keys);
    if word == "enum" {
        let column = root.children.iter().map(|child| child.name.len() + "name = \"\", ".len()).max();
        let line = |child: &Node| format!("  {},\n", editor.inline(child, &within, 2, column));
        let list: String = root.children.iter().map(line).collect();
        return out + &format!("constants = [\n{list}]\n");
    }
    for child in &root.children {
        out += &editor.table(child, &within);
    }
    out
}

fn lines_of(keys: &[(&str, String)]) -> String {
    let width = keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0).min(6);
    keys.iter().map(|(key, value)| format!("{key:width$} = {value}\n")).collect()
}

impl Editor<'_> {
    /// The children of an entry: those that stand there already, and new ones between them.
    pub(super) fn children(&self, node: &Node, place: &Place, within: &TargetSet, splices: &mut Splices) {
        let mut last: Option<&Place> = None;
        let column = self.column(&node.children);
        for child in &node.children {
            if let Some(place) = &child.place {
                self.node(child, within, splices);
                last = Some(place);
                continue;
            }
            let header = place.header && node.group.is_none() && place.list.is_none();
            if header {
                let at = last.map_or(place.span.end, |place| place.span.end);
                splices.insert(at, self.table(child, within));
                continue;
            }
            let first = node.children.iter().find_map(|child| child.place.as_ref());
            let Some(list) = &place.list else { continue };
            let near = last.or(first).map_or(list.start, |place| place.span.start);
            let line = line_start(self.text, near);
            let alone = self.text[line..near].trim().is_empty() && near != list.start;
            let indent = near - line;
            match (alone, last) {
                (true, Some(last)) => match behind_comma(self.text, last.span.end) {
                    Some(comma) => {
                        let end = comma + self.text[comma..].find('\n').unwrap_or(0);
                        splices.insert(
                            end,
                            format!("\n{}{},", self.marked(child, indent), self.inline(child, within, indent, column)),
                        );
                    }
                    None => {
                        let text = format!(",\n{}{}", self.marked(child, indent), self.inline(child, within, indent, column));
                        splices.insert(last.span.end, text);
                    }
                },
                (true, None) => {
                    let text = format!("{}{},\n", self.marked(child, indent), self.inline(child, within, indent, column));
                    splices.insert(line, text);
                }
                (false, Some(last)) => splices.insert(last.span.end, format!(", {}", self.inline(child, within, indent, column))),
                (false, None) => splices.insert(list.start + 1, format!(" {},", self.inline(child, within, indent, column))),
            }
        }
    }

    fn marked(&self, node: &Node, indent: usize) -> String {
        let pad = " ".repeat(indent);
        node.notes.iter().map(|note| format!("{pad}{MARK}{note}\n")).collect::<String>() + &pad
    }

    /// A new member with a header of its own.
    fn table(&self, node: &Node, within: &TargetSet) -> String {
        let notes: String = node.notes.iter().map(|note| format!("{MARK}{note}\n")).collect();
        let mut out = format!("\n{notes}[[member]]\n{}", lines_of(&self.keys(node, within)));
        out += &self.group(node, 0).map(|text| format!("{text}\n")).unwrap_or_default();
        out
    }

    /// A new member or constant in a list, with its second key in a column.
    fn inline(&self, node: &Node, within: &TargetSet, indent: usize, column: Option<usize>) -> String {
        let mut parts: Vec<_> = self.keys(node, within).into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
        parts.extend(self.group(node, indent));
        let first = parts.remove(0) + if parts.is_empty() { "" } else { ", " };
        let width = if parts.is_empty() { 0 } else { column.unwrap_or(0) };
        format!("{{ {first:width$}{} }}", parts.join(", "))
    }

    /// Where the second key stands, from the first on, if the entries of a list are written in columns.
    fn column(&self, children: &[Node]) -> Option<usize> {
        children.iter().filter_map(|child| child.place.as_ref()).filter(|place| !place.header).find_map(|place| {
            let [(_, first), (_, second), ..] = &place.keys[..] else { return None };
            self.text[first.end..second.start].ends_with("  ").then(|| second.start - first.start)
        })
    }

    fn group(&self, node: &Node, indent: usize) -> Option<String> {
        let word = match node.group? {
            Kind::Struct => "struct",
            Kind::Union => "union",
        };
        let within = node.targets();
        let inner = indent + 2;
        let list: String = node
            .children
            .iter()
            .map(|child| format!("{}{},\n", self.marked(child, inner), self.inline(child, &within, inner, None)))
            .collect();
        Some(format!("{word} = [\n{list}{}]", " ".repeat(indent)))
    }

    fn keys(&self, node: &Node, within: &TargetSet) -> Vec<(&'static str, String)> {
        let targets = node.targets();
        let mut keys = Vec::new();
        if !node.name.is_empty() {
            keys.push(("name", format!("\"{}\"", node.name)));
        }
        keys.extend(self.value(node, "type", &targets, |now| now.ty.clone().map(Value::Text)).map(|text| ("type", text)));
        for (key, number) in numbers() {
            keys.extend(self.value(node, key, &targets, number).map(|text| (key, text)));
        }
        if targets != *within {
            keys.push(("in", format!("\"{}\"", spell(self.context.axis, &targets, within, None))));
        }
        let named = !node.name.is_empty() && node.now.values().all(|now| now.value.is_none());
        if named && !targets.iter().all(|t| (self.context.from_symbols)(t)) {
            keys.push(("source", "\"symbols\"".into()));
        }
        keys.extend(node.words.iter().map(|(key, text)| (*key, text.clone())));
        keys
    }

    /// The text of a piecewise value of a new entry, if it has one.
    fn value(&self, node: &Node, key: &str, within: &TargetSet, of: fn(&Now) -> Option<Value>) -> Option<String> {
        let values: BTreeMap<_, _> = node.now.iter().filter_map(|(t, now)| Some((*t, of(now)?))).collect();
        (!values.is_empty()).then(|| pieces::text(&self.wanted(within, &values, key)))
    }
}
