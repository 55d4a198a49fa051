//! The pages of the lives of a structure's members.

use super::facts::Structure;
use super::frame::{page as framed, scrolled};
use super::paths::{near, of_type};
use crate::html::Html;

/// The pages.
pub fn pages(structure: &Structure) -> Vec<(String, String)> {
    let (life, name) = (&structure.life, structure.name());
    let pages: Vec<_> = life.pages().collect();
    let count = pages.len();
    let one = |(index, (path, content)): (usize, &(String, &Html))| {
        let part = if count > 1 { format!(", part {} of {count}", index + 1) } else { String::new() };
        framed(path.clone(), "structures", format_args!("{name}: history of its members{part}"), |html| {
            html.el("h1", &[], |html| {
                html.el("code", &[], |html| html.link(near(&of_type(name)), name));
                html.text(format_args!(": history of its members{part}"));
            });
            html.leaf(
                "p",
                &[("class", &"lead")],
                "All offsets and types of each member, by version. The versions of a row are a permanent link to it.",
            );
            if count > 1 {
                html.el("p", &[], |html| {
                    for (number, (page, _)) in pages.iter().enumerate() {
                        html.link(near(page), format_args!("part {}", number + 1));
                        html.text(" ");
                    }
                });
            }
            scrolled(html, format_args!("History of the members of {name}"), |html| {
                html.el("table", &[("class", &"life")], |html| {
                    html.el("thead", &[], |html| {
                        html.el("tr", &[], |html| {
                            for heading in ["Versions", "x86", "x64", "arm64", "Type", "Bits", "Change", "Evidence"] {
                                html.leaf("th", &[("scope", &"col")], heading);
                            }
                        });
                    });
                    html.add(content);
                });
            });
        })
    };
    pages.iter().enumerate().map(one).collect()
}
