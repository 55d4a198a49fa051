//! The pages of the atlas are well-formed and small, have no dead links, and agree with `etw diff`.

use crate::contract::{Folder, etw};
use crate::project;
use etw_layouts_cli::{atlas, diff, event};
use etw_layouts_codegen::axis::{Arch, Axis};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use etw_layouts_project::diff::{changes, sides};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use test_support::browser::{Browser, Look};
use test_support::installed;

/// The maximum size of a page.
const LARGEST: usize = 660_000;
/// The maximum size of all files together.
const MAX_BYTES: usize = 35_500_000;

pub static FILES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| atlas::files(&project()).expect("an atlas"));

/// The tags, ids and links of a page.
#[derive(Default)]
struct Page {
    ids: BTreeSet<String>,
    links: Vec<String>,
    tags: BTreeSet<String>,
}

#[test]
fn pages_are_valid_and_small_and_have_no_dead_links() {
    let files = &*FILES;
    let pages: BTreeMap<&str, Page> =
        files.iter().filter(|(path, _)| path.ends_with(".html")).map(|(path, text)| (path.as_str(), page(path, text))).collect();
    assert!((900..1200).contains(&pages.len()), "{} pages", pages.len());
    let bytes: usize = files.values().map(String::len).sum();
    assert!(bytes < MAX_BYTES, "{bytes} bytes");
    let mut reached = BTreeSet::from(["index.html".to_owned()]);
    for (path, page) in &pages {
        assert!(files[*path].len() < LARGEST, "{path} has {} bytes", files[*path].len());
        for tag in ["html", "title", "main", "h1"] {
            assert!(page.tags.contains(tag), "{path} has no {tag}");
        }
        for link in &page.links {
            let (to, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if to.is_empty() { (*path).to_owned() } else { resolved(path, to) };
            assert!(files.contains_key(&to), "{path} leads to {to}, which is not there");
            // A selection in the anchor is read by the script of that page.
            let anchor = if anchor.starts_with("a=") { "compare" } else { anchor };
            let there = pages.get(to.as_str()).is_none_or(|there| anchor.is_empty() || there.ids.contains(anchor));
            assert!(there, "{path} leads to {link}, but the page has no such id");
            reached.insert(to);
        }
    }
    let lost: Vec<_> = pages.keys().filter(|path| !reached.contains(**path)).collect();
    assert!(lost.is_empty(), "no page leads to {lost:?}");
}

#[test]
fn changes_of_a_build_equal_the_output_of_diff() {
    let files = &*FILES;
    let (layouts, registry) = specs();
    let axis = &layouts.spec.axis;
    for arch in Arch::ALL {
        let line: Vec<_> = axis.along(arch).map(|(_, target)| axis.target_name(target)).collect();
        let every = if installed::all() { 1 } else { 4 };
        for pair in line.windows(2).step_by(every) {
            let [a, b] = pair else { continue };
            let page = &files[&format!("kernel/{b}.html")];
            let content = page.split_once("<pre").and_then(|(_, rest)| rest.split_once('>')).expect("the differences").1;
            let content = content.split_once("</pre>").expect("its end").0;
            assert_eq!(plain(content), said(layouts, registry, a, b, None), "{b}");
        }
    }
}

/// Each event is on the page of its class, with all versions and fields that `etw show` prints. Its enumerations are links.
#[test]
fn events_equal_the_output_of_show() {
    let files = &*FILES;
    let (layouts, _) = specs();
    let statements = project().statements().expect("the facts can be read");
    let events = event::events(&layouts.spec, &statements);
    assert!(events.len() > 500, "{} events", events.len());
    for event in &events {
        let (class, name) = event.name.split_once('/').expect("a class");
        let path = format!("event/{class}.html");
        let own = files[&path].split(&format!("<h2 id=\"{name}\">")).nth(1).unwrap_or_else(|| panic!("{path} has no {name}"));
        let own = own.split("<h2 ").next().unwrap_or_default();
        let rows: Vec<Vec<String>> = own.split("<tr").skip(1).map(cells).filter(|cells| cells[0] != "Field").collect();
        let fields = event.versions.iter().rev().flat_map(|version| &version.fields);
        let expected: Vec<_> = fields
            .map(|field| {
                let ty = format!("{}{}", field.ty(), field.out.map(|out| format!(" as {out}")).unwrap_or_default());
                let values = field.values.unwrap_or_default().to_owned();
                vec![field.name.to_owned(), field.offset(0), field.offset(1), ty, values, field.words()]
            })
            .collect();
        assert_eq!(rows, expected, "{}", event.name);
        let text = plain(own);
        for version in &event.versions {
            for words in [version.heading(), version.size(), version.sources(), version.unsettled.to_owned()] {
                assert!(text.contains(&words), "{}: {words}", event.name);
            }
        }
        assert!(event.errata.iter().all(|erratum| text.contains(&erratum.line())), "{}", event.name);
    }
    let process = &files["event/Process.html"];
    for link in ["../type/PROCESS_EXIT_STATUS.html", "../type/HOOK_ID.html#WMI_LOG_TYPE_PROCESS_CREATE"] {
        assert!(process.contains(&format!("href=\"{link}\"")), "{link}");
    }
}

/// The confidence in the script's data equals that of the library, for every structure at a sample of revisions.
#[test]
fn confidence_is_that_of_the_library() {
    let (layouts, registry) = specs();
    let axis = &layouts.spec.axis;
    let data = |path: &str| -> Value {
        let (_, json) = FILES[path].split_once(" = {").expect("data");
        serde_json::from_str(&format!("{{{}", json.trim_end().trim_end_matches(';'))).expect("JSON")
    };
    let (builds, confidence) = (data("builds.js"), data("confidence.js"));
    let number = |value: &Value| usize::try_from(value.as_i64().unwrap_or(-1)).ok();
    let mut count = 0_usize;
    for definition in FILES.keys().filter_map(|path| path.strip_prefix("type/")?.strip_suffix(".js")) {
        let own = data(&format!("type/{definition}.js"));
        for (branch, points) in builds["branches"].as_object().expect("branches") {
            let (build, arch) = branch.rsplit_once('-').expect("an architecture");
            let column = number(&points["at"]).and_then(|at| number(&own["columns"][at]));
            for (index, from) in points["from"].as_array().into_iter().flatten().enumerate() {
                count += 1;
                if !count.is_multiple_of(97) {
                    continue;
                }
                let asked =
                    axis.select(format!("{build}.{from}").parse().expect("a build"), arch.parse().expect("an architecture"));
                let asked = asked.expect("a target");
                let sentence = column.and_then(|column| number(&confidence["columns"][column][index]));
                let sentence = sentence.and_then(|sentence| confidence["sentences"][sentence][0].as_str());
                let is_there = layouts.by_target[asked.target].contains_key(definition);
                let expected = is_there.then(|| Choice::of(layouts, registry, asked, Some(definition)).sentence(axis));
                assert_eq!(sentence, expected.as_deref(), "{definition} at {branch}, {from}");
            }
        }
    }
    assert!(count > 100_000, "{count}");
}

/// The texts of the cells of a row.
fn cells(row: &str) -> Vec<String> {
    let row = row.split("</tr>").next().unwrap_or_default();
    let ends = row.split("</td>").flat_map(|part| part.split("</th>"));
    let texts = ends.filter_map(|cell| cell.split_once("<t")?.1.split_once('>')).map(|(_, text)| plain(text));
    texts.collect()
}

/// Every text colour has the contrast on each of its backgrounds that WCAG AA requires for small text. Borders and hatches have
/// theirs.
#[test]
fn colours_have_contrast() {
    let files = &*FILES;
    let style = &files["style.css"];
    let (light, dark) = style.split_once("prefers-color-scheme: dark").expect("a dark look");
    let dark = dark.split_once("* {").expect("the end of the colours").0;
    for colours in [light, dark].map(colours) {
        let inks = ["ink", "quiet", "accent", "new-ink", "moved-ink", "typed-ink", "gone-ink"];
        let grounds = ["paper", "sheet", "faint", "new", "moved", "typed"];
        for (ink, ground) in inks.into_iter().flat_map(|ink| grounds.map(|ground| (ink, ground))).chain([("gone-ink", "gone")]) {
            let [a, b] = [ink, ground].map(|name| colours[name] + 0.05);
            assert!(a.max(b) / a.min(b) >= 4.5, "{ink} on {ground}: {:.2}", a.max(b) / a.min(b));
        }
        for (mark, ground) in ["edge", "hatch"].into_iter().flat_map(|mark| ["paper", "sheet"].map(|ground| (mark, ground))) {
            let [a, b] = [mark, ground].map(|name| colours[name] + 0.05);
            assert!(a.max(b) / a.min(b) >= 3.0, "{mark} on {ground}: {:.2}", a.max(b) / a.min(b));
        }
    }
}

/// A folder with other files is not changed. An existing atlas is rewritten, without pages that are no longer part of it.
#[test]
fn a_folder_with_other_files_is_not_changed() {
    let (full, new) = (Folder::named("full"), Folder::named("new"));
    let file = full.file("letters.txt", "mine");
    let specs = Folder::named("specs");
    specs.file("QUEUE.toml", "[struct]\nname = \"QUEUE\"\n\n[[member]]\nname = \"Links\"\ntype = \"LIST_ENTRY\"\n");
    // A type named like a Windows device has another file name.
    specs.file("Nul.toml", "[struct]\nname = \"Nul\"\n\n[[member]]\nname = \"Queue\"\ntype = \"QUEUE\"\n");
    let etw = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
        command.arg("--specs").arg(&specs.0).args(["atlas", "-o"]).arg(folder).output().expect("etw runs")
    };
    let output = etw(&full.0);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && message.contains("contains no atlas"), "{message}");
    assert_eq!(fs::read_dir(&full.0).expect("the folder").count(), 1, "only {file} is in the folder");
    assert_eq!(etw(&new.0).status.code(), Some(0));
    let list = fs::read_to_string(new.0.join("atlas.txt")).expect("the list");
    assert!(!list.contains("/Nul.") && new.0.join("type/Nul-type.html").exists(), "{list}");
    // The hash of an empty page. Changed pages and files outside the folder are not removed, even if they are listed.
    let hash = "cbf29ce484222325";
    let outside = new.0.with_extension("outside");
    fs::create_dir_all(outside.join("inner")).expect("a temporary folder");
    for file in [outside.join("letters.txt"), outside.join("inner/letters.txt")] {
        fs::write(file, "").expect("a temporary file");
    }
    let beside = outside.file_name().and_then(|name| name.to_str()).expect("a name");
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.join("inner"), new.0.join("link")).expect("a link");
    let names = [
        "old.html",
        "kept.html",
        "link/letters.txt",
        &format!("../{beside}/letters.txt"),
        &format!("{}/letters.txt", outside.display()),
    ];
    let listed: String = names.iter().map(|name| format!("{hash} {name}\n")).collect();
    new.file("atlas.txt", &format!("{list}{listed}"));
    new.file("old.html", "");
    new.file("kept.html", "mine");
    assert_eq!(etw(&new.0).status.code(), Some(0));
    assert!(!new.0.join("old.html").exists() && new.0.join("type/QUEUE.html").exists());
    assert_eq!(fs::read_to_string(new.0.join("kept.html")).ok().as_deref(), Some("mine"));
    assert!(outside.join("letters.txt").exists() && outside.join("inner/letters.txt").exists());
    // If a page was changed by hand, nothing is written. A page with only the start of its text is from an interrupted run.
    let index = fs::read(new.0.join("index.html")).expect("a page");
    let before = fs::read(new.0.join("atlas.txt")).expect("the list");
    new.file("index.html", "mine");
    let output = etw(&new.0);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && message.contains("index.html: changed since the atlas was written"), "{message}");
    assert_eq!(fs::read_to_string(new.0.join("index.html")).ok().as_deref(), Some("mine"));
    assert_eq!(fs::read(new.0.join("atlas.txt")).ok(), Some(before));
    fs::write(new.0.join("index.html"), &index[..index.len() / 2]).expect("the start of a page");
    assert_eq!(etw(&new.0).status.code(), Some(0));
    assert_eq!(fs::read(new.0.join("index.html")).ok(), Some(index));
    // A list without the header line does not mark an atlas. Pages are not written through links.
    full.file("atlas.txt", "letters.txt\n");
    let output = etw(&full.0);
    assert!(output.status.code() == Some(2) && full.0.join("letters.txt").exists(), "{output:?}");
    #[cfg(unix)]
    {
        fs::remove_dir_all(new.0.join("type")).expect("a folder of the atlas");
        std::os::unix::fs::symlink(outside.join("inner"), new.0.join("type")).expect("a link");
        let output = etw(&new.0);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains("is a link; remove it"), "{message}");
        assert_eq!(fs::read_dir(outside.join("inner")).expect("a folder").count(), 1);
    }
    fs::remove_dir_all(outside).expect("the temporary folder can be removed");
}

/// Writes all files of the atlas to a folder, for a browser.
pub fn written() -> Folder {
    let folder = Folder::new();
    for (path, text) in &*FILES {
        let path = folder.0.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        fs::write(path, text).expect("a temporary file");
    }
    folder
}

/// The result of a script on a page of a folder: a path, with an anchor after `#`. Fails if the page reports an error.
pub fn run(browser: &Browser, folder: &Folder, address: &str, script: &str) -> Value {
    browser.open(&folder.0.join(address), Look::DESKTOP).run(script)
}

/// The specs and the facts, which are read once.
pub fn specs() -> &'static (Layouts, Registry) {
    static SPECS: LazyLock<(Layouts, Registry)> = LazyLock::new(|| {
        let layouts = project().layouts().expect("the specs resolve");
        let axis: &Axis = &layouts.spec.axis;
        let registry = project().registry(axis).expect("the facts can be read");
        (layouts, registry)
    });
    &SPECS
}

/// The output of `etw diff`, without styles.
fn said(layouts: &Layouts, registry: &Registry, a: &str, b: &str, only: Option<&str>) -> String {
    let [old, new] = sides(layouts, registry, [a, b], only).expect("two targets");
    let mut text = diff::text(&old, &new, &changes(&old, &new));
    while let Some(start) = text.find('\u{1b}') {
        let end = text[start..].find('m').expect("the end of a style");
        text.replace_range(start..=start + end, "");
    }
    text
}

fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        text += before;
        rest = after.split_once('>').expect("the end of a tag").1;
    }
    text += rest;
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Parses a page. Fails if elements are not closed in the right order, or if an id occurs twice.
fn page(path: &str, text: &str) -> Page {
    let mut page = Page::default();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.strip_prefix("<!doctype html>\n").unwrap_or_else(|| panic!("{path} has no doctype"));
    while let Some((before, after)) = rest.split_once('<') {
        assert!(!before.contains('>') || open.is_empty(), "{path}: {before}");
        let (tag, after) = after.split_once('>').unwrap_or_else(|| panic!("{path}: a tag does not end"));
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{path}");
            continue;
        }
        let name = tag.split(' ').next().unwrap_or_default();
        page.tags.insert(name.to_owned());
        for attribute in [" id=\"", " href=\"", " src=\""] {
            let Some(value) = tag.split_once(attribute).and_then(|(_, rest)| rest.split_once('"')) else { continue };
            match attribute {
                " id=\"" => assert!(page.ids.insert(plain(value.0)), "{path}: {} occurs twice", value.0),
                _ => page.links.push(plain(value.0)),
            }
        }
        if !["meta", "link", "input"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{path}: {open:?} do not close");
    page
}

/// The target of a link of a page, from the root.
fn resolved(from: &str, to: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{from} leads out of the atlas"),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The luminance of each colour, by its name.
fn colours(style: &str) -> BTreeMap<&str, f64> {
    let colour = |line| {
        let (name, value) = str::trim(line).strip_prefix("--")?.split_once(": #")?;
        let value = u32::from_str_radix(value.trim_end_matches(';'), 16).ok()?;
        let part = |shift: u32| {
            let part = f64::from(value >> shift & 0xff) / 255.0;
            if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        Some((name, 0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)))
    };
    style.lines().filter_map(colour).collect()
}

/// A page of a structure is written only for a build that has the structure.
#[test]
fn a_page_is_of_a_known_build() {
    let folder = Folder::new();
    let path = folder.0.join("page.html").display().to_string();
    for (name, build, refusal) in [
        ("WMI_BUFFER_HEADER", "garbage", "unknown build `garbage`"),
        ("ETW_SILODRIVERSTATE", "6.1", "ETW_SILODRIVERSTATE does not exist in 6.1.7600.16385-x64"),
        ("ETW_BUFFER_STATE", "6.1", "always shows the constants of all builds; remove --build"),
    ] {
        let output = etw(&["open", name, "--build", build, "-o", &path]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(refusal), "{message}");
        assert!(!std::path::Path::new(&path).exists());
    }
}
