//! The page of a structure or union.

use super::facts::{Atlas, Structure};
use super::frame::{page as framed, scrolled, switched};
use super::paths;
use super::{marks, matrix, moved, ribbon};
use crate::html::Html;
use etw_layouts_project::errata;

/// The page.
pub fn page(atlas: &Atlas, structure: &Structure) -> (String, String) {
    let name = structure.name();
    framed(paths::of_type(name), "structures", name, |html| {
        html.el("h1", &[], |html| {
            html.leaf("span", &[("class", &"kind")], crate::show::kind(atlas.layouts, name, newest(atlas, name)));
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
                        html.text("The reverse: ");
                        html.link(paths::near(&place), format_args!("what lies at an offset, by kernel, {}", one.arch));
                    });
                }
            },
        );
        marks::legend(html, "../");
        let list = errata::of(atlas.layouts, structure.definition, &atlas.axis.all());
        if !list.is_empty() {
            html.leaf("h2", &[("id", &"the-errata")], "Errata of the documents");
            html.leaf("p", &[], "What documents state otherwise, and what shows that it is not so. The atlas has what is so.");
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
        for (id, label) in [("beside-a", "What changed from"), ("beside-b", "to")] {
            html.leaf("label", &[("for", &id)], label);
            html.leaf("select", &[("id", &id)], "");
        }
        html.leaf("button", &[], "Side by side");
        html.leaf("small", &[], "A kernel between two of the list has the layout of the earlier one.");
    });
    html.el("div", &[("class", &"scripted"), ("id", &"beside-outcome"), ("hidden", &"hidden")], |html| {
        html.leaf("p", &[("id", &"beside-way"), ("aria-live", &"polite")], "");
        scrolled(html, "Side by side", |_| {});
        moved::legend(html);
        html.leaf("pre", &[("class", &"diff"), ("id", &"beside-words"), ("tabindex", &"0"), ("aria-label", &"What differs")], "");
        html.leaf("small", &[], "“Not yet in” and “still in” name the last kernel seen before the step, “in” and “not in” the last of the build before it.");
    });
}

fn newest(atlas: &Atlas, name: &str) -> usize {
    etw_layouts_project::history::has(atlas.layouts, name).iter().last().unwrap_or_default()
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
        fact("exists in", &|html| html.text(atlas.scope(&structure.definition.scope)));
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
            fact("members", &|html| html.link(paths::near(page.as_str()), "the life of each, with every offset it had"));
        }
        let reasons: Vec<_> = structure.definition.unverifiable.0.iter().map(|piece| &piece.value).collect();
        for reason in reasons {
            fact("not in symbols", &|html| html.text(reason));
        }
    });
}
