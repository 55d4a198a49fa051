//! Changes in the text of a spec. Whatever still says what is so stays as it is, byte for byte.

use super::pieces::{self, Form, Pieces, Value, Wanted};
use super::scope::{loosely, spell};
use super::tree::{Definition, Erratum, Node, Now, Place, Scope};
use core::ops::Range;
use etw_layouts_codegen::axis::{Axis, TargetSet};
use etw_layouts_codegen::spec::Kind;
use std::collections::BTreeMap;

/// How a line begins by which import says what symbols leave open.
pub const MARK: &str = "# import: ";

/// Replacements in a text.
#[derive(Debug, Default)]
pub struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    /// Replaces a range.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// Inserts at a place, behind what was inserted there before.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Removes the lines of a range.
    pub fn remove_lines(&mut self, text: &str, range: Range<usize>) {
        let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[range.end..].find('\n').map_or(text.len(), |length| range.end + length + 1);
        self.replace(start..end, "");
    }

    /// The text with all of it done. What lies in a removed range is gone.
    pub fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::new();
        let mut at = 0;
        for (range, new) in self.0 {
            if range.start >= at {
                out += &text[at..range.start];
                out += &new;
                at = range.end;
            } else {
                at = at.max(range.end);
            }
        }
        out + &text[at..]
    }
}

/// The file without what holds for imported targets alone; `None` if nothing else is in it.
pub fn prune(definition: &Definition) -> Option<String> {
    let Definition { text, root, .. } = definition;
    if root.base.is_empty() {
        return None;
    }
    let mut splices = Splices::default();
    prune_node(root, text, &mut splices);
    for (start, line) in lines(text).filter(|(_, line)| line.trim_start().starts_with(MARK)) {
        splices.replace(start..start + line.len(), "");
    }
    Some(splices.apply(text))
}

fn prune_node(node: &Node, text: &str, splices: &mut Splices) {
    for (key, entry) in &node.keys {
        if !entry.prune(&node.base, text, splices) {
            match entry {
                Pieces::Table { form: Form::Dotted, pieces } => {
                    pieces.iter().for_each(|piece| splices.remove_lines(text, piece.span.clone()));
                }
                _ => remove_key(node, key, text, splices),
            }
        }
    }
    for child in &node.children {
        match &child.place {
            Some(place) if child.base.is_empty() => remove_entry(place, text, splices),
            _ => prune_node(child, text, splices),
        }
    }
}

fn remove_key(node: &Node, key: &str, text: &str, splices: &mut Splices) {
    let Some(place) = &node.place else { return };
    let Some(index) = place.keys.iter().position(|(name, _)| name == key) else { return };
    let span = place.keys[index].1.clone();
    match place.header {
        true => splices.remove_lines(text, span),
        false if index == 0 => splices.replace(span.start..place.keys.get(1).map_or(span.end, |(_, next)| next.start), ""),
        false => splices.replace(place.keys[index - 1].1.end..span.end, ""),
    }
}

fn remove_entry(place: &Place, text: &str, splices: &mut Splices) {
    if place.header {
        return splices.replace(place.span.clone(), "");
    }
    let end = behind_comma(text, place.span.end).unwrap_or(place.span.end);
    let line = line_start(text, place.span.start);
    if text[line..place.span.start].trim().is_empty() && text[end..].starts_with('\n') {
        splices.replace(line..end + 1, "");
    } else {
        splices.replace(place.span.start..end + usize::from(text[end..].starts_with(' ')), "");
    }
}

/// What edits need to know of the import.
pub struct Context<'a> {
    /// The axis with the new kernels.
    pub axis: &'a Axis,
    /// The targets that are being imported into this file.
    pub imported: &'a TargetSet,
    /// Whether the definition's own `source` says that symbols show it, at a target.
    pub from_symbols: &'a dyn Fn(usize) -> bool,
}

/// The file that says what its entries say now.
pub fn edited(context: &Context, definition: &Definition) -> String {
    let mut splices = Splices::default();
    let Definition { text, root, .. } = definition;
    let editor = Editor { context, text };
    editor.node(root, &context.axis.all(), &mut splices);
    splices.apply(text)
}

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
        let list: String = root.children.iter().map(|child| format!("  {},\n", editor.inline(child, &within, 2))).collect();
        return out + &format!("constants = [\n{list}]\n");
    }
    for child in &root.children {
        out += &editor.table(child, &within);
    }
    out
}

struct Editor<'a> {
    context: &'a Context<'a>,
    text: &'a str,
}

type Number = fn(&Now) -> Option<Value>;

fn number(n: Option<u64>) -> Option<Value> {
    n.and_then(|n| i64::try_from(n).ok()).map(Value::Number)
}

/// The keys that hold numbers, in the order in which they are written.
fn numbers() -> [(&'static str, Number); 5] {
    [
        ("value", |now| now.value.map(Value::Number)),
        ("bits", |now| number(now.bits)),
        ("size", |now| number(now.size)),
        ("align", |now| number(now.align)),
        ("pack", |now| number(now.pack)),
    ]
}

fn lines_of(keys: &[(&str, String)]) -> String {
    let width = keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0).min(6);
    keys.iter().map(|(key, value)| format!("{key:width$} = {value}\n")).collect()
}

impl Editor<'_> {
    fn node(&self, node: &Node, within: &TargetSet, splices: &mut Splices) {
        let Some(place) = &node.place else { return };
        let targets = node.targets();
        for note in &node.notes {
            self.note(place, note, splices);
        }
        self.scope(node.scope.as_ref(), &targets, within, splices, || insertion(place, self.text));
        let now = |test: fn(&Now) -> Option<Value>| -> BTreeMap<usize, Value> {
            node.now.iter().filter_map(|(target, now)| Some((*target, test(now)?))).collect()
        };
        self.stated(node, "type", &targets, now(|now| now.ty.clone().map(Value::Text)), splices);
        self.stated(node, "unverifiable", &targets, now(|now| now.unverifiable.clone().map(Value::Text)), splices);
        for (key, number) in numbers().into_iter().filter(|(key, _)| *key != "size") {
            self.stated(node, key, &targets, now(number), splices);
        }
        self.witness(node, "offset", &targets, &now(|now| number(now.offset)), false, splices);
        self.witness(node, "mask", &targets, &now(|now| number(now.mask)), false, splices);
        self.witness(node, "size", &targets, &now(|now| number(now.size)), true, splices);
        for erratum in &node.errata {
            self.erratum(node, erratum, &targets, splices);
        }
        self.children(node, place, &targets, splices);
    }

    fn note(&self, place: &Place, note: &str, splices: &mut Splices) {
        let at = match place.header {
            true => self.text[place.span.start..].find("[[").map_or(place.span.start, |at| place.span.start + at),
            false => line_start(self.text, place.span.start),
        };
        let indent: String = self.text[at..].chars().take_while(|c| *c == ' ').collect();
        splices.insert(at, format!("{indent}{MARK}{note}\n"));
    }

    fn scope(
        &self,
        scope: Option<&Scope>,
        wanted: &TargetSet,
        within: &TargetSet,
        splices: &mut Splices,
        place: impl FnOnce() -> (usize, Box<dyn Fn(&str) -> String>),
    ) {
        let spelled = |old| spell(self.context.axis, wanted, within, old);
        match scope {
            Some(scope) if scope.denotes.intersection(within) == *wanted => {}
            Some(scope) => splices.replace(scope.span.clone(), format!("\"{}\"", spelled(Some(&scope.text)))),
            None if wanted == within => {}
            None => {
                let (at, text) = place();
                splices.insert(at, text(&format!("\"{}\"", spelled(None))));
            }
        }
    }

    fn wanted<'w>(&'w self, within: &'w TargetSet, values: &'w BTreeMap<usize, Value>, key: &str) -> Wanted<'w> {
        let Context { axis, imported, .. } = *self.context;
        Wanted { axis, within, values, imported, hexadecimal: ["offset", "size", "mask"].contains(&key) }
    }

    /// A key that states a fact: it holds where it is wanted, and nowhere else.
    fn stated(&self, node: &Node, key: &str, within: &TargetSet, values: BTreeMap<usize, Value>, splices: &mut Splices) {
        let Some(place) = &node.place else { return };
        let wanted = self.wanted(within, &values, key);
        match node.keys.get(key) {
            Some(entry) => entry.edit(&wanted, self.text, splices),
            None if values.is_empty() => {}
            None => {
                let (at, line) = after(place, self.text, &["bits", "type", "in", "name"], key);
                splices.insert(at, line(&pieces::text(&wanted)));
            }
        }
    }

    /// A key that witnesses a fact: it no longer covers where it does not hold. With `grows`, new facts are witnessed too.
    fn witness(
        &self,
        node: &Node,
        key: &str,
        within: &TargetSet,
        facts: &BTreeMap<usize, Value>,
        grows: bool,
        splices: &mut Splices,
    ) {
        let Some(entry) = node.keys.get(key) else { return };
        let imported: Vec<_> = within.iter().filter(|t| self.context.imported.contains(*t)).collect();
        let mut values = BTreeMap::new();
        for unit in entry.units(within) {
            let right = |t: usize| unit.pieces.at(t).is_none_or(|value| facts.get(&t) == Some(value));
            let accepted = self.accepted(&unit.covers, &unit.within, unit.key, right);
            let known = accepted.iter().filter(|&t| unit.pieces.at(t).is_some());
            values.extend(known.filter_map(|t| Some((t, facts.get(&t)?.clone()))));
        }
        let accepted: Vec<usize> = values.keys().copied().collect();
        if grows {
            for &t in &imported {
                let before = self.before(t, within);
                let known = before.and_then(|b| values.get(&b).or(facts.get(&b)).or(entry.at(b)));
                let unknown = |b| node.base.contains(b) && entry.at(b).is_none();
                let continues = before.is_none_or(|b| values.contains_key(&b) || unknown(b));
                if let Some(fact) = facts.get(&t).filter(|fact| known != Some(*fact) || continues) {
                    values.entry(t).or_insert_with(|| fact.clone());
                }
            }
            // What is said of a kernel is said of all its architectures.
            let kernel = |t: usize| self.context.axis.targets[t].kernel;
            let said: Vec<_> = values.keys().filter(|t| !accepted.contains(t)).map(|&t| kernel(t)).collect();
            for &t in imported.iter().filter(|t| said.contains(&kernel(**t))) {
                values.extend(facts.get(&t).map(|fact| (t, fact.clone())));
            }
        }
        let wanted = self.wanted(within, &values, key);
        entry.edit(&wanted, self.text, splices);
    }

    /// The imported targets that a witness may go on covering: those that its text covers if it is right for all of them;
    /// otherwise those that lie between the others in words, on the same condition; otherwise none.
    fn accepted(&self, covers: &TargetSet, within: &TargetSet, old: Option<&str>, right: impl Fn(usize) -> bool) -> TargetSet {
        let Context { axis, imported, .. } = *self.context;
        let base = covers.difference(imported);
        let words = loosely(axis, &base, &within.difference(imported), within, old);
        let between = axis.scope(&words).unwrap_or_default().intersection(within);
        let options = [covers.intersection(imported), between.intersection(imported)];
        options.into_iter().find(|option| option.iter().all(&right)).unwrap_or_default()
    }

    fn before(&self, target: usize, within: &TargetSet) -> Option<usize> {
        let axis = self.context.axis;
        (0..target).rev().find(|&t| within.contains(t) && axis.targets[t].arch == axis.targets[target].arch)
    }

    fn erratum(&self, node: &Node, erratum: &Erratum, within: &TargetSet, splices: &mut Splices) {
        let is = |now: &Now| match erratum.what.as_str() {
            "offset" => number(now.offset),
            "size" => number(now.size),
            "mask" => number(now.mask),
            "bits" => number(now.bits),
            "value" => now.value.map(Value::Number),
            "type" => now.ty.clone().map(Value::Text),
            _ => Some(erratum.actual.clone()),
        };
        let denotes = match &erratum.scope {
            Some(scope) => scope.denotes.intersection(within),
            None => within.clone(),
        };
        let right = |t: usize| node.now.get(&t).is_none_or(|now| is(now) == Some(erratum.actual.clone()));
        let base = denotes.difference(self.context.imported);
        if base.is_empty() {
            return;
        }
        let old = erratum.scope.as_ref().map(|scope| scope.text.as_str());
        let holds = base.union(&self.accepted(&denotes, within, old, right));
        let at = erratum.after_what;
        self.scope(erratum.scope.as_ref(), &holds, within, splices, || (at, Box::new(|text| format!(", in = {text}"))));
    }

    fn children(&self, node: &Node, place: &Place, within: &TargetSet, splices: &mut Splices) {
        let mut last: Option<&Place> = None;
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
                        splices.insert(end, format!("\n{}{},", self.marked(child, indent), self.inline(child, within, indent)));
                    }
                    None => {
                        let text = format!(",\n{}{}", self.marked(child, indent), self.inline(child, within, indent));
                        splices.insert(last.span.end, text);
                    }
                },
                (true, None) => {
                    let text = format!("{}{},\n", self.marked(child, indent), self.inline(child, within, indent));
                    splices.insert(line, text);
                }
                (false, Some(last)) => splices.insert(last.span.end, format!(", {}", self.inline(child, within, indent))),
                (false, None) => splices.insert(list.start + 1, format!(" {},", self.inline(child, within, indent))),
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

    /// A new member or constant in a list.
    fn inline(&self, node: &Node, within: &TargetSet, indent: usize) -> String {
        let mut parts: Vec<_> = self.keys(node, within).into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
        parts.extend(self.group(node, indent));
        format!("{{ {} }}", parts.join(", "))
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
            .map(|child| format!("{}{},\n", self.marked(child, inner), self.inline(child, &within, inner)))
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
        keys
    }

    /// The text of a piecewise value of a new entry, if it has one.
    fn value(&self, node: &Node, key: &str, within: &TargetSet, of: fn(&Now) -> Option<Value>) -> Option<String> {
        let values: BTreeMap<_, _> = node.now.iter().filter_map(|(t, now)| Some((*t, of(now)?))).collect();
        (!values.is_empty()).then(|| pieces::text(&self.wanted(within, &values, key)))
    }
}

type Writer = Box<dyn Fn(&str) -> String>;

/// Where `in` goes.
fn insertion(place: &Place, text: &str) -> (usize, Writer) {
    after(place, text, &["type", "name"], "in")
}

/// Where a key goes: behind one of some others, or before all.
fn after(place: &Place, text: &str, others: &[&str], key: &str) -> (usize, Writer) {
    let key = key.to_owned();
    let found = others.iter().find_map(|other| place.keys.iter().find(|(name, _)| name == other));
    let near = found.or(place.keys.first()).map(|(_, span)| span.clone()).unwrap_or(place.open..place.open);
    if place.header {
        let width = text[near.clone()].find('=').unwrap_or(key.len() + 1).max(key.len() + 1);
        let at = match found {
            Some((_, span)) => text[span.end..].find('\n').map_or(text.len(), |length| span.end + length + 1),
            None => place.open,
        };
        return (at, Box::new(move |value| format!("{key:width$}= {value}\n")));
    }
    match found {
        Some((_, span)) => (span.end, Box::new(move |value| format!(", {key} = {value}"))),
        None => (place.open, Box::new(move |value| format!(" {key} = {value},"))),
    }
}

fn behind_comma(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start().len();
    rest[blank..].starts_with(',').then_some(at + blank + 1)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// The lines of a text with their places, each with its end.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}
