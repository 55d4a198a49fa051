//! Changes in the text of a definition. Whatever still says what is so stays as it is, byte for byte.

use super::pieces::{Value, Wanted, with};
use super::splice::{Splices, behind_comma, line_end, line_start};
use super::tree::{Definition, Node, Place};
use super::write::{Context, MARK};
use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::syntax::{Holds, Sort};

/// The file that says what its entries say now.
pub fn edited(context: &Context, definition: &Definition) -> String {
    let editor = Editor::new(context, definition);
    let mut splices = Splices::default();
    editor.node(&definition.root, &context.axis.all(), &mut splices);
    splices.apply(&definition.text)
}

/// The file that says that its definition cannot be confirmed, for a reason, and is as it was otherwise.
pub fn unconfirmed(context: &Context, definition: &Definition, reason: &str) -> String {
    let editor = Editor::new(context, definition);
    let mut splices = Splices::default();
    let root = &definition.root;
    editor.stated(root, "unverifiable", &root.stated, Some(Value::Text(reason.to_owned())), &mut splices);
    splices.apply(&definition.text)
}

/// The text of a spec, and what its edits need to know.
struct Editor<'a> {
    context: &'a Context<'a>,
    /// Before any edit.
    text: &'a str,
    /// The targets that its witnesses speak of, if they speak of any of them.
    documented: TargetSet,
}

impl<'a> Editor<'a> {
    fn new(context: &'a Context<'a>, definition: &'a Definition) -> Self {
        // What has a source is known from documents, as far as they reach.
        let documented = match definition.root.keys.contains_key("source") {
            true => context.axis.documented.clone(),
            false => context.axis.all(),
        };
        Self { context, text: &definition.text, documented }
    }

    /// An entry and all below it.
    fn node(&self, node: &Node, within: &TargetSet, splices: &mut Splices) {
        let Some(place) = &node.place else { return };
        let targets = node.targets(self.context.target);
        for note in &node.notes {
            self.note(place, note, splices);
        }
        self.scope(node, place, &targets, within, splices);
        if let Some(now) = &node.now {
            for key in place.sort.keys() {
                let value = now.value(key.name);
                match key.holds {
                    Holds::Piecewise if key.name != "source" => self.stated(node, key.name, &targets, value, splices),
                    Holds::Witness => self.witness(node, key.name, &targets, value, splices),
                    _ => {}
                }
            }
        }
        self.children(node, place, &targets, splices);
    }

    fn note(&self, place: &Place, note: &str, splices: &mut Splices) {
        let at = line_start(self.text, if place.header { place.open - 1 } else { place.span.start });
        let indent: String = self.text[at..].chars().take_while(|c| *c == ' ').collect();
        splices.insert(at, format!("{indent}{MARK}{note}\n"));
    }

    fn scope(&self, node: &Node, place: &Place, wanted: &TargetSet, within: &TargetSet, splices: &mut Splices) {
        let spelled = || format!("\"{}\"", self.context.axis.spell(within, wanted));
        match &node.scope {
            Some(scope) if scope.denotes.intersection(within) == *wanted => {}
            // An entry of this target alone that it turns out not to have: what it says is checked with the whole.
            _ if wanted.is_empty() => {}
            Some(scope) => splices.replace(scope.span.clone(), spelled()),
            None if wanted == within => {}
            None => self.insert(place, "in", &spelled(), splices),
        }
    }

    /// The children of an entry: those that stand there already, and new ones between them.
    fn children(&self, node: &Node, place: &Place, within: &TargetSet, splices: &mut Splices) {
        let first = node.children.iter().find_map(|child| child.place.as_ref());
        let mut last: Option<&Place> = None;
        let column = self.column(&node.children);
        let sort = if place.sort == Sort::Values { Sort::Constant } else { Sort::Member };
        for child in &node.children {
            if let Some(place) = &child.place {
                self.node(child, within, splices);
                last = Some(place);
                continue;
            }
            let child = &child.kept(self.context.target);
            let header = place.header && node.group.is_none() && place.list.is_none();
            if header {
                let at = last.map_or(place.span.end, |place| place.span.end);
                splices.insert(at, self.context.table(child, within));
                continue;
            }
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
                            format!(
                                "\n{}{},",
                                self.context.marked(child, indent),
                                self.context.inline(child, sort, within, indent, column)
                            ),
                        );
                    }
                    None => {
                        let text = format!(
                            ",\n{}{}",
                            self.context.marked(child, indent),
                            self.context.inline(child, sort, within, indent, column)
                        );
                        splices.insert(last.span.end, text);
                    }
                },
                (true, None) => {
                    let text = format!(
                        "{}{},\n",
                        self.context.marked(child, indent),
                        self.context.inline(child, sort, within, indent, column)
                    );
                    splices.insert(line, text);
                }
                (false, Some(last)) => {
                    splices.insert(last.span.end, format!(", {}", self.context.inline(child, sort, within, indent, column)))
                }
                (false, None) => {
                    splices.insert(list.start + 1, format!(" {},", self.context.inline(child, sort, within, indent, column)))
                }
            }
        }
    }

    /// Where the second key stands, from the first on, if the entries of a list are written in columns.
    fn column(&self, children: &[Node]) -> Option<usize> {
        children.iter().filter_map(|child| child.place.as_ref()).filter(|place| !place.header).find_map(|place| {
            let [(_, first), (_, second), ..] = &place.keys[..] else { return None };
            self.text[first.end..second.start].ends_with("  ").then(|| second.start - first.start)
        })
    }

    /// A key that states a fact: it holds where it is wanted, and nowhere else.
    fn stated(&self, node: &Node, key: &str, within: &TargetSet, value: Option<Value>, splices: &mut Splices) {
        let wanted = self.wanted(within, value.as_ref(), key);
        match (node.keys.get(key), &node.place) {
            (Some(pieces), _) => pieces.edit(&wanted, self.text, splices),
            (None, Some(place)) if value.is_some() => {
                let text = wanted.value.map(|value| value.toml(wanted.hexadecimal)).unwrap_or_default();
                let scope = wanted.axis.spell(within, &with(&TargetSet::default(), wanted.target)).to_string();
                let all = within.iter().eq([wanted.target]);
                let text = if all { text } else { format!("{{ \"{scope}\" = {text} }}") };
                self.insert(place, key, &text, splices);
            }
            _ => {}
        }
    }

    /// A key that witnesses a fact: it no longer covers the target if it does not hold there.
    fn witness(&self, node: &Node, key: &str, within: &TargetSet, fact: Option<Value>, splices: &mut Splices) {
        let Some(pieces) = node.keys.get(key) else { return };
        let target = self.context.target;
        let right = pieces.at(target).is_none_or(|value| fact.as_ref() == Some(value));
        let reach = pieces.around(target, within).intersection(&self.documented);
        if !right && (reach.is_empty() || reach.contains(target)) {
            pieces.edit(&self.wanted(within, None, key), self.text, splices);
        }
    }

    /// What a piecewise key has to say.
    fn wanted<'w>(&'w self, within: &'w TargetSet, value: Option<&'w Value>, key: &str) -> Wanted<'w> {
        let Context { axis, target, .. } = *self.context;
        Wanted { axis, within, target, value, hexadecimal: ["offset", "size", "mask"].contains(&key) }
    }

    /// Adds a key: behind the last of those that are written before it, or before all.
    fn insert(&self, place: &Place, key: &str, value: &str, splices: &mut Splices) {
        let before: Vec<&str> = place.sort.keys().iter().map(|key| key.name).take_while(|name| *name != key).collect();
        let found = place.keys.iter().filter(|(name, _)| before.contains(&name.as_str())).max_by_key(|(_, span)| span.end);
        let Some((_, near)) = found.or(place.keys.first()) else {
            return splices.insert(place.open, format!("{key} = {value}\n"));
        };
        match (place.header, found) {
            (true, _) => {
                let width = self.text[near.clone()].find('=').unwrap_or(0).max(key.len() + 1);
                let at = found.map_or(place.open, |(_, span)| line_end(self.text, span.end));
                splices.insert(at, format!("{key:width$}= {value}\n"));
            }
            (false, Some((_, span))) => splices.insert(span.end, format!(", {key} = {value}")),
            (false, None) => splices.insert(place.open, format!(" {key} = {value},")),
        }
    }
}
