//! The page of a structure or union.

use super::facts::{Atlas, Structure};
use super::frame::{page as framed, scrolled, switched};
use super::paths;
use super::{marks, matrix, moved, ribbon};
use crate::html::Html;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_project::errata;

/// The page.
pub fn page(atlas: &Atlas, structure: &Structure) -> (String, String) {
    let name = structure.name();
    framed(paths::of_type(name), "structures", name, |html| {
        html.el("h1", &[], |html| {
            let kind = newest(atlas, name).map_or("", |target| crate::show::kind(atlas.layouts, name, target));
            html.leaf("span", &[("class", &"kind")], kind);
            html.leaf("code", &[], name);
        });
        html.leaf("p", &[("class", &"lead")], &structure.definition.doc);
        facts(atlas, structure, html);
        beside(structure, html);
        switched(
            html,
            &structure.matrices,
            |matrix| matrix.arch.as_str(),
            |html, one| {
                ribbon::draw(atlas, structure, one, html);
                matrix::table(atlas, structure, one, html);
                if let Some((place, _)) = super::offsets::place(structure, one.arch) {
                    html.el("p", &[], |html| {
                        html.link(paths::near(&place), format_args!("Members by offset, {}", one.arch));
                    });
                }
            },
        );
        marks::legend(html, "../");
        let list = errata::of(atlas.layouts, structure.definition, &atlas.axis.all());
        if !list.is_empty() {
            html.leaf("h2", &[("id", &"the-errata")], "Errata of published references");
            html.leaf("p", &[], "Statements in published references that differ from the layouts, each with the evidence against it. The atlas shows the verified layout.");
            html.el("ul", &[("class", &"errata")], |html| list.iter().for_each(|erratum| html.leaf("li", &[], erratum)));
        }
    })
}

/// Any two versions, which the script draws beside each other.
fn beside(structure: &Structure, html: &mut Html) {
    if structure.matrices.iter().map(|matrix| matrix.columns.len()).sum::<usize>() < 2 {
        return;
    }
    html.el("form", &[("class", &"scripted filter"), ("id", &"beside-form"), ("data-name", &structure.name())], |html| {
        for (id, label) in [("beside-a", "Compare"), ("beside-b", "with")] {
            html.leaf("label", &[("for", &id)], label);
            html.leaf("select", &[("id", &id)], "");
        }
        html.leaf("button", &[], "Side by side");
        html.leaf("small", &[], "A build between two listed builds is shown with the layout of the earlier one; etw show STRUCTURE --build BUILD prints the confidence.");
    });
    html.el("div", &[("class", &"scripted"), ("id", &"beside-outcome"), ("hidden", &"hidden")], |html| {
        html.leaf("p", &[("id", &"beside-way"), ("aria-live", &"polite")], "");
        scrolled(html, "Side by side", |_| {});
        moved::legend(html);
        html.leaf("pre", &[("class", &"diff"), ("id", &"beside-words"), ("tabindex", &"0"), ("aria-label", &"Differences")], "");
        html.leaf("small", &[], "“Last build without the change” names the last examined build before the change; it can be a later update of the preceding build.");
    });
}

fn newest(atlas: &Atlas, name: &str) -> Option<TargetId> {
    etw_layouts_project::history::has(atlas.layouts, name).iter().last()
}

/// What is to be known before anything else.
fn facts(atlas: &Atlas, structure: &Structure, html: &mut Html) {
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
        if let Some(page) = structure.life.first() {
            fact("Members", &|html| html.link(paths::near(page.as_str()), "history of the members, with all offsets"));
        }
        let reasons: Vec<_> = structure.definition.unverifiable.0.iter().map(|piece| &piece.value).collect();
        for reason in reasons {
            fact("Not in symbols", &|html| html.text(reason));
        }
    });
}
