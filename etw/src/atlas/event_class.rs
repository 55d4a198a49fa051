//! The page of a class of events.

use super::facts::{Atlas, Class};
use super::frame::{page as framed, scrolled};
use super::paths;
use crate::event::{Event, Field, Version, joined};
use crate::html::Html;
use std::collections::BTreeSet;
use std::fmt::Display;

pub fn page(atlas: &Atlas, class: &Class) -> (String, String) {
    framed(paths::of_class(class.name), "events", format_args!("{} events", class.name), |html| {
        html.el("h1", &[], |html| {
            html.leaf("span", &[("class", &"kind")], "event class");
            html.leaf("code", &[], class.name);
        });
        html.leaf("p", &[("class", &"lead")], &class.doc);
        facts(atlas, class, html);
        decoder(class, html);
        scrolled(html, format_args!("Events of {}", class.name), |html| {
            html.el("table", &[("class", &"list")], |html| {
                head(html, &["Event", "Hook", "Type", "Versions", "Description"]);
                html.el("tbody", &[], |html| {
                    for event in &class.events {
                        html.el("tr", &[], |html| {
                            html.el("th", &[("scope", &"row")], |html| html.link(format_args!("#{}", id(event)), id(event)));
                            html.leaf("td", &[], event.hook.map_or("—".to_owned(), |hook| format!("{hook:#06x}")));
                            html.leaf("td", &[], event.r#type);
                            html.leaf("td", &[], joined(&event.versions));
                            html.leaf("td", &[("class", &"doc")], event.doc);
                        });
                    }
                });
            });
        });
        class.events.iter().for_each(|event| self::event(atlas, event, html));
    })
}

/// The form in which the script decodes pasted bytes. It lists the versions in the order of the page.
fn decoder(class: &Class, html: &mut Html) {
    html.el("form", &[("class", &"scripted filter"), ("id", &"payload-form")], |html| {
        html.leaf("label", &[("for", &"payload-version")], "Decode a payload of");
        html.el("select", &[("id", &"payload-version")], |html| {
            for event in &class.events {
                let versions = event.versions.iter().rev().filter(|version| !version.fields.is_empty());
                versions.for_each(|version| {
                    html.leaf("option", &[], format_args!("{}, {}", id(event), version.heading().to_lowercase()))
                });
            }
        });
        html.leaf("label", &[("for", &"payload-pointers")], "from a");
        html.el("select", &[("id", &"payload-pointers")], |html| {
            html.leaf("option", &[("value", &8)], "64-bit system");
            html.leaf("option", &[("value", &4)], "32-bit system");
        });
        html.leaf("label", &[("for", &"payload-bytes")], "Bytes");
        html.leaf(
            "textarea",
            &[("id", &"payload-bytes"), ("rows", &2), ("cols", &48), ("spellcheck", &"false"), ("placeholder", &"04 00 00 00 …")],
            "",
        );
        html.leaf("button", &[], "Decode");
    });
    html.leaf(
        "div",
        &[
            ("class", &"scripted scroll"),
            ("id", &"payload-fields"),
            ("aria-live", &"polite"),
            ("tabindex", &"0"),
            ("role", &"region"),
            ("aria-label", &"Decoded fields"),
        ],
        "",
    );
}

/// The name of an event within its class, which is also its id on the page.
fn id<'a>(event: &'a Event) -> &'a str {
    event.name.split_once('/').map_or("", |(_, name)| name)
}

fn facts(atlas: &Atlas, class: &Class, html: &mut Html) {
    html.el("dl", &[("class", &"facts")], |html| {
        let mut fact = |name: &str, value: &dyn Fn(&mut Html)| {
            html.el("div", &[], |html| {
                html.leaf("dt", &[], name);
                html.el("dd", &[], |html| value(html));
            });
        };
        let guids: BTreeSet<&str> = class.events.iter().map(|event| event.guid.as_str()).collect();
        for guid in guids {
            fact("Provider", &|html| html.leaf("code", &[], guid));
        }
        let groups: BTreeSet<&str> = class.events.iter().filter_map(|event| event.group).collect();
        for group in groups {
            fact("Group", &|html| match atlas.constant_page("EVENT_TRACE_GROUP", group) {
                Some(page) => html.link(format_args!("../{page}"), group),
                None => html.text(group),
            });
        }
        fact("Events", &|html| html.text(class.events.len()));
    });
}

fn event(atlas: &Atlas, event: &Event, html: &mut Html) {
    html.part(id(event), &event.name);
    html.el("p", &[], |html| {
        match event.hook {
            Some(hook) => html.text(format_args!("Hook {hook:#06x}, event type {}", event.r#type)),
            None => html.text(format_args!("Event type {}, without a hook", event.r#type)),
        }
        for name in event.hook.into_iter().flat_map(|hook| atlas.hook_names(hook)) {
            html.text(", ");
            match atlas.constant_page("HOOK_ID", name) {
                Some(page) => html.link(format_args!("../{page}"), name),
                None => html.text(name),
            }
        }
        html.text(". ");
        html.text(event.doc);
    });
    let mut ids = BTreeSet::new();
    for (index, version) in event.versions.iter().rev().enumerate() {
        let title = |html: &mut Html| {
            html.text(version.heading());
            html.leaf("small", &[], version.size());
        };
        // Earlier versions are collapsed.
        match index {
            0 => html.el("section", &[("class", &"version")], |html| {
                html.el("h3", &[], title);
                self::version(atlas, event, version, &mut ids, html);
            }),
            _ => html.el("details", &[("class", &"version")], |html| {
                html.el("summary", &[], title);
                self::version(atlas, event, version, &mut ids, html);
            }),
        }
    }
    if !event.errata.is_empty() {
        html.leaf("h3", &[], "Errata");
        html.el("ul", &[("class", &"errata")], |html| {
            event.errata.iter().for_each(|erratum| html.leaf("li", &[], erratum.line()));
        });
    }
}

/// A version of an event. If a field has several rows, only the first row has the id of the field.
fn version<'a>(atlas: &Atlas, event: &Event, version: &'a Version, ids: &mut BTreeSet<&'a str>, html: &mut Html) {
    html.leaf("p", &[], format_args!("Sources: {}", version.sources()));
    if !version.unsettled.is_empty() {
        html.leaf("p", &[], format_args!("Unresolved: {}", version.unsettled));
    }
    if version.fields.is_empty() {
        return html.leaf("p", &[], "No fields.");
    }
    scrolled(html, format_args!("Fields of {}, {}", event.name, version.heading()), |html| {
        html.el("table", &[("class", &"fields")], |html| {
            head(html, &["Field", "32-bit", "64-bit", "Type", "Values", "Description"]);
            html.el("tbody", &[], |html| {
                for field in &version.fields {
                    let id = ids.insert(field.name).then(|| format!("{}.{}", self::id(event), field.name));
                    row(atlas, field, id, html);
                }
            });
        });
    });
}

fn row(atlas: &Atlas, field: &Field, id: Option<String>, html: &mut Html) {
    let cells = |html: &mut Html| {
        html.leaf("th", &[("scope", &"row"), ("style", &format_args!("--depth:{}", field.depth))], field.name);
        html.leaf("td", &[], field.offset(0));
        html.leaf("td", &[], field.offset(1));
        html.el("td", &[], |html| {
            html.text(field.ty());
            if let Some(out) = field.out {
                html.leaf("small", &[], format_args!(" as {out}"));
            }
        });
        html.el("td", &[], |html| match (field.values, field.values.and_then(|values| atlas.values_page(values))) {
            (Some(values), Some(page)) => html.link(format_args!("../{page}"), values),
            (values, _) => html.text(values.unwrap_or_default()),
        });
        html.leaf("td", &[], field.words());
    };
    let only = field.pointer.map(|size| size.to_string()).unwrap_or_default();
    let attributes: [Option<(&str, &dyn Display)>; 2] =
        [id.as_ref().map(|id| ("id", id as _)), field.pointer.map(|_| ("data-only", &only as _))];
    html.el("tr", &attributes.into_iter().flatten().collect::<Vec<_>>(), cells);
}

fn head(html: &mut Html, headings: &[&str]) {
    html.el("thead", &[], |html| {
        html.el("tr", &[], |html| headings.iter().for_each(|heading| html.leaf("th", &[("scope", &"col")], heading)));
    });
}
