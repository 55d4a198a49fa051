//! The page of a structure or union: the newest layout and the history. The script can show any other layout.

use super::facts::{Atlas, Structure};
use super::frame::{self, page as framed};
use super::paths::to_type;
use super::sheet::Sheet;
use super::{marks, matrix, members, memory, names, paths, ribbon};
use crate::html::Html;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_project::errata;
use etw_layouts_project::matrix::Matrix;
use etw_layouts_project::subject::Subject;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// How many users of a type are shown before the list is collapsed.
const USERS: usize = 12;

pub fn page(atlas: &Atlas, structure: &Structure) -> (String, String) {
    let name = structure.name();
    let list = errata::of(atlas.layouts, structure.definition, &atlas.axis.all());
    framed(paths::of_type(name), "structures", name, |html| {
        html.el("h1", &[], |html| {
            let kind = newest(atlas, name).map_or("", |target| crate::show::kind(atlas.layouts, name, target));
            html.leaf("span", &[("class", &"kind")], kind);
            html.leaf("code", &[], name);
        });
        html.el("p", &[("class", &"lead")], |html| names::linked(atlas, &structure.definition.doc, html));
        facts(atlas, structure, !list.is_empty(), html);
        let bar = |html: &mut Html| bar(structure, html);
        let newest = structure.matrices.first().and_then(|matrix| structure.sheets.get(&matrix.columns.last()?.layout));
        let mut known: BTreeSet<String> = newest.map(|sheet| sheet.ids("")).into_iter().flatten().collect();
        frame::switched(
            html,
            &structure.matrices,
            |matrix| matrix.arch.as_str(),
            bar,
            |html, index, one| {
                let suffix = if index == 0 { String::new() } else { format!("@{}", one.arch) };
                html.el("section", &[("class", &"now")], |html| now(atlas, structure, one, &suffix, html));
                html.el("section", &[("class", &"past")], |html| {
                    html.leaf("h2", &[("id", &format_args!("history-{}", one.arch))], format_args!("History, {}", one.arch));
                    ribbon::draw(atlas, structure, one, html);
                    matrix::table(atlas, structure, one, &mut known, html);
                });
            },
        );
        marks::legend(html, "../");
        if !list.is_empty() {
            html.leaf("h2", &[("id", &"the-errata")], "Errata of published references");
            html.leaf("p", &[], "Statements in published references that differ from the layouts, each with the evidence against it. The atlas shows the verified layout.");
            html.el("ul", &[("class", &"errata")], |html| list.iter().for_each(|erratum| html.leaf("li", &[], erratum)));
        }
    })
}

/// The selection of a build and of a member, for the script.
fn bar(structure: &Structure, html: &mut Html) {
    html.el("form", &[("class", &"scripted ask"), ("id", &"ask-form"), ("data-name", &structure.name())], |html| {
        for (id, label, hint, size) in
            [("ask-build", "Build", "24H2, 19041.985", "20"), ("ask-member", "Offset or member", "0x398 or a name", "18")]
        {
            html.leaf("label", &[("for", &id)], label);
            let input: [(&str, &dyn Display); 6] = [
                ("id", &id),
                ("type", &"search"),
                ("placeholder", &hint),
                ("size", &size),
                ("autocomplete", &"off"),
                ("spellcheck", &"false"),
            ];
            html.void("input", &input);
        }
        html.leaf("button", &[], "Show");
        html.leaf("output", &[("id", &"ask-answer"), ("for", &"ask-build ask-member"), ("aria-live", &"polite")], "");
    });
}

/// The newest layout of an architecture. The script can replace it by another layout.
fn now(atlas: &Atlas, structure: &Structure, matrix: &Matrix, suffix: &str, html: &mut Html) {
    let name = structure.name();
    let Some((column, (target, confidence))) = matrix.columns.last().and_then(|column| Some((column, *column.targets.last()?)))
    else {
        return;
    };
    let Some(sheet) = structure.sheets.get(&column.layout) else { return };
    let kernel = atlas.axis.revision_of(target);
    let data: [(&str, &dyn Display); 2] = [("class", &"which"), ("data-arch", &matrix.arch)];
    html.el("h2", &data, |html| {
        html.text(format_args!("{}, {}: {:#x} bytes", atlas.axis.windows(kernel.build), matrix.arch, sheet.size));
    });
    html.el("p", &[("class", &"sure")], |html| {
        marks::source(html, atlas.source(Some(name), target, confidence), confidence);
        html.text(format_args!(" {}. ", capital(&atlas.choice(name, target).sentence(atlas.axis))));
        html.link(
            format_args!("../{}", paths::of_kernel(&atlas.kernels[target].name)),
            format_args!("{}", atlas.kernels[target].name),
        );
        html.text(" · ");
        let to = format!("../compare.html#a={}&b={}&only={name}", previous(atlas, matrix), atlas.kernels[target].name);
        html.leaf("a", &[("class", &"compare"), ("href", &to)], "compare");
        html.text(" · ");
        html.link(format_args!("../{}", atlas.map_page(target)), "map of references");
    });
    html.el("details", &[("class", &"declaration"), ("open", &"open")], |html| {
        html.leaf("summary", &[], "Declaration in C");
        frame::copy(html);
        html.leaf("button", &[("class", &"copy whole scripted")], "Copy with dependencies");
        let code: [(&str, &dyn Display); 4] =
            [("class", &"code"), ("tabindex", &"0"), ("aria-label", &"Declaration in C"), ("data-layout", &sheet.number)];
        html.leaf("pre", &code, sheet.c(name));
    });
    members::table(sheet, atlas, name, suffix, html);
    html.el("details", &[("class", &"map-of-bytes")], |html| {
        html.leaf("summary", &[], "Map of the bytes");
        bytes(atlas, name, target, sheet, suffix, html);
    });
}

/// The byte map of a layout. Its members link to the rows of the table with this suffix.
pub fn bytes(atlas: &Atlas, name: &str, target: TargetId, sheet: &Sheet, suffix: &str, html: &mut Html) {
    let subject =
        Subject { structure: name.to_owned(), member: None, offset: None, choice: atlas.choice(name, target), levels: 0 };
    memory::draw(&subject.members(atlas.layouts), sheet.size, &sheet.ids(suffix), html);
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

fn newest(atlas: &Atlas, name: &str) -> Option<TargetId> {
    etw_layouts_project::history::has(atlas.layouts, name).iter().last()
}

/// The main facts, at the top of the page.
fn facts(atlas: &Atlas, structure: &Structure, has_errata: bool, html: &mut Html) {
    html.el("dl", &[("class", &"facts")], |html| {
        let mut fact = |name: &str, value: &dyn Fn(&mut Html)| {
            html.el("div", &[], |html| {
                html.leaf("dt", &[], name);
                html.el("dd", &[], |html| value(html));
            });
        };
        fact("Versions", &|html| html.text(atlas.scope(&structure.definition.scope)));
        for matrix in &structure.matrices {
            let (Some(first), Some(last)) = (matrix.columns.first(), matrix.columns.last()) else { continue };
            fact(matrix.arch.as_str(), &|html| {
                let (old, new) = (first.extent.size, last.extent.size);
                let sizes = if old == new { format!("{old:#x} bytes") } else { format!("{old:#x} → {new:#x} bytes") };
                let layouts = matrix.columns.len();
                html.text(format_args!("{sizes}, {layouts} layout{}", if layouts == 1 { "" } else { "s" }));
            });
        }
        if has_errata {
            fact("Published references", &|html| html.link("#the-errata", "errata"));
        }
        let reasons: Vec<_> = structure.definition.unverifiable.0.iter().map(|piece| piece.value.as_str()).collect();
        if !reasons.is_empty() {
            fact("Public symbols", &|html| html.text(reasons.join("; ")));
        }
    });
    used_by(atlas, structure.name(), html);
}

/// The users of a type: structures, with the members that use it.
pub fn used_by(atlas: &Atlas, name: &str, html: &mut Html) {
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (structure, member) in atlas.uses.get(name).into_iter().flatten() {
        users.entry(structure).or_default().push(member);
    }
    if users.is_empty() {
        return;
    }
    let one = |html: &mut Html, structure: &str, members: &[&str]| {
        html.link(to_type(structure), structure);
        let members: Vec<_> = members.iter().filter(|member| !member.is_empty()).map(|member| format!(".{member}")).collect();
        html.leaf("small", &[], format_args!(" {} ", members.join(" ")));
    };
    html.el("p", &[("class", &"uses")], |html| {
        html.leaf("b", &[], "Used by ");
        users.iter().take(USERS).for_each(|(structure, members)| one(html, structure, members));
    });
    if users.len() > USERS {
        html.el("details", &[("class", &"uses")], |html| {
            html.leaf("summary", &[], format_args!("{} more", users.len() - USERS));
            users.iter().skip(USERS).for_each(|(structure, members)| one(html, structure, members));
        });
    }
}
