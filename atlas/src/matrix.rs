//! A table with a row for each member of a structure and a column for each version. Equal cells of a row are merged.

use crate::facts::{Atlas, Structure};
use crate::frame::scrolled;
use crate::{marks, names};
use etw_layouts_project::errata;
use etw_layouts_project::history::TargetFact;
use etw_layouts_project::matrix::{Column, Matrix, Row, Run};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The table. The first row of a member on a page gets its id. `known` lists the members that have one.
pub fn table(atlas: &Atlas, structure: &Structure, matrix: &Matrix, known: &mut BTreeSet<String>) -> Markup {
    let name = structure.name();
    let errata = errata::of(atlas.layouts, structure.definition, &atlas.axis.all());
    let mut release = "";
    let table = html! {
        table.matrix style={ "--columns:" (matrix.columns.len()) } {
            thead {
                tr {
                    th scope="col" { "Member" }
                    th scope="col" { "Type" }
                    @for column in &matrix.columns { (head(atlas, name, column, &mut release)) }
                }
            }
            tbody {
                tr.size {
                    th scope="row" { "Size" }
                    td {}
                    @for column in &matrix.columns { td { (format_args!("{:#x}", column.extent.size)) } }
                }
                @for row in &matrix.rows {
                    (self::row(atlas, structure, matrix, row, &errata, known.insert(row.member.clone())))
                }
            }
        }
    };
    html! {
        p.legend {
            "A cell covers consecutive versions in which the member and its evidence level do not change. "
            @for (class, words) in [("new", "new"), ("moved", "moved"), ("typed", "another type or other bits")] {
                span class={ "change " (class) } { (words) }
            }
        }
        (scrolled(format_args!("Members of {name} on {} by version", matrix.arch), &table))
    }
}

/// The shortest label for the targets of a column.
pub fn span(atlas: &Atlas, column: &Column) -> String {
    let (Some((first, _)), Some((last, _))) = (column.targets.first(), column.targets.last()) else { return String::new() };
    let [a, b] = [first, last].map(|&target| atlas.label(target));
    if a == b { a.to_owned() } else { format!("{a} – {b}") }
}

/// The head of a column. The first column of a release also has the release's name.
fn head<'a>(atlas: &'a Atlas, name: &str, column: &Column, release: &mut &'a str) -> Markup {
    let Some(&(first, _)) = column.targets.first() else { return Markup::default() };
    let update = atlas.is_update(first);
    let own = atlas.release(first);
    let is_first = std::mem::replace(release, own) != own;
    let build = atlas.build(first);
    html! {
        th scope="col" class=(if update { "update" } else { "release" }) {
            @if is_first { small.named { (own) } }
            a href={ "../" (atlas.layout_page(column.layout)) } data-build=(build) { (span(atlas, column)) }
            small {
                @if update { "update " }
                (build.trim_start_matches("10.0."))
                @for kb in atlas.axis.windows(atlas.axis.revision_of(first).build).kb { " KB" (kb) }
            }
            span.seen {
                @for &(target, confidence) in &column.targets {
                    @let title = format!("{}: {confidence}", atlas.kernels[target].name);
                    (marks::source(atlas.source(Some(name), target, confidence), title))
                }
            }
        }
    }
}

fn row(atlas: &Atlas, structure: &Structure, matrix: &Matrix, row: &Row, errata: &[String], is_first: bool) -> Markup {
    let own = row.member.rsplit_once('.').map_or(row.member.as_str(), |(_, own)| own);
    let about = format!("{}.{},", structure.name(), row.member);
    let newest = row.runs.last().map_or("", |run| ty(&run.fact));
    html! {
        tr id=[is_first.then_some(&row.member)] {
            th scope="row" {
                @if own.len() < row.member.len() { span.above { (row.member[..row.member.len() - own.len()]) } }
                a href={ "#" (row.member) } { (own) }
                @if errata.iter().any(|erratum| erratum.starts_with(&about)) { a.erratum href="#the-errata" { "erratum" } }
            }
            td { (names::linked(atlas, short(newest))) }
            @for (index, run) in row.runs.iter().enumerate() {
                @let before = index.checked_sub(1).map(|before| &row.runs[before]);
                (absent(before.map_or(0, |before| before.columns.end), run.columns.start))
                (cell(before.filter(|before| before.columns.end == run.columns.start), run, newest))
            }
            (absent(row.runs.last().map_or(0, |run| run.columns.end), matrix.columns.len()))
        }
    }
}

fn absent(from: usize, to: usize) -> Markup {
    html! { @if from < to { td.absent colspan=[several(to - from)] { "—" } } }
}

/// The number of columns of a cell, if it covers several.
fn several(columns: usize) -> Option<usize> {
    (columns > 1).then_some(columns)
}

fn cell(before: Option<&Run>, run: &Run, newest: &str) -> Markup {
    let TargetFact::Member { r#type, bit, bits, .. } = &run.fact else { return Markup::default() };
    let (change, shows_type) = match before.map(|before| &before.fact) {
        // A member in the first column is not marked as new.
        None if run.columns.start == 0 => ("", r#type != newest),
        None => (" new", r#type != newest),
        Some(before) if *before == run.fact => ("", false),
        Some(TargetFact::Member { r#type: t, bit: b, bits: n, .. }) if (t, b, n) != (r#type, bit, bits) => (" typed", true),
        Some(_) => (" moved", false),
    };
    let columns = several(run.columns.len());
    let content = content(run, shows_type);
    html! {
        td class={ (marks::class(run.source)) (change) } colspan=[columns] {
            // The content of a merged cell stays visible, because a phone shows one column at a time.
            @if columns.is_some() { b { (content) } } @else { (content) }
        }
    }
}

fn content(run: &Run, shows_type: bool) -> Markup {
    let TargetFact::Member { offset, r#type, bit, bits, .. } = &run.fact else { return Markup::default() };
    html! {
        (format_args!("{offset:#06x}"))
        @if let (Some(bit), Some(bits)) = (bit, bits) {
            ":" (bit) @if *bits != 1 { "-" (bit + bits - 1) }
        }
        @if shows_type { " " i { (short(r#type)) } }
    }
}

fn ty(fact: &TargetFact) -> &str {
    if let TargetFact::Member { r#type, .. } = fact { r#type } else { "" }
}

/// The type, without the body of an unnamed type.
fn short(ty: &str) -> &str {
    ty.split(" {").next().unwrap_or(ty)
}
