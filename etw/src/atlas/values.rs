//! The page of an enumeration, of flags or of constants, with a decoder.

use super::facts::Atlas;
use super::frame::{page as framed, scrolled};
use super::paths;
use crate::html::Html;
use crate::print::plain_guid;
use etw_layouts_codegen::spec::{Body, Constant, Definition, ValuesKind};
use etw_layouts_project::errata;

pub fn page(atlas: &Atlas, definition: &Definition) -> (String, String) {
    let name = &definition.name.value;
    let Body::Values(values) = &definition.body else { return framed(paths::of_type(name), "values", name, |_| {}) };
    let (kind, what) = match values.kind {
        ValuesKind::Enum => ("enum", "name"),
        ValuesKind::Flags => ("flags", "names of the bits"),
        ValuesKind::Constants => ("constants", "name"),
    };
    framed(paths::of_type(name), "values", name, |html| {
        html.el("h1", &[], |html| {
            html.leaf("span", &[("class", &"kind")], kind);
            html.leaf("code", &[], name);
        });
        html.leaf("p", &[("class", &"lead")], &definition.doc);
        html.el("dl", &[("class", &"facts")], |html| {
            let mut fact = |name: &str, value: &str| {
                html.el("div", &[], |html| {
                    html.leaf("dt", &[], name);
                    html.leaf("dd", &[], value);
                });
            };
            fact("Versions", &atlas.scope(&definition.scope));
            fact("Type", &values.ty.value);
            fact("Constants", &values.constants.len().to_string());
        });
        super::structure::used_by(atlas, name, html);
        html.el("p", &[("class", &"scripted filter")], |html| {
            html.leaf("label", &[("for", &"decode-value")], format_args!("The {what} of "));
            html.void(
                "input",
                &[
                    ("id", &"decode-value"),
                    ("type", &"search"),
                    ("placeholder", &"0x3 or 3"),
                    ("size", &"14"),
                    ("autocomplete", &"off"),
                    ("data-kind", &kind),
                ],
            );
            html.leaf("output", &[("for", &"decode-value"), ("id", &"decode-names")], "");
        });
        scrolled(html, format_args!("Constants of {name}"), |html| {
            html.el("table", &[("class", &"values"), ("id", &"decode-table")], |html| {
                html.el("thead", &[], |html| {
                    html.el("tr", &[], |html| {
                        for heading in ["Value", "Name", "Versions", "Description"] {
                            html.leaf("th", &[("scope", &"col")], heading);
                        }
                    });
                });
                html.el("tbody", &[], |html| {
                    values.constants.iter().for_each(|constant| rows(atlas, values.kind, constant, html))
                });
            });
        });
        let list = errata::of(atlas.layouts, definition, &atlas.axis.all());
        if !list.is_empty() {
            html.leaf("h2", &[("id", &"the-errata")], "Errata of published references");
            html.el("ul", &[("class", &"errata")], |html| list.iter().for_each(|erratum| html.leaf("li", &[], erratum)));
        }
    })
}

/// A row for each value of a constant.
fn rows(atlas: &Atlas, kind: ValuesKind, constant: &Constant, html: &mut Html) {
    let several = constant.value.0.len() > 1;
    for (index, piece) in constant.value.0.iter().enumerate() {
        let targets = piece.targets.intersection(&constant.scope);
        if targets.is_empty() {
            continue;
        }
        let name = &constant.name.value;
        let id = if index == 0 { name.clone() } else { format!("{name}@{}", index + 1) };
        html.el("tr", &[("id", &id), ("data-value", &piece.value)], |html| {
            match kind {
                ValuesKind::Enum => html.leaf("td", &[], piece.value),
                _ => html.leaf("td", &[], format_args!("{:#x}", piece.value)),
            }
            html.el("th", &[("scope", &"row")], |html| html.link(format_args!("#{id}"), name));
            html.el("td", &[], |html| {
                html.text(atlas.scope(&targets));
                if several {
                    html.leaf("span", &[("class", &"change typed")], "the value changed");
                }
            });
            html.el("td", &[("class", &"doc")], |html| {
                html.text(&constant.doc);
                if let Some(guid) = &constant.guid {
                    html.text(" ");
                    html.leaf("code", &[], plain_guid(guid));
                }
            });
        });
    }
}
