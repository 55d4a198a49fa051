//! The reverse: what lies at an offset of a structure, by kernel.

use super::facts::{Atlas, Structure};
use super::frame::{page as framed, scrolled};
use super::paths;
use crate::html::Html;
use etw_layouts_codegen::axis::{Arch, TargetId, TargetSet};
use etw_layouts_project::history::TargetFact;
use etw_layouts_project::matrix::Matrix;
use std::collections::BTreeMap;
use std::fmt::Display;

/// The page for an architecture, from the root, and its matrix.
pub fn place<'a>(structure: &'a Structure, arch: Arch) -> Option<(String, &'a Matrix)> {
    let matrix = structure.matrices.iter().find(|matrix| matrix.arch == arch && !matrix.rows.is_empty())?;
    Some((paths::of_offsets(structure.name(), arch), matrix))
}

/// The pages.
pub fn pages(atlas: &Atlas, structure: &Structure) -> Vec<(String, String)> {
    structure
        .matrices
        .iter()
        .filter_map(|matrix| place(structure, matrix.arch))
        .map(|(path, matrix)| page(atlas, structure, path, matrix))
        .collect()
}

/// Offset, size, first bit and width: where a member lies, in the order of the page.
type Place = (u64, u64, u64, u64);

fn page(atlas: &Atlas, structure: &Structure, path: String, matrix: &Matrix) -> (String, String) {
    let (name, arch) = (structure.name(), matrix.arch);
    let mut rows: BTreeMap<(Place, &str, &str), TargetSet> = BTreeMap::new();
    for row in &matrix.rows {
        for run in &row.runs {
            let TargetFact::Member { offset, size, r#type, bit, bits } = &run.fact else { continue };
            let place = (*offset, *size, bit.unwrap_or(0), bits.unwrap_or(0));
            let targets = rows.entry((place, &row.member, r#type)).or_default();
            let columns = &matrix.columns[run.columns.clone()];
            columns.iter().flat_map(|column| &column.targets).for_each(|&(target, _)| targets.insert(target));
        }
    }
    // The kernels, for the filter, which names them by their numbers.
    let targets: Vec<_> = matrix.columns.iter().flat_map(|column| &column.targets).map(|&(target, _)| target).collect();
    let builds: Vec<_> = targets.iter().map(|&target| atlas.build(target).trim_start_matches("10.0.").to_owned()).collect();
    let builds = builds.join(" ");
    framed(path, "structures", format_args!("{name} by offset, {arch}"), |html| {
        html.el("h1", &[], |html| {
            html.el("code", &[], |html| html.link(format_args!("../{}", paths::of_type(name)), name));
            html.text(format_args!(" by offset, {arch}"));
        });
        html.leaf("p", &[("class", &"lead")], "Members at each offset, by build.");
        html.el("p", &[("class", &"scripted filter")], |html| {
            html.leaf("label", &[("for", &"offset")], "Members at offset ");
            html.void(
                "input",
                &[("id", &"offset"), ("type", &"search"), ("placeholder", &"0x398"), ("size", &"10"), ("autocomplete", &"off")],
            );
            html.leaf("label", &[("for", &"of")], " in ");
            html.void(
                "input",
                &[("id", &"of"), ("type", &"search"), ("placeholder", &"19041"), ("size", &"12"), ("autocomplete", &"off")],
            );
            html.leaf("output", &[("for", &"offset of"), ("id", &"count")], "");
        });
        scrolled(html, format_args!("{name} by offset"), |html| {
            html.el("table", &[("class", &"offsets"), ("id", &"offsets"), ("data-kernels", &builds)], |html| {
                html.el("thead", &[], |html| {
                    html.el("tr", &[], |html| {
                        for heading in ["Offset", "Size", "Member", "Type", "Versions"] {
                            html.leaf("th", &[("scope", &"col")], heading);
                        }
                    });
                });
                html.el("tbody", &[], |html| {
                    rows.iter().for_each(|((place, member, ty), of)| {
                        self::row(atlas, structure, *place, member, ty, (of, &targets), html)
                    })
                });
            });
        });
    })
}

fn row(
    atlas: &Atlas,
    structure: &Structure,
    place: Place,
    member: &str,
    ty: &str,
    (of, all): (&TargetSet, &[TargetId]),
    html: &mut Html,
) {
    let (offset, size, bit, bits) = place;
    let numbers = all.iter().enumerate().filter(|(_, target)| of.contains(**target)).map(|(number, _)| number.to_string());
    let numbers = numbers.collect::<Vec<_>>().join(" ");
    let attributes: [(&str, &dyn Display); 3] = [("data-from", &offset), ("data-to", &(offset + size)), ("data-in", &numbers)];
    html.el("tr", &attributes, |html| {
        let bits = match bits {
            0 => String::new(),
            1 => format!(":{bit}"),
            bits => format!(":{bit}-{}", bit + bits - 1),
        };
        html.leaf("td", &[], format_args!("{offset:#06x}{bits}"));
        html.leaf("td", &[], format_args!("{size:#x}"));
        html.el("th", &[("scope", &"row")], |html| match structure.life.page(member) {
            Some(page) => html.link(paths::near(&page), member),
            None => html.text(member),
        });
        html.leaf("td", &[], ty);
        html.leaf("td", &[], atlas.scope(of));
    });
}
