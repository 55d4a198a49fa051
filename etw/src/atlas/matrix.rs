//! A table with a row for each member of a structure and a column for each version. Equal cells of a row are merged.

use super::facts::{Atlas, Structure};
use super::frame::scrolled;
use super::{marks, names};
use crate::html::Html;
use etw_layouts_project::errata;
use etw_layouts_project::history::TargetFact;
use etw_layouts_project::matrix::{Column, Matrix, Row, Run};
use std::collections::BTreeSet;
use std::fmt::Display;

/// The table. The first row of a member on a page gets its id. `known` lists the members that have one.
pub fn table(atlas: &Atlas, structure: &Structure, matrix: &Matrix, known: &mut BTreeSet<String>, html: &mut Html) {
    let name = structure.name();
    let errata = errata::of(atlas.layouts, structure.definition, &atlas.axis.all());
    let label = format!("Members of {name} on {} by version", matrix.arch);
    html.el("p", &[("class", &"legend")], |html| {
        html.text("A cell covers consecutive versions in which the member and its evidence level do not change. ");
        for (class, words) in [("new", "new"), ("moved", "moved"), ("typed", "another type or other bits")] {
            html.leaf("span", &[("class", &format_args!("change {class}"))], words);
        }
    });
    scrolled(html, &label, |html| {
        let columns = format!("--columns:{}", matrix.columns.len());
        html.el("table", &[("class", &"matrix"), ("style", &columns)], |html| {
            html.el("thead", &[], |html| {
                html.el("tr", &[], |html| {
                    html.leaf("th", &[("scope", &"col")], "Member");
                    html.leaf("th", &[("scope", &"col")], "Type");
                    let mut release = "";
                    for column in &matrix.columns {
                        head(atlas, name, column, &mut release, html);
                    }
                });
            });
            html.el("tbody", &[], |html| {
                html.el("tr", &[("class", &"size")], |html| {
                    html.leaf("th", &[("scope", &"row")], "Size");
                    html.el("td", &[], |_| {});
                    for column in &matrix.columns {
                        html.leaf("td", &[], format_args!("{:#x}", column.extent.size));
                    }
                });
                for row in &matrix.rows {
                    let is_first = known.insert(row.member.clone());
                    self::row(atlas, structure, matrix, row, (&errata, is_first), html);
                }
            });
        });
    });
}

/// The shortest label for the targets of a column.
pub fn span(atlas: &Atlas, column: &Column) -> String {
    let (Some((first, _)), Some((last, _))) = (column.targets.first(), column.targets.last()) else { return String::new() };
    let [a, b] = [first, last].map(|&target| atlas.label(target));
    if a == b { a.to_owned() } else { format!("{a} – {b}") }
}

/// The head of a column. The first column of a release also has the release's name.
fn head<'a>(atlas: &'a Atlas, name: &str, column: &Column, release: &mut &'a str, html: &mut Html) {
    let Some(&(first, _)) = column.targets.first() else { return };
    let update = atlas.is_update(first);
    let own = atlas.release(first);
    let is_first = std::mem::replace(release, own) != own;
    let class = if update { "update" } else { "release" };
    html.el("th", &[("scope", &"col"), ("class", &class)], |html| {
        if is_first {
            html.leaf("small", &[("class", &"named")], own);
        }
        html.el(
            "a",
            &[("href", &format_args!("../{}", atlas.layout_page(column.layout))), ("data-build", &atlas.build(first))],
            |html| html.text(span(atlas, column)),
        );
        let from = if update { "update " } else { "" };
        let kb: String = atlas.axis.windows(atlas.axis.revision_of(first).build).kb.iter().map(|kb| format!(" KB{kb}")).collect();
        html.leaf("small", &[], format_args!("{from}{}{kb}", atlas.build(first).trim_start_matches("10.0.")));
        html.el("span", &[("class", &"seen")], |html| {
            for &(target, confidence) in &column.targets {
                let source = atlas.source(Some(name), target, confidence);
                marks::source(html, source, format_args!("{}: {confidence}", atlas.kernels[target].name));
            }
        });
    });
}

fn row(atlas: &Atlas, structure: &Structure, matrix: &Matrix, row: &Row, (errata, is_first): (&[String], bool), html: &mut Html) {
    let id = is_first.then_some(&row.member);
    let attributes: Vec<(&str, &dyn Display)> = id.into_iter().map(|id| ("id", id as _)).collect();
    html.el("tr", &attributes, |html| {
        let (above, own) = row.member.rsplit_once('.').map_or(("", row.member.as_str()), |(above, own)| (above, own));
        html.el("th", &[("scope", &"row")], |html| {
            if !above.is_empty() {
                html.leaf("span", &[("class", &"above")], format_args!("{above}."));
            }
            html.leaf("a", &[("href", &format_args!("#{}", row.member))], own);
            let about = format!("{}.{},", structure.name(), row.member);
            if errata.iter().any(|erratum| erratum.starts_with(&about)) {
                html.leaf("a", &[("class", &"erratum"), ("href", &"#the-errata")], "erratum");
            }
        });
        let newest = row.runs.last().map_or("", |run| ty(&run.fact));
        html.el("td", &[], |html| names::linked(atlas, short(newest), html));
        let mut at = 0;
        let mut before: Option<&Run> = None;
        for run in &row.runs {
            absent(at, run.columns.start, html);
            cell(before.filter(|before| before.columns.end == run.columns.start), run, newest, html);
            at = run.columns.end;
            before = Some(run);
        }
        absent(at, matrix.columns.len(), html);
    });
}

fn absent(from: usize, to: usize, html: &mut Html) {
    if from < to {
        let columns = to - from;
        html.leaf("td", spanned(&[("class", &"absent"), ("colspan", &columns)], columns), "—");
    }
}

/// Leaves out the last attribute, the column span, for a single column.
fn spanned<'a>(attributes: &'a [(&'a str, &'a dyn Display)], columns: usize) -> &'a [(&'a str, &'a dyn Display)] {
    if columns == 1 { &attributes[..attributes.len() - 1] } else { attributes }
}

fn cell(before: Option<&Run>, run: &Run, newest: &str, html: &mut Html) {
    let TargetFact::Member { r#type, bit, bits, .. } = &run.fact else { return };
    let (change, shows_type) = match before.map(|before| &before.fact) {
        // A member in the first column is not marked as new.
        None if run.columns.start == 0 => ("", r#type != newest),
        None => (" new", r#type != newest),
        Some(before) if *before == run.fact => ("", false),
        Some(TargetFact::Member { r#type: t, bit: b, bits: n, .. }) if (t, b, n) != (r#type, bit, bits) => (" typed", true),
        Some(_) => (" moved", false),
    };
    let columns = run.columns.len();
    let class = format!("{}{change}", marks::class(run.source));
    html.el("td", spanned(&[("class", &class), ("colspan", &columns)], columns), |html| {
        // The content of a merged cell stays visible, because a phone shows one column at a time.
        match columns {
            1 => content(run, shows_type, html),
            _ => html.el("b", &[], |html| content(run, shows_type, html)),
        }
    });
}

fn content(run: &Run, shows_type: bool, html: &mut Html) {
    let TargetFact::Member { offset, r#type, bit, bits, .. } = &run.fact else { return };
    html.text(format_args!("{offset:#06x}"));
    if let (Some(bit), Some(bits)) = (bit, bits) {
        match bits {
            1 => html.text(format_args!(":{bit}")),
            _ => html.text(format_args!(":{bit}-{}", bit + bits - 1)),
        }
    }
    if shows_type {
        html.text(" ");
        html.leaf("i", &[], short(r#type));
    }
}

fn ty(fact: &TargetFact) -> &str {
    if let TargetFact::Member { r#type, .. } = fact { r#type } else { "" }
}

/// The type, without the body of an unnamed type.
fn short(ty: &str) -> &str {
    ty.split(" {").next().unwrap_or(ty)
}
