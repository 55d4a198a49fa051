//! Specs as they were before some kernels were known.

use super::super::pieces::{Pieces, set};
use super::super::plan::Texts;
use super::super::prune::prune;
use super::super::scope::spell;
use super::super::splice::Splices;
use super::super::tree::{Definition, Node, Scope};
use super::{layouts, plan};
use etw_layouts_codegen::axis::{Axis, Build, TargetSet};
use std::collections::BTreeSet;

/// The specs without some kernels: neither on the axis nor in any range.
pub fn taken_out(texts: &Texts, builds: &BTreeSet<Build>) -> Texts {
    let old = layouts(texts).spec.axis;
    let mut out = Texts::new();
    let (path, windows) = texts.iter().find(|(path, _)| path.ends_with("windows.toml")).expect("an axis");
    out.insert(path.clone(), without_rows(windows, builds));
    let scalars = texts.iter().find(|(path, _)| path.ends_with("scalars.toml")).expect("scalars");
    out.insert(scalars.0.clone(), scalars.1.clone());
    let new = etw_layouts_codegen::read(plan::sources(&out)).unwrap_or_else(|e| panic!("{}", e.render(false))).axis;
    let base = old.filter(|t| !builds.contains(&old.kernels[t.kernel].build));
    let map = |set: &TargetSet| mapped(&old, &new, set);
    for (path, text) in texts.iter().filter(|(path, _)| !out.contains_key(*path)).collect::<Vec<_>>() {
        let definition = Definition::read(path, text, &old, &base).expect("readable").expect("a definition");
        let Some(text) = prune(&definition) else { continue };
        // Members first: an erratum that is about nothing any more would be in the way.
        let definition = Definition::read(path, &text, &old, &base).expect("readable").expect("a definition");
        let mut splices = Splices::default();
        let mut scopes = |scope: &Scope| {
            let wanted = map(&scope.denotes.intersection(&base));
            if new.scope(&scope.text).ok() != Some(wanted.clone()) {
                splices.replace(scope.span.clone(), format!("\"{}\"", spell(&new, &wanted, &new.all(), Some(&scope.text))));
            }
        };
        let mut keys: Vec<(&str, _, TargetSet)> = Vec::new();
        let mut empty = Vec::new();
        definition.root.walk(&mut |node: &Node| {
            node.scope.iter().for_each(&mut scopes);
            for erratum in &node.errata {
                let gone = |scope: &&Scope| scope.denotes.intersection(&base).is_empty();
                if erratum.what == "in" && !holds(&new, &text[erratum.after_what..]) {
                    empty.push(erratum.after_what);
                    continue;
                }
                match erratum.scope.as_ref().filter(gone) {
                    Some(_) => empty.push(erratum.after_what),
                    None => erratum.scope.iter().for_each(&mut scopes),
                }
            }
            node.keys.values().for_each(|entry| pieces(entry, &mut keys));
        });
        for (key, span, _) in keys {
            let wanted = map(&old.scope(key).expect("a scope").intersection(&base));
            if new.scope(key).ok() != Some(wanted.clone()) {
                splices.replace(span, format!("\"{}\"", spell(&new, &wanted, &new.all(), Some(key))));
            }
        }
        for at in empty {
            let start = text[..at].rfind('{').expect("a table");
            let end = at + text[at..].find('}').expect("its end") + 1;
            splices.remove_lines(&text, start..end);
        }
        out.insert(path.clone(), splices.apply(&text));
    }
    out
}

/// Whether an erratum about a range still is one.
fn holds(new: &Axis, rest: &str) -> bool {
    let of = |key: &str| {
        let at = rest.find(&format!("{key} = \""))? + key.len() + 4;
        new.scope(rest[at..].split('"').next()?).ok()
    };
    let (document, actual) = (of("document"), of("actual"));
    document.is_some() && actual.is_some() && document != actual
}

fn pieces<'p>(of: &'p Pieces, keys: &mut Vec<(&'p str, core::ops::Range<usize>, TargetSet)>) {
    let Pieces::Table { pieces: list, .. } = of else { return };
    for piece in list {
        if !["x86", "x64"].contains(&piece.key.as_str()) {
            keys.push((&piece.key, piece.key_span.clone(), piece.denotes.clone()));
        }
        pieces(&piece.value, keys);
    }
}

fn mapped(old: &Axis, new: &Axis, of: &TargetSet) -> TargetSet {
    set(of.iter().filter_map(|t| plan::find(new, old.kernels[old.targets[t].kernel].build, old.targets[t].arch)))
}

fn without_rows(text: &str, builds: &BTreeSet<Build>) -> String {
    let row = |line: &str| {
        let build = line.trim().strip_prefix("{ build = \"")?.split('"').next()?;
        Some(Build::parse(build)?.0)
    };
    let kept: Vec<&str> = text.lines().filter(|line| !row(line).is_some_and(|build| builds.contains(&build))).collect();
    let text = kept.join("\n") + "\n";
    text.split("[[version]]").filter(|block| !block.contains("kernels = [\n]")).collect::<Vec<_>>().join("[[version]]")
}
