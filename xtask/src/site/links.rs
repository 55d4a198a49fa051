//! Links within the website.

use crate::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The links in the pages of a folder to files or places that do not exist, as `page: link`.
///
/// # Errors
///
/// The folder cannot be read.
pub fn dead(folder: &Path) -> Result<Vec<String>, Error> {
    let mut files = BTreeSet::new();
    list(folder, &mut files)?;
    let mut pages = BTreeMap::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "html")) {
        pages.insert(path, without_scripts(&fs::read_to_string(path)?));
    }
    let places: BTreeMap<_, BTreeSet<_>> = pages.iter().map(|(path, text)| (*path, values(text, "id").collect())).collect();
    let mut dead = Vec::new();
    for (path, text) in &pages {
        for link in values(text, "href").chain(values(text, "src")) {
            if link.contains(':') {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { (*path).clone() } else { resolved(path.parent().unwrap_or(folder), file) };
            // The scripts of the atlas read `name=value` as a selection.
            let is_place = place.is_empty() || place.contains('=');
            let has_place = || places.get(&target).is_some_and(|places| places.contains(place));
            if !files.contains(&target) || !(is_place || has_place()) {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    Ok(dead)
}

/// All files of a folder and of those below it.
fn list(folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { list(&path, files)? } else { _ = files.insert(path) }
    }
    Ok(())
}

fn without_scripts(text: &str) -> String {
    let mut parts = text.split("<script");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.map(|part| part.split_once("</script>").map_or("", |(_, rest)| rest)).fold(first, |text, rest| text + rest)
}

/// The values of an attribute.
fn values<'t>(text: &'t str, attribute: &str) -> impl Iterator<Item = &'t str> {
    let start = format!(" {attribute}=\"");
    let rests: Vec<_> = text.match_indices(&start).map(|(at, _)| &text[at + start.len()..]).collect();
    rests.into_iter().filter_map(|rest| rest.split('"').next())
}

/// A path relative to a folder, without `..`.
fn resolved(folder: &Path, path: &str) -> PathBuf {
    let mut resolved = folder.to_owned();
    for component in Path::new(path).components() {
        if component == Component::ParentDir { _ = resolved.pop() } else { resolved.push(component) }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::dead;
    use std::{env, fs, process};

    #[test]
    fn dead_links_are_found() {
        let folder = env::temp_dir().join(format!("etw-layouts-links-{}", process::id()));
        fs::create_dir_all(folder.join("a")).expect("a folder");
        let links = ["a/b.html#one", "a/b.html#two", "a/b.html#x=1", "c.html", "https://example.org/"]
            .map(|to| format!("<a href=\"{to}\">"));
        fs::write(folder.join("index.html"), links.concat()).expect("a file");
        let page = "<p id=\"one\"><a href=\"../index.html\"><img src=\"none.png\"><script>' href=\"none\"'</script>";
        fs::write(folder.join("a/b.html"), page).expect("a file");
        let found = dead(&folder);
        fs::remove_dir_all(&folder).expect("a folder");
        let ends = ["a/b.html: none.png", "index.html: a/b.html#two", "index.html: c.html"];
        let found = found.expect("a folder that can be read");
        assert!(found.len() == 3 && found.iter().zip(ends).all(|(found, end)| found.ends_with(end)), "{found:?}");
    }
}
