//! The documents as pages, and the index of the site.

use crate::Error;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, html};
use std::fs;
use std::path::Path;

/// The style of the atlas.
const STYLE: &str = include_str!("../../atlas/src/style.css");

/// Documents outside of `docs`.
const OTHERS: [&str; 4] = ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The text of the index.
const INDEX: &str = "# Event Tracing for Windows\n\n\
    - [Atlas](atlas/index.html): the layouts of all structures, by build, with their evidence\n\
    - [Explorer](explorer.html): open a trace in this browser; nothing is uploaded\n\
    - [Documents](docs/index.html)\n";

/// Writes the documents of the workspace to `docs` in a folder, and the index of the site.
pub fn write(root: &Path, folder: &Path) -> Result<(), Error> {
    let pages = folder.join("docs");
    fs::create_dir_all(&pages)?;
    let mut documents: Vec<(String, String)> = Vec::new();
    for entry in fs::read_dir(root.join("docs"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            documents.push((name, fs::read_to_string(&path)?));
        }
    }
    for name in OTHERS {
        documents.push((name.trim_end_matches(".md").to_owned(), fs::read_to_string(root.join(name))?));
    }
    documents.sort();
    let mut list = String::from("# Documents\n\n");
    for (name, text) in &documents {
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(name);
        list += &format!("- [{title}]({name}.html)\n");
        fs::write(pages.join(format!("{name}.html")), page(title, text, "../"))?;
    }
    fs::write(pages.join("index.html"), page("Documents", &list, "../"))?;
    fs::write(folder.join("index.html"), page("Event Tracing for Windows", INDEX, ""))?;
    Ok(())
}

/// A document as a page; `root` is the path to the site.
fn page(title: &str, text: &str, root: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: linked(dest_url), title, id })
        }
        event => event,
    });
    let mut content = String::new();
    html::push_html(&mut content, events);
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

/// The page of a linked document.
fn linked(address: CowStr<'_>) -> CowStr<'_> {
    if address.contains("://") {
        return address;
    }
    let (path, fragment) = address.split_once('#').map_or((&*address, String::new()), |(path, rest)| (path, format!("#{rest}")));
    match path.strip_suffix(".md") {
        Some(path) => format!("{}.html{fragment}", path.rsplit('/').next().unwrap_or(path)).into(),
        None => address,
    }
}
