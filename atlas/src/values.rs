//! The page of an enumeration, of flags or of constants, with a decoder.

use crate::event::plain_guid;
use crate::facts::Atlas;
use crate::frame::{Page, fact, identified_table};
use crate::index::kind;
use crate::{paths, structure};
use etw_layouts_codegen::spec::{Body, Constant, Definition, ValuesKind};
use etw_layouts_project::errata;
use maud::{Markup, html};

pub fn page(atlas: &Atlas, definition: &Definition) -> (String, String) {
    let name = &definition.name.value;
    let page = Page::new(paths::type_page(name), "values", name);
    let Body::Values(values) = &definition.body else { return page.finish(&Markup::default()) };
    let kind = kind(values.kind);
    let names = if values.kind == ValuesKind::Flags { "names of the bits" } else { "name" };
    let rows = html! { @for constant in &values.constants { (rows(atlas, values.kind, constant)) } };
    let errata = errata::of(atlas.layouts, definition, &atlas.axis.all());
    let content = html! {
        h1 { span.kind { (kind) } code { (name) } }
        p.lead { (definition.doc) }
        dl.facts {
            (fact("Versions", atlas.scope(&definition.scope)))
            (fact("Type", &values.ty.value))
            (fact("Constants", values.constants.len()))
        }
        (structure::used_by(atlas, name))
        p class="scripted filter" {
            label for="decode-value" { "The " (names) " of " }
            input id="decode-value" type="search" placeholder="0x3 or 3" size="14" autocomplete="off" data-kind=(kind);
            output for="decode-value" id="decode-names" {}
        }
        (identified_table(
            format_args!("Constants of {name}"), "values", Some("decode-table"), &["Value", "Name", "Versions", "Description"], &rows
        ))
        @if !errata.is_empty() {
            h2 id="the-errata" { "Errata of published references" }
            ul.errata { @for erratum in &errata { li { (erratum) } } }
        }
    };
    page.finish(&content)
}

/// A row for each value of a constant.
fn rows(atlas: &Atlas, kind: ValuesKind, constant: &Constant) -> Markup {
    let name = &constant.name.value;
    let pieces = (1..).zip(&constant.value.0).filter_map(|(number, piece)| {
        let targets = piece.targets.intersection(&constant.scope);
        let id = if number == 1 { name.clone() } else { format!("{name}@{number}") };
        (!targets.is_empty()).then_some((id, piece.value, targets))
    });
    html! {
        @for (id, value, targets) in pieces {
            tr id=(id) data-value=(value) {
                td { @if kind == ValuesKind::Enum { (value) } @else { (format_args!("{value:#x}")) } }
                th scope="row" { a href={ "#" (id) } { (name) } }
                td {
                    (atlas.scope(&targets))
                    @if constant.value.0.len() > 1 { span class="change typed" { "the value changed" } }
                }
                td.doc {
                    (constant.doc)
                    @if let Some(guid) = &constant.guid { " " code { (plain_guid(guid)) } }
                }
            }
        }
    }
}
