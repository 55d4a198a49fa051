//! What an import changes, in words and as a diff.

use super::edit::MARK;
use super::plan::{Plan, Texts};
use etw_layouts_codegen::layouts::{Flat, Form, Layout, Layouts};
use etw_layouts_symbols::Types;
use similar::{ChangeTag, TextDiff};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const RED: anstyle::Style = anstyle::AnsiColor::Red.on_default();
const GREEN: anstyle::Style = anstyle::AnsiColor::Green.on_default();
const BOLD: anstyle::Style = anstyle::Style::new().bold();

/// What each new kernel brings, which files change, and what is left open.
pub fn summary(before: &Texts, plan: &Plan) -> String {
    let mut out = String::new();
    for &target in &plan.new {
        kernel(&mut out, plan, target);
    }
    let changed = plan.texts.iter().filter(|(path, text)| before.get(*path) != Some(text));
    let changed: Vec<_> = changed.map(|(path, _)| path.as_str()).collect();
    let _ = match changed.len() {
        0 => writeln!(out, "no spec file changes"),
        1 => writeln!(out, "1 spec file changes: {}", changed[0]),
        count => writeln!(out, "{count} spec files change: {}", changed.join(", ")),
    };
    let open: Vec<_> = plan.texts.iter().flat_map(|(path, text)| marks(path, text)).collect();
    if !open.is_empty() {
        let _ = writeln!(out, "left open, and marked in the specs; mend it there, or delete the remark if it is right:");
        open.iter().for_each(|line| out += &format!("  {line}\n"));
    }
    out
}

fn marks(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(i, line)| Some(format!("{path}:{}: {}", i + 1, line.trim_start().strip_prefix(MARK)?))).collect()
}

fn kernel(out: &mut String, plan: &Plan, target: usize) {
    let layouts = &plan.layouts;
    let axis = &layouts.spec.axis;
    let name = axis.target_name(target);
    let same_arch = |&t: &usize| axis.targets[t].arch == axis.targets[target].arch && t != target;
    let before: Vec<usize> = (0..target).rev().filter(same_arch).collect();
    let others = before.iter().copied().chain((target + 1..axis.targets.len()).filter(same_arch));
    // Of two new kernels the later is identical to the earlier, and that one is held against what was known.
    let mut known = others.clone().filter(|t| *t < target || !plan.new.contains(t));
    if let Some(twin) = known.find(|&t| layouts.by_target[t] == layouts.by_target[target]) {
        let _ = writeln!(out, "{BOLD}{name}{BOLD:#}: identical to {}", axis.target_name(twin));
        return;
    }
    let Some(nearest) = others.into_iter().next() else {
        let _ = writeln!(out, "{BOLD}{name}{BOLD:#}: the first of its architecture, {} types", layouts.by_target[target].len());
        return;
    };
    let _ = writeln!(out, "{BOLD}{name}{BOLD:#}, beside {}:", axis.target_name(nearest));
    let (mut new, mut gone) = (Vec::new(), Vec::new());
    let types: BTreeSet<_> = [nearest, target].iter().flat_map(|&t| layouts.by_target[t].keys()).collect();
    for ty in types {
        match (layouts.get(nearest, ty), layouts.get(target, ty)) {
            (Some(old), Some(new)) if old.form != new.form => {
                let _ = writeln!(out, "  {ty}: {}", changes(layouts, (nearest, old), (target, new)));
            }
            (None, Some(_)) => new.push(ty.as_str()),
            (Some(_), None) => gone.push(ty.as_str()),
            _ => {}
        }
    }
    for (what, list) in [("new", new), ("gone", gone)] {
        if !list.is_empty() {
            let _ = writeln!(out, "  {what}: {}", list.join(", "));
        }
    }
}

fn changes(layouts: &Layouts, (from, old): (usize, &Layout), (to, new): (usize, &Layout)) -> String {
    let mut list = Vec::new();
    let (one, two) = (old.extent().size, new.extent().size);
    if one != two {
        list.push(format!("{one:#x} to {two:#x} bytes"));
    }
    let facts = |form: &Form| -> BTreeMap<String, String> {
        let member = |flat: &Flat| (flat.name.to_owned(), flat.field.ctype.as_ref().map(ToString::to_string).unwrap_or_default());
        match form {
            Form::Aggregate(aggregate) => aggregate.flat().iter().map(member).collect(),
            Form::Enumeration(e) => e.constants.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
        }
    };
    let (one, two) = (facts(&old.form), facts(&new.form));
    let names = |list: Vec<&String>| list.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let mut note = |list_of: Vec<&String>, what: &str| {
        if !list_of.is_empty() {
            list.push(format!("{} {what} ({})", list_of.len(), names(list_of)));
        }
    };
    note(two.keys().filter(|name| !one.contains_key(*name)).collect(), "added");
    note(one.keys().filter(|name| !two.contains_key(*name)).collect(), "removed");
    note(one.iter().filter(|(name, ty)| two.get(*name).is_some_and(|t| t != *ty)).map(|(name, _)| name).collect(), "changed");
    let own = |target| -> Types { crate::verify::ours::types(layouts, target, &[old.name.as_str()]) };
    if list.is_empty() && own(from) != own(to) {
        list.push("members moved".into());
    }
    if list.is_empty() {
        list.push("by what it embeds".into());
    }
    list.join(", ")
}

/// The texts' difference, with colour for a terminal.
pub fn diff(before: &Texts, after: &Texts) -> String {
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut out = String::new();
    for path in paths {
        let of = |texts: &Texts| texts.get(path).cloned().unwrap_or_default();
        let (old, new) = (of(before), of(after));
        if old == new {
            continue;
        }
        let _ = writeln!(out, "{BOLD}--- a/{path}\n+++ b/{path}{BOLD:#}");
        let diff = TextDiff::from_lines(&old, &new);
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            let _ = writeln!(out, "{}", hunk.header());
            for change in hunk.iter_changes() {
                let line = change.value().trim_end_matches('\n');
                let _ = match change.tag() {
                    ChangeTag::Equal => writeln!(out, " {line}"),
                    ChangeTag::Delete => writeln!(out, "{RED}-{line}{RED:#}"),
                    ChangeTag::Insert => writeln!(out, "{GREEN}+{line}{GREEN:#}"),
                };
            }
        }
    }
    out
}
