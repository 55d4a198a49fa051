//! The frame that all pages share. Its ids contain a hyphen. Ids of members and constants are their names, which never contain
//! one. Some event names do, but pages with events have no ids of the frame.

use crate::html::Html;
use std::fmt::Display;

/// A page: its path from the root and its text. `here` is the section of the atlas to which it belongs.
pub fn page(path: String, here: &str, title: impl Display, inside: impl FnOnce(&mut Html)) -> (String, String) {
    let root = root(&path);
    let mut html = Html::default();
    html.el("html", &[("lang", &"en")], |html| {
        html.el("head", &[], |html| head(html, root, &title));
        html.el("body", &[("data-root", &root)], |html| {
            html.leaf("a", &[("class", &"skip"), ("href", &"#the-page")], "Skip to the content");
            html.el("header", &[("class", &"top")], |html| top(html, root, here));
            html.el("main", &[("id", &"the-page"), ("tabindex", &"-1")], inside);
            outline(html);
            html.el("footer", &[], |html| {
                html.text("Offsets are computed from declarations and verified against symbols. ");
                html.link(format_args!("{root}legend.html"), "How to read this atlas");
            });
        });
    });
    // Pages of types link to many pages in their own folder: shorten these links.
    let text = html.document();
    let text = if path.starts_with("type/") { text.replace(" href=\"../type/", " href=\"") } else { text };
    (path, text)
}

/// The relative path from the page at `path` to the root.
pub fn root(path: &str) -> &'static str {
    if path.contains('/') { "../" } else { "" }
}

/// The switches for the architecture and for layout or history, the sticky bar, and a panel for each architecture. They work
/// without a script.
pub fn switched<T>(
    html: &mut Html,
    panels: &[T],
    name: impl Fn(&T) -> &'static str,
    bar: impl FnOnce(&mut Html),
    mut inside: impl FnMut(&mut Html, usize, &T),
) {
    html.el("div", &[("class", &"switch")], |html| {
        let mut input = |group: &str, name: &str, checked: bool| {
            let id = format!("{group}-{name}");
            let shared: [(&str, &dyn Display); 4] = [("type", &"radio"), ("name", &group), ("id", &id), ("class", &name)];
            match checked {
                true => html.void("input", &[&shared[..], &[("checked", &"checked")]].concat()),
                false => html.void("input", &shared),
            }
        };
        panels.iter().enumerate().for_each(|(index, panel)| input("arch", name(panel), index == 0));
        ["layout", "history"].iter().enumerate().for_each(|(index, view)| input("view", view, index == 0));
        html.el("div", &[("class", &"bar")], |html| {
            html.el("span", &[("class", &"archs")], |html| {
                panels
                    .iter()
                    .for_each(|panel| html.leaf("label", &[("for", &format_args!("arch-{}", name(panel)))], name(panel)));
            });
            html.el("span", &[("class", &"views")], |html| {
                ["layout", "history"].iter().for_each(|view| html.leaf("label", &[("for", &format_args!("view-{view}"))], view));
            });
            bar(html);
        });
        for (index, panel) in panels.iter().enumerate() {
            html.el("div", &[("class", &format_args!("panel {}", name(panel)))], |html| inside(html, index, panel));
        }
    });
}

/// A table that may be wider than the screen of a phone. It scrolls on its own, also by keyboard.
pub fn scrolled(html: &mut Html, label: impl Display, inside: impl FnOnce(&mut Html)) {
    html.el("div", &[("class", &"scroll"), ("tabindex", &"0"), ("role", &"region"), ("aria-label", &label)], inside);
}

/// A button with which the script copies the code next to it.
pub fn copy(html: &mut Html) {
    html.leaf("button", &[("class", &"copy scripted")], "Copy");
}

/// The outline of a page. Wide screens show it next to the page.
fn outline(html: &mut Html) {
    let parts = html.parts().to_vec();
    if parts.len() < 3 {
        return;
    }
    html.el("nav", &[("class", &"outline"), ("aria-label", &"Parts of this page")], |html| {
        parts.iter().for_each(|(id, title)| html.link(format_args!("#{id}"), title));
    });
}

fn head(html: &mut Html, root: &str, title: &dyn Display) {
    html.void("meta", &[("charset", &"utf-8")]);
    html.void("meta", &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")]);
    html.void("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
    html.leaf("title", &[], format_args!("{title} · ETW atlas"));
    html.void("link", &[("rel", &"stylesheet"), ("href", &format_args!("{root}style.css"))]);
    html.leaf("script", &[("src", &format_args!("{root}script.js")), ("defer", &"defer")], "");
}

fn top(html: &mut Html, root: &str, here: &str) {
    html.leaf("a", &[("class", &"brand"), ("href", &format_args!("{root}index.html"))], "ETW atlas");
    html.el("nav", &[("aria-label", &"Parts of the atlas")], |html| {
        for (page, name) in [
            ("index", "structures"),
            ("events", "events"),
            ("values", "values"),
            ("kernels", "builds"),
            ("compare", "compare"),
            ("legend", "legend"),
        ] {
            let to = format!("{root}{page}.html");
            match name == here {
                true => html.leaf("a", &[("href", &to), ("aria-current", &"page")], name),
                false => html.link(to, name),
            }
        }
    });
    html.el("form", &[("role", &"search"), ("class", &"scripted"), ("id", &"search-form")], |html| {
        html.leaf(
            "label",
            &[("for", &"search-words"), ("class", &"unseen")],
            "Search types, members, constants, events and builds",
        );
        let input: [(&str, &dyn Display); 5] = [
            ("id", &"search-words"),
            ("type", &"search"),
            ("placeholder", &"Search  /"),
            ("autocomplete", &"off"),
            ("spellcheck", &"false"),
        ];
        html.void("input", &input);
        html.el("div", &[("class", &"found")], |html| {
            html.leaf("output", &[("id", &"search-count"), ("for", &"search-words")], "");
            html.leaf("ul", &[("id", &"search-found")], "");
        });
    });
}
