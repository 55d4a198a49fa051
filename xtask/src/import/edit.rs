//! Changes in the text of a spec. Whatever still says what is so stays as it is, byte for byte.

use super::pieces::{self, Value, Wanted};
use super::scope::{loosely, spell};
use super::splice::{Splices, line_start};
use super::tree::{Definition, Erratum, Node, Now, Place, Scope};
use core::ops::Range;
use etw_layouts_codegen::axis::{Axis, TargetSet};
use std::collections::BTreeMap;

/// How a line begins by which import says what symbols leave open.
pub const MARK: &str = "# import: ";

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

/// The text of a spec, and what its edits need to know.
pub struct Editor<'a> {
    /// What the import is.
    pub context: &'a Context<'a>,
    /// The text before any edit.
    pub text: &'a str,
}

/// A number that symbols state of an entry.
type Number = fn(&Now) -> Option<Value>;

fn number(n: Option<u64>) -> Option<Value> {
    n.and_then(|n| i64::try_from(n).ok()).map(Value::Number)
}

/// The keys that hold numbers, in the order in which they are written.
pub fn numbers() -> [(&'static str, Number); 5] {
    [
        ("value", |now| now.value.map(Value::Number)),
        ("bits", |now| number(now.bits)),
        ("size", |now| number(now.size)),
        ("align", |now| number(now.align)),
        ("pack", |now| number(now.pack)),
    ]
}

impl Editor<'_> {
    /// An entry and all below it.
    pub(super) fn node(&self, node: &Node, within: &TargetSet, splices: &mut Splices) {
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
        let at = line_start(self.text, if place.header { place.open - 1 } else { place.span.start });
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

    /// What a piecewise key has to say.
    pub(super) fn wanted<'w>(&'w self, within: &'w TargetSet, values: &'w BTreeMap<usize, Value>, key: &str) -> Wanted<'w> {
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
                let (at, line) = after(place, self.text, key);
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
}

type Writer = Box<dyn Fn(&str) -> String>;

/// Where `in` goes.
fn insertion(place: &Place, text: &str) -> (usize, Writer) {
    after(place, text, "in")
}

/// The keys in the order in which they are written.
const ORDER: [&str; 11] = ["name", "type", "bits", "in", "size", "align", "pack", "offset", "mask", "source", "unverifiable"];

/// Where a key goes: behind the last of those that come before it, or before all.
fn after(place: &Place, text: &str, key: &str) -> (usize, Writer) {
    let key = key.to_owned();
    let others = ORDER.iter().take_while(|other| **other != key).collect::<Vec<_>>().into_iter().rev();
    let plain = |span: &Range<usize>| !text[line_start(text, span.start)..].starts_with('[');
    let found = others.into_iter().find_map(|other| place.keys.iter().find(|(name, span)| name == other && plain(span)));
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
