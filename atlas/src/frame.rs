//! The frame that all pages share, and elements that many pages contain. Its ids contain a hyphen. Ids of members and constants are
//! their names, which never contain one. Some event names do, but pages with events have no ids of the frame.

use maud::{Markup, html};
use std::fmt::Display;

/// A page that is being made.
pub struct Page {
    path: String,
    section: &'static str,
    title: String,
    parts: Vec<(String, String)>,
}

impl Page {
    /// A page at a path from the root, in a section of the atlas.
    pub fn new(path: String, section: &'static str, title: impl Display) -> Self {
        Self { path, section, title: title.to_string(), parts: Vec::new() }
    }

    /// A heading that begins a part of the page. The outline lists the parts.
    pub fn part(&mut self, id: &str, title: impl Display) -> Markup {
        let title = title.to_string();
        let heading = html! { h2 id=(id) { (title) } };
        self.parts.push((id.to_owned(), title));
        heading
    }

    /// The path and the text of the page with its content.
    pub fn finish(self, content: &Markup) -> (String, String) {
        let Self { path, section, title, parts } = self;
        let root = if path.contains('/') { "../" } else { "" };
        let page = html! {
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) " · ETW atlas" }
                    link rel="stylesheet" href={ (root) "style.css" };
                    script src={ (root) "script.js" } defer="defer" {}
                }
                body data-root=(root) {
                    a.skip href="#the-page" { "Skip to the content" }
                    header.top { (top(root, section)) }
                    main id="the-page" tabindex="-1" { (content) }
                    // Wide screens show the outline next to the page.
                    @if parts.len() >= 3 {
                        nav.outline aria-label="Parts of this page" {
                            @for (id, title) in &parts { a href={ "#" (id) } { (title) } }
                        }
                    }
                    footer {
                        "Offsets are computed from declarations and verified against symbols. "
                        a href={ (root) "legend.html" } { "How to read this atlas" }
                    }
                }
            }
        };
        let text = format!("<!doctype html>\n{}\n", page.into_string());
        // Pages of types link to many pages in their own folder: shorten these links.
        let text = if path.starts_with("type/") { text.replace(" href=\"../type/", " href=\"") } else { text };
        (path, text)
    }
}

fn top(root: &str, section: &str) -> Markup {
    let pages = [
        ("index", "structures"),
        ("events", "events"),
        ("values", "values"),
        ("kernels", "builds"),
        ("compare", "compare"),
        ("legend", "legend"),
    ];
    html! {
        a.brand href={ (root) "index.html" } { "ETW atlas" }
        nav aria-label="Parts of the atlas" {
            @for (page, name) in pages {
                a href={ (root) (page) ".html" } aria-current=[(name == section).then_some("page")] { (name) }
            }
        }
        form.scripted role="search" id="search-form" {
            label.unseen for="search-words" { "Search types, members, constants, events and builds" }
            input id="search-words" type="search" placeholder="Search  /" autocomplete="off" spellcheck="false";
            div.found {
                output id="search-count" for="search-words" {}
                ul id="search-found" {}
            }
        }
    }
}

/// The switches for the architecture and for layout or history, the sticky bar, and a panel for each architecture. They work
/// without a script.
pub fn switched(panels: &[(&str, Markup)], bar: &Markup) -> Markup {
    let switch = |group: &str, index: usize, name: &str| {
        html! {
            input type="radio" name=(group) id={ (group) "-" (name) } class=(name) checked=[(index == 0).then_some("checked")];
        }
    };
    let views = ["layout", "history"];
    html! {
        div.switch {
            @for (index, (name, _)) in panels.iter().enumerate() { (switch("arch", index, name)) }
            @for (index, view) in views.iter().enumerate() { (switch("view", index, view)) }
            div.bar {
                span.archs { @for (name, _) in panels { label for={ "arch-" (name) } { (name) } } }
                span.views { @for view in views { label for={ "view-" (view) } { (view) } } }
                (bar)
            }
            @for (name, panel) in panels { div class={ "panel " (name) } { (panel) } }
        }
    }
}

/// Content that may be wider than the screen of a phone. It scrolls on its own, also by keyboard.
pub fn scrolled(label: impl Display, content: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (content) } }
}

/// A table with a line of headings, which scrolls on its own.
pub fn table(label: impl Display, class: &str, headings: &[&str], rows: &Markup) -> Markup {
    identified_table(label, class, None, headings, rows)
}

/// A [`table()`] with an id.
pub fn identified_table(label: impl Display, class: &str, id: Option<&str>, headings: &[&str], rows: &Markup) -> Markup {
    let table = html! {
        table class=(class) id=[id] {
            thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
            tbody { (rows) }
        }
    };
    scrolled(label, &table)
}

/// A fact in a list of facts: `dl.facts`.
pub fn fact(name: impl Display, value: impl maud::Render) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// A button with which the script copies the code next to it.
pub fn copy() -> Markup {
    html! { button class="copy scripted" { "Copy" } }
}
