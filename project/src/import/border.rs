//! A row of the version axis that begins earlier than was known: its kernel is written by another revision wherever the specs name it.

use super::kernel::{module_of, rows, updated};
use super::splice::Splices;
use super::splice::Texts;
use crate::Error;
use core::ops::Range;
use etw_layouts_codegen::axis::{Axis, Build};
use etw_layouts_codegen::syntax::{Node, Sort, Table, Tree};

/// The texts with the row of one kernel moved to an earlier revision of its build.
///
/// # Errors
///
/// A text that is no spec.
pub fn moved(texts: &Texts, axis: &Axis, from: Build, to: Build) -> Result<Texts, Error> {
    let mut new = Texts::new();
    for (path, text) in texts {
        let (tree, errors) = Tree::parse(text);
        if let Some(error) = errors.first() {
            return Err(format!("{path}: {error}").into());
        }
        let mut border = Border { axis, text, from: exact(from), to: exact(to), splices: Splices::default() };
        match tree.root() {
            axis if axis.sort == Sort::Axis => border.axis(axis, from, to),
            root => border.table(root),
        }
        new.insert(path.clone(), border.splices.apply(text));
    }
    Ok(new)
}

/// A build as scopes name one kernel: with its revision, also if that is 0.
fn exact(build: Build) -> String {
    match build.revision {
        0 => format!("{build}.0"),
        _ => build.to_string(),
    }
}

struct Border<'a> {
    axis: &'a Axis,
    text: &'a str,
    from: String,
    to: String,
    splices: Splices,
}

impl Border<'_> {
    /// Every key and string of a table that is a scope.
    fn table(&mut self, table: Table) {
        for entry in table.entries() {
            self.scope(entry.name, entry.name_span.clone());
            self.value(entry.value);
        }
    }

    fn value(&mut self, node: &Node) {
        match node.get_ref() {
            value if value.as_str().is_some() => self.scope(value.as_str().unwrap_or_default(), node.span()),
            value => {
                value.as_array().into_iter().flatten().for_each(|node| self.value(node));
                for (key, value) in value.as_table().into_iter().flatten() {
                    self.scope(key.get_ref(), key.span());
                    self.value(value);
                }
            }
        }
    }

    /// Respells a text that is a scope and names the kernel.
    fn scope(&mut self, scope: &str, span: Range<usize>) {
        if !scope.contains(&self.from) || self.axis.scope(scope).is_err() {
            return;
        }
        let parts: Vec<String> = scope.split(", ").map(|part| self.part(part)).collect();
        let quote = &self.text[span.start..=span.start];
        self.splices.replace(span, format!("{quote}{}{quote}", parts.join(", ")));
    }

    /// A range and an architecture.
    fn part(&self, part: &str) -> String {
        let point = |point: &str| if point == self.from { self.to.clone() } else { point.to_owned() };
        let word = |word: &str| match word.split_once("..") {
            Some((first, last)) => format!("{}..{}", point(first), point(last)),
            None => point(word),
        };
        part.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    /// The row itself, or the updates that make it, and the one scope of an axis.
    fn axis(&mut self, axis: Table, from: Build, to: Build) {
        axis.get("documents").iter().for_each(|documents| self.value(documents.value));
        for (_, span) in updated(axis).into_iter().filter(|(build, _)| *build == from) {
            self.splices.replace(span, format!("\"{to:#}\""));
        }
        let mut all = axis.tables("version").into_iter().flat_map(rows);
        let Some((_, row)) = all.find(|(build, _)| *build == from) else { return };
        let (Some(build), Some(module)) = (row.get("build"), row.get("module")) else { return };
        let between = build.value.span().start..module.name_span.start;
        let width = between.len();
        let build = format!("\"{to}\",");
        self.splices.replace(between, format!("{build:width$}", width = width.max(build.len() + 1)));
        if let Some(name) = module.value.get_ref().as_str() {
            self.splices.replace(module.value.span(), format!("\"{}\"", module_of(name, from, to)));
        }
    }
}
