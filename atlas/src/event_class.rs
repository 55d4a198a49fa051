//! The page of a class of events.

use crate::event::{Event, Field, Version, joined};
use crate::facts::{Atlas, Class};
use crate::frame::{Page, fact, table};
use crate::paths;
use maud::{Markup, html};
use std::collections::BTreeSet;

pub fn page(atlas: &Atlas, class: &Class) -> (String, String) {
    let mut page = Page::new(paths::class_page(class.name), "events", format_args!("{} events", class.name));
    let events = html! {
        @for event in &class.events {
            tr {
                th scope="row" { a href={ "#" (id(event)) } { (id(event)) } }
                td { (event.hook.map_or("—".to_owned(), |hook| format!("{hook:#06x}"))) }
                td { (event.r#type) }
                td { (joined(&event.versions)) }
                td.doc { (event.doc) }
            }
        }
    };
    let headings = ["Event", "Hook", "Type", "Versions", "Description"];
    let content = html! {
        h1 { span.kind { "event class" } code { (class.name) } }
        p.lead { (class.doc) }
        (facts(atlas, class))
        (decoder(class))
        (table(format_args!("Events of {}", class.name), "list", &headings, &events))
        @for event in &class.events { (page.part(id(event), &event.name)) (self::event(atlas, event)) }
    };
    page.finish(&content)
}

/// The form in which the script decodes pasted bytes. It lists the versions in the order of the page.
fn decoder(class: &Class) -> Markup {
    let versions = class.events.iter().flat_map(|event| event.versions.iter().rev().map(move |version| (event, version)));
    html! {
        form class="scripted filter" id="payload-form" {
            label for="payload-version" { "Decode a payload of" }
            select id="payload-version" {
                @for (event, version) in versions.filter(|(_, version)| !version.fields.is_empty()) {
                    option { (id(event)) ", " (version.heading().to_lowercase()) }
                }
            }
            label for="payload-pointers" { "from a" }
            select id="payload-pointers" {
                option value="8" { "64-bit system" }
                option value="4" { "32-bit system" }
            }
            label for="payload-bytes" { "Bytes" }
            textarea id="payload-bytes" rows="2" cols="48" spellcheck="false" placeholder="04 00 00 00 …" {}
            button { "Decode" }
        }
        div class="scripted scroll" id="payload-fields" aria-live="polite" tabindex="0" role="region" aria-label="Decoded fields" {}
    }
}

/// The name of an event within its class, which is also its id on the page.
fn id<'a>(event: &'a Event) -> &'a str {
    event.name.split_once('/').map_or("", |(_, name)| name)
}

/// A constant, as a link to its page if it has one.
fn constant(atlas: &Atlas, of: &str, name: &str) -> Markup {
    match atlas.constant_page(of, name) {
        Some(page) => html! { a href={ "../" (page) } { (name) } },
        None => html! { (name) },
    }
}

fn facts(atlas: &Atlas, class: &Class) -> Markup {
    let guids: BTreeSet<&str> = class.events.iter().map(|event| event.guid.as_str()).collect();
    let groups: BTreeSet<&str> = class.events.iter().filter_map(|event| event.group).collect();
    html! {
        dl.facts {
            @for guid in guids { (fact("Provider", html! { code { (guid) } })) }
            @for group in groups { (fact("Group", constant(atlas, "EVENT_TRACE_GROUP", group))) }
            (fact("Events", class.events.len()))
        }
    }
}

fn event(atlas: &Atlas, event: &Event) -> Markup {
    let mut ids = BTreeSet::new();
    let versions = event.versions.iter().rev().enumerate();
    html! {
        p {
            @match event.hook {
                Some(hook) => { "Hook " (format_args!("{hook:#06x}")) ", event type " (event.r#type) }
                None => { "Event type " (event.r#type) ", without a hook" }
            }
            @for name in event.hook.into_iter().flat_map(|hook| atlas.hook_names(hook)) {
                ", " (constant(atlas, "HOOK_ID", name))
            }
            ". " (event.doc)
        }
        @for (index, version) in versions {
            @let title = html! { (version.heading()) small { (version.size()) } };
            // Earlier versions are collapsed.
            @if index == 0 {
                section.version { h3 { (title) } (self::version(atlas, event, version, &mut ids)) }
            } @else {
                details.version { summary { (title) } (self::version(atlas, event, version, &mut ids)) }
            }
        }
        @if !event.errata.is_empty() {
            h3 { "Errata" }
            ul.errata { @for erratum in &event.errata { li { (erratum.line()) } } }
        }
    }
}

/// A version of an event. If a field has several rows, only the first row has the id of the field.
fn version<'a>(atlas: &Atlas, event: &Event, version: &'a Version, ids: &mut BTreeSet<&'a str>) -> Markup {
    let label = format!("Fields of {}, {}", event.name, version.heading());
    let headings = ["Field", "32-bit", "64-bit", "Type", "Values", "Description"];
    let rows = html! {
        @for field in &version.fields {
            (row(atlas, field, ids.insert(field.name).then(|| format!("{}.{}", id(event), field.name))))
        }
    };
    html! {
        p { "Sources: " (version.sources()) }
        @if !version.unsettled.is_empty() { p { "Unresolved: " (version.unsettled) } }
        @if version.fields.is_empty() { p { "No fields." } } @else { (table(label, "fields", &headings, &rows)) }
    }
}

fn row(atlas: &Atlas, field: &Field, id: Option<String>) -> Markup {
    html! {
        tr id=[id] data-only=[field.pointer] {
            th scope="row" style={ "--depth:" (field.depth) } { (field.name) }
            td { (field.offset(0)) }
            td { (field.offset(1)) }
            td { (field.ty()) @if let Some(out) = field.out { small { " as " (out) } } }
            td {
                @if let Some(values) = field.values {
                    @match atlas.values_page(values) {
                        Some(page) => { a href={ "../" (page) } { (values) } }
                        None => { (values) }
                    }
                }
            }
            td { (field.words()) }
        }
    }
}
