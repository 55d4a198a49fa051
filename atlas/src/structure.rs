//! The page of a structure or union: the newest layout and the history. The script can show any other layout.

use crate::facts::{Atlas, Structure};
use crate::frame::{self, Page, fact};
use crate::sheet::Sheet;
use crate::{marks, matrix, members, memory, names, paths, ribbon};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Form;
use etw_layouts_project::errata;
use etw_layouts_project::history::has;
use etw_layouts_project::matrix::Matrix;
use etw_layouts_project::members::keyword;
use etw_layouts_project::subject::Subject;
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// How many users of a type are shown before the list is collapsed.
const USERS: usize = 12;

pub fn page(atlas: &Atlas, structure: &Structure) -> (String, String) {
    let name = structure.name();
    let errata = errata::of(atlas.layouts, structure.definition, &atlas.axis.all());
    let newest = structure.matrices.first().and_then(|matrix| structure.sheets.get(&matrix.columns.last()?.layout));
    let mut known: BTreeSet<String> = newest.map(|sheet| sheet.ids("")).into_iter().flatten().collect();
    let mut panel = |(index, matrix): (usize, &Matrix)| {
        let arch = matrix.arch.as_str();
        let suffix = if index == 0 { String::new() } else { format!("@{arch}") };
        let content = html! {
            section.now { (now(atlas, structure, matrix, &suffix)) }
            section.past {
                h2 id={ "history-" (arch) } { "History, " (arch) }
                (ribbon::draw(atlas, structure, matrix))
                (matrix::table(atlas, structure, matrix, &mut known))
            }
        };
        (arch, content)
    };
    let panels: Vec<_> = structure.matrices.iter().enumerate().map(&mut panel).collect();
    let content = html! {
        h1 { span.kind { (kind(atlas, name)) } code { (name) } }
        p.lead { (names::prose(atlas, &structure.definition.doc)) }
        (facts(atlas, structure, !errata.is_empty()))
        (used_by(atlas, name))
        (decoder())
        (frame::switched(&panels, &bar(structure)))
        (marks::legend("../"))
        @if !errata.is_empty() {
            h2 id="the-errata" { "Errata of published references" }
            p {
                "Statements in published references that differ from the layouts, each with the evidence against it. The atlas shows \
                 the verified layout."
            }
            ul.errata { @for erratum in &errata { li { (erratum) } } }
        }
    };
    Page::new(paths::type_page(name), "structures", name).finish(&content)
}

/// `struct` or `union`, at the newest target.
fn kind(atlas: &Atlas, name: &str) -> &'static str {
    let newest = has(atlas.layouts, name).iter().last();
    match newest.and_then(|target| atlas.layouts.get(target, name)).map(|layout| &layout.form) {
        Some(Form::Aggregate(aggregate)) => keyword(aggregate.kind),
        _ => "",
    }
}

/// The selection of a build and of a member, for the script.
fn bar(structure: &Structure) -> Markup {
    html! {
        form class="scripted ask" id="ask-form" data-name=(structure.name()) {
            @for (id, label, hint, size) in
                [("ask-build", "Build", "24H2, 19041.985", "20"), ("ask-member", "Offset or member", "0x398 or a name", "18")]
            {
                label for=(id) { (label) }
                // Not of type `search`: its button would cut the hint on a phone.
                input id=(id) placeholder=(hint) size=(size) autocomplete="off" spellcheck="false";
            }
            button { "Show" }
            output id="ask-answer" for="ask-build ask-member" aria-live="polite" {}
        }
    }
}

/// The form for bytes, which the script decodes with the layout of the selected build.
fn decoder() -> Markup {
    html! {
        details class="scripted" id="bytes-part" {
            summary { "Decode bytes" }
            p { "Paste the bytes of this structure in hexadecimal, also as a dump with offsets, or choose a file. They are decoded with the layout of the build selected below, and stay on this computer." }
            form id="bytes-form" {
                label for="bytes-input" { "Bytes" }
                textarea id="bytes-input" rows="4" autocomplete="off" spellcheck="false" placeholder="48 00 00 00 or 00000000: 48 00 00 00" {}
                label for="bytes-file" { "or a file" }
                input id="bytes-file" type="file";
                label for="bytes-from" { "from offset" }
                input id="bytes-from" size="8" placeholder="0x0" autocomplete="off" spellcheck="false";
                button { "Decode" }
            }
            p { output id="bytes-note" for="bytes-input bytes-file bytes-from" aria-live="polite" {} }
            (frame::scrolled("Decoded members", &html! { div id="bytes-members" {} }))
        }
    }
}

/// The newest layout of an architecture. The script can replace it by another layout.
fn now(atlas: &Atlas, structure: &Structure, matrix: &Matrix, suffix: &str) -> Markup {
    let newest = matrix.columns.last().and_then(|column| {
        let &(target, confidence) = column.targets.last()?;
        Some((structure.sheets.get(&column.layout)?, target, confidence))
    });
    let Some((sheet, target, confidence)) = newest else { return Markup::default() };
    let (name, kernel) = (structure.name(), &atlas.kernels[target].name);
    html! {
        h2.which data-arch=(matrix.arch) {
            (atlas.axis.windows(atlas.axis.revision_of(target).build)) ", " (matrix.arch) ": " (format_args!("{:#x}", sheet.size))
            " bytes"
        }
        p.sure {
            (marks::source(atlas.source(Some(name), target, confidence), confidence))
            " " (capital(&atlas.choice(name, target).sentence(atlas.axis))) ". "
            a href={ "../" (paths::target_page(kernel)) } { (kernel) }
            " · "
            a.compare href={ "../compare.html#a=" (previous(atlas, matrix)) "&b=" (kernel) "&only=" (name) } { "compare" }
            " · "
            a href={ "../" (atlas.map_page(target)) } { "map of references" }
        }
        details.declaration open="open" {
            summary { "Declaration in C" }
            (frame::copy())
            button class="copy whole scripted" { "Copy with dependencies" }
            pre.code tabindex="0" aria-label="Declaration in C" data-layout=(sheet.number) { (sheet.c(name)) }
        }
        (members::table(sheet, atlas, name, suffix))
        details.map-of-bytes {
            summary { "Map of the bytes" }
            (bytes(atlas, name, target, sheet, suffix))
        }
    }
}

/// The byte map of a layout. Its members link to the rows of the table with this suffix.
pub fn bytes(atlas: &Atlas, name: &str, target: TargetId, sheet: &Sheet, suffix: &str) -> Markup {
    let subject =
        Subject { structure: name.to_owned(), member: None, offset: None, choice: atlas.choice(name, target), levels: 0 };
    memory::draw(&subject.members(atlas.layouts), sheet.size, &sheet.ids(suffix))
}

/// The last build with another layout before the newest layout.
fn previous<'a>(atlas: &'a Atlas, matrix: &Matrix) -> &'a str {
    let before = matrix.columns.iter().rev().nth(1).or(matrix.columns.last());
    before.and_then(|column| column.targets.last()).map_or("", |&(target, _)| &atlas.kernels[target].name)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The main facts, at the top of the page.
fn facts(atlas: &Atlas, structure: &Structure, has_errata: bool) -> Markup {
    let sizes = |matrix: &Matrix| {
        let [old, new] = [matrix.columns.first()?, matrix.columns.last()?].map(|column| column.extent.size);
        let sizes = if old == new { format!("{old:#x} bytes") } else { format!("{old:#x} → {new:#x} bytes") };
        let layouts = matrix.columns.len();
        Some(format!("{sizes}, {layouts} layout{}", if layouts == 1 { "" } else { "s" }))
    };
    let reasons: Vec<_> = structure.definition.unverifiable.0.iter().map(|piece| piece.value.as_str()).collect();
    html! {
        dl.facts {
            (fact("Versions", atlas.scope(&structure.definition.scope)))
            @for matrix in &structure.matrices {
                @if let Some(sizes) = sizes(matrix) { (fact(matrix.arch, sizes)) }
            }
            @if has_errata { (fact("Published references", html! { a href="#the-errata" { "errata" } })) }
            @if !reasons.is_empty() { (fact("Public symbols", reasons.join("; "))) }
        }
    }
}

/// The users of a type: structures, with the members that use it.
pub fn used_by(atlas: &Atlas, name: &str) -> Markup {
    let mut users: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (structure, member) in atlas.uses.get(name).into_iter().flatten() {
        let members = users.entry(structure).or_default();
        members.extend((!member.is_empty()).then(|| format!(".{member}")));
    }
    let list = |users: &[(&str, Vec<String>)]| {
        html! {
            @for (structure, members) in users {
                a href={ "../" (paths::type_page(structure)) } { (structure) }
                small { " " (members.join(" ")) " " }
            }
        }
    };
    let users: Vec<_> = users.into_iter().collect();
    let (first, rest) = users.split_at(users.len().min(USERS));
    html! {
        @if !first.is_empty() { p.uses { b { "Used by " } (list(first)) } }
        @if !rest.is_empty() { details.uses { summary { (rest.len()) " more" } (list(rest)) } }
    }
}
