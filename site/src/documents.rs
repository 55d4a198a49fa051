//! The documents as pages, and the index of the site.

use crate::Error;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The style of the atlas.
const STYLE: &str = include_str!("../../atlas/src/style.css");

/// Documents outside of `docs`.
const OTHERS: [&str; 7] =
    ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "specs/README.md", "specs/ERRATA.md", "corpus/README.md"];

/// The text of the index.
const INDEX: &str = "# Event Tracing for Windows\n\n\
    - [Atlas](atlas/index.html): the layouts of all structures, by build, with their evidence\n\
    - [Explorer](explorer.html): open a trace in this browser; nothing is uploaded\n\
    - [Documents](docs/index.html)\n";

/// Writes the documents and pictures of the workspace to `docs` in a folder, and the index of the site.
pub fn write(root: &Path, folder: &Path, has_atlas: bool) -> Result<(), Error> {
    let pages = folder.join("docs");
    fs::create_dir_all(&pages)?;
    let mut documents: BTreeSet<String> = OTHERS.map(str::to_owned).into();
    for entry in fs::read_dir(root.join("docs"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            documents.insert(format!("docs/{name}"));
        } else if name.ends_with(".png") {
            fs::copy(root.join("docs").join(&name), pages.join(&name))?;
        }
    }
    let mut list = String::from("# Documents\n\n");
    for path in &documents {
        let text = fs::read_to_string(root.join(path))?;
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(path);
        list += &format!("- [{title}]({})\n", name(path));
        fs::write(pages.join(name(path)), page(title, &text, "../", |address| linked(&documents, path, address)))?;
    }
    let as_it_is = |address: &str| Some(address.to_owned());
    fs::write(pages.join("index.html"), page("Documents", &list, "../", as_it_is))?;
    let is_shown = |line: &&str| has_atlas || !line.starts_with("- [Atlas]");
    let index: Vec<_> = INDEX.lines().filter(is_shown).collect();
    fs::write(folder.join("index.html"), page("Event Tracing for Windows", &index.join("\n"), "", as_it_is))?;
    Ok(())
}

/// The file name of the page of a document.
fn name(path: &str) -> String {
    format!("{}.html", path.trim_end_matches(".md").trim_start_matches("docs/").replace('/', "-"))
}

/// A document as a page; `root` is the path to the site. A link whose address `linked` does not know is text.
fn page(title: &str, text: &str, root: &str, linked: impl Fn(&str) -> Option<String>) -> String {
    let mut is_text = false;
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let address = linked(&dest_url);
            is_text = address.is_none();
            Some(Event::Start(Tag::Link { link_type, dest_url: address?.into(), title, id }))
        }
        Event::End(TagEnd::Link) if is_text => None,
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let picture = dest_url.trim_start_matches("docs/").to_owned();
            Some(Event::Start(Tag::Image { link_type, dest_url: picture.into(), title, id }))
        }
        event => Some(event),
    });
    let mut content = String::new();
    html::push_html(&mut content, with_places(events.collect()).into_iter());
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title><style>{STYLE}</style></head>\n\
         <body><header class=\"top\"><a class=\"brand\" href=\"{root}index.html\">ETW</a><nav aria-label=\"Parts of the site\">\
         <a href=\"{root}atlas/index.html\">atlas</a><a href=\"{root}explorer.html\">explorer</a><a href=\"{root}docs/index.html\">documents</a></nav></header>\n\
         <main id=\"the-page\">{content}</main></body></html>\n"
    )
}

/// Headings with the places that links in Markdown name: the words of the heading, in lower case, with `-` between; a number follows a repeated one.
fn with_places(mut events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut seen = BTreeMap::<String, u32>::new();
    for index in 0..events.len() {
        if !matches!(events[index], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let heading = events[index..].iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
        let words = heading.filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(&**text),
            _ => None,
        });
        let text: String = words.collect();
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[index] {
            let is_kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
            let place: String = text.to_lowercase().chars().filter(is_kept).map(|c| if c == ' ' { '-' } else { c }).collect();
            let count = seen.entry(place.clone()).and_modify(|count| *count += 1).or_default();
            *id = Some(if *count == 0 { place } else { format!("{place}-{count}") }.into());
        }
    }
    events
}

/// The page of a document that another one links to; `None` for files that are not part of the site.
fn linked(documents: &BTreeSet<String>, from: &str, address: &str) -> Option<String> {
    if address.contains("://") || address.starts_with('#') {
        return Some(address.to_owned());
    }
    let (path, fragment) = address.split_once('#').map_or((address, String::new()), |(path, rest)| (path, format!("#{rest}")));
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    let path = parts.join("/");
    documents.contains(&path).then(|| name(&path) + &fragment)
}
