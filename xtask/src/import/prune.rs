//! What a text says of imported kernels alone, taken out of it.

use super::edit::MARK;
use super::pieces::{Form, Pieces};
use super::splice::{Splices, behind_comma, line_start, lines};
use super::tree::{Definition, Node, Place};

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
