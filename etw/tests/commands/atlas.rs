//! The atlas: its pages are whole, lead somewhere, are small, and say what `etw diff` says; in a browser too, where there is one.

use crate::contract::Folder;
use crate::project;
use etw_layouts_cli::{atlas, diff, event};
use etw_layouts_codegen::axis::Axis;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::diff::{changes, sides};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};
use test_support::witness;

/// No page may be larger.
const LARGEST: usize = 330_000;

static FILES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| atlas::files(&project()).expect("an atlas"));

/// The tags, ids and links of a page.
#[derive(Default)]
struct Page {
    ids: BTreeSet<String>,
    links: Vec<String>,
    tags: BTreeSet<String>,
}

#[test]
fn pages_are_whole_and_small_and_lead_somewhere() {
    let files = &*FILES;
    let pages: BTreeMap<&str, Page> =
        files.iter().filter(|(path, _)| path.ends_with(".html")).map(|(path, text)| (path.as_str(), page(path, text))).collect();
    assert!(pages.len() > 1000, "{} pages", pages.len());
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
            // Two versions are for the script of a page on which they can be chosen.
            let anchor = if anchor.starts_with("a=") { "beside-form" } else { anchor };
            let there = pages.get(to.as_str()).is_none_or(|there| anchor.is_empty() || there.ids.contains(anchor));
            assert!(there, "{path} leads to {link}, which is not on that page");
            reached.insert(to);
        }
    }
    let lost: Vec<_> = pages.keys().filter(|path| !reached.contains(**path)).collect();
    assert!(lost.is_empty(), "no page leads to {lost:?}");
}

#[test]
fn what_differs_is_said_as_by_diff() {
    let files = &*FILES;
    let (layouts, registry) = specs();
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("step/")) {
        let name = path.trim_start_matches("step/").trim_end_matches(".html");
        let (a, b) = name.split_once("--").expect("two targets");
        let content = text.split_once("<pre").and_then(|(_, rest)| rest.split_once('>')).expect("the differences").1;
        let content = content.split_once("</pre>").expect("its end").0;
        assert_eq!(plain(content), said(&layouts, &registry, a, b, None), "{path}");
    }
}

/// Each event has its place on the page of its class, with all its versions and fields as `etw show` has them, its enumerations linked.
#[test]
fn events_are_shown_as_by_show() {
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

/// The texts of the cells of a row.
fn cells(row: &str) -> Vec<String> {
    let row = row.split("</tr>").next().unwrap_or_default();
    let ends = row.split("</td>").flat_map(|part| part.split("</th>"));
    let texts = ends.filter_map(|cell| cell.split_once("<t")?.1.split_once('>')).map(|(_, text)| plain(text));
    texts.collect()
}

/// Every ink stands out from each ground that it is used on, as WCAG AA wants of small text.
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
    }
}

/// A folder that holds something else is left alone; an atlas is written anew, without pages that are no longer there.
#[test]
fn a_folder_with_something_else_is_left_alone() {
    let (full, new) = (Folder::named("full"), Folder::named("new"));
    let file = full.file("letters.txt", "mine");
    let specs = Folder::named("specs");
    specs.file("QUEUE.toml", "[struct]\nname = \"QUEUE\"\n\n[[member]]\nname = \"Links\"\ntype = \"LIST_ENTRY\"\n");
    // What Windows calls a device is in no file of that name.
    specs.file("Nul.toml", "[struct]\nname = \"Nul\"\n\n[[member]]\nname = \"Queue\"\ntype = \"QUEUE\"\n");
    let etw = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
        command.arg("--specs").arg(&specs.0).args(["atlas", "-o"]).arg(folder).output().expect("etw runs")
    };
    let output = etw(&full.0);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && message.contains("contains no atlas"), "{message}");
    assert_eq!(fs::read_dir(&full.0).expect("the folder").count(), 1, "{file} alone is there");
    assert_eq!(etw(&new.0).status.code(), Some(0));
    let list = fs::read_to_string(new.0.join("atlas.txt")).expect("the list");
    assert!(!list.contains("/Nul.") && new.0.join("type/Nul-type.html").exists(), "{list}");
    // The hash of a page that is empty. What somebody has changed is no longer the atlas', and nothing outside ever was.
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
    // A page that somebody has changed stays, and so does the atlas around it. The start of one is an atlas that was torn.
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
    // A list that no atlas wrote makes no atlas, and pages are written through no link.
    full.file("atlas.txt", "letters.txt\n");
    let output = etw(&full.0);
    assert!(output.status.code() == Some(2) && full.0.join("letters.txt").exists(), "{output:?}");
    #[cfg(unix)]
    {
        fs::remove_dir_all(new.0.join("type")).expect("a folder of the atlas");
        std::os::unix::fs::symlink(outside.join("inner"), new.0.join("type")).expect("a link");
        let output = etw(&new.0);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains("link out of the atlas folder"), "{message}");
        assert_eq!(fs::read_dir(outside.join("inner")).expect("a folder").count(), 1);
    }
    fs::remove_dir_all(outside).expect("the temporary folder can be removed");
}

/// The script compares as `etw diff` does, search finds, an offset and a value have their names, and nothing is reported as an error.
#[test]
fn it_works_in_a_browser() {
    let chromium = env::var("ETW_LAYOUTS_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    if !witness::starts(&chromium) {
        return witness::absent("chromium");
    }
    let folder = Folder::new();
    let files = &*FILES;
    for (path, text) in files {
        let path = folder.0.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        fs::write(path, text).expect("a temporary file");
    }
    let (layouts, registry) = specs();
    let pairs = [
        ("10.0.19041.1415-x64", "10.0.22000.434-x64", Some("WMI_LOGGER_CONTEXT")),
        ("6.1.7601.24000-x64", "6.1.7601.17514-x64", None),
        ("5.2.3790-sp1-x64", "10.0.28000.1-arm64", None),
        ("10.0.28000.1-x64", "5.0.2195-x86", None),
        ("6.2.9200.16384-x86", "6.3.9600.17415-x64", None),
        ("10.0.10240.16384-x64", "10.0.10586-x64", None),
    ];
    let asked: Vec<_> = pairs.iter().map(|(a, b, only)| serde_json::json!([a, b, only.unwrap_or("")])).collect();
    let script = format!(
        "const said = [];
        for (const [a, b, only] of {}) {{
            for (const [id, value] of Object.entries({{ a, b, only }})) document.getElementById(id).value = value;
            document.getElementById('diff').textContent = '';
            document.getElementById('compare').requestSubmit();
            for (let n = 0; n < 100 && !document.getElementById('diff').textContent; n++) await wait(20);
            const words = document.getElementById('diff').cloneNode(true);
            words.querySelectorAll('.with').forEach((note) => note.remove());
            said.push(words.textContent);
        }}
        return said;",
        Value::from(asked)
    );
    let found = run(&chromium, &folder, "compare.html", &script);
    for (index, (a, b, only)) in pairs.into_iter().enumerate() {
        assert_eq!(found[index].as_str().unwrap_or_default(), said(&layouts, &registry, a, b, only), "{a} and {b}");
    }
    let search = "const q = document.getElementById('search-words'), found = [];
        for (const words of ['_WMI_LOGGER_CON', 'BuffersWritten', 'EVENT_TRACE_FLAG_PROC', '22000.434', '<b>', 'diskio', 'process/start',
            '0x301', 'WMI_LOG_TYPE_PROCESS_CREATE', 'HighResResponseTime']) {
            q.focus(); q.value = words; q.dispatchEvent(new Event('input'));
            await wait(400);
            const first = document.querySelector('#search-found [aria-selected=true]');
            found.push(first ? first.dataset.page : document.getElementById('search-found').textContent);
        }
        return found;";
    let found = run(&chromium, &folder, "index.html", search);
    let first: Vec<_> = found.as_array().expect("a list").iter().map(|page| page.as_str().unwrap_or_default()).collect();
    assert_eq!(first[0], "type/WMI_LOGGER_CONTEXT.html");
    assert!(first[1].ends_with("#BuffersWritten") && first[2].ends_with("#EVENT_TRACE_FLAG_PROCESS"), "{first:?}");
    assert!(first[3].starts_with("kernel/10.0.22000.434") && first[4] == "no match", "{first:?}");
    let start = "event/Process.html#Start";
    assert_eq!(first[5..9], ["event/DiskIo.html", start, start, start], "{first:?}");
    assert!(first[9].starts_with("event/DiskIo.html#") && first[9].ends_with(".HighResResponseTime"), "{first:?}");
    let offset = "document.getElementById('offset').value = '0x39';
        document.getElementById('of').value = '10.0.19041.1415-x64';
        document.getElementById('of').dispatchEvent(new Event('input'));
        return [...document.querySelectorAll('#offsets tbody tr:not([hidden]) th')].map((cell) => cell.textContent);";
    let found = run(&chromium, &folder, "type/WMI_BUFFER_HEADER.x64.html", offset);
    assert_eq!(found, serde_json::json!(["Pointer0", "GlobalEntry", "Padding1", "ReferenceTime"]));
    let value = "document.getElementById('decode-value').value = '0x3';
        document.getElementById('decode-value').dispatchEvent(new Event('input'));
        return document.getElementById('decode-names').textContent;";
    let found = run(&chromium, &folder, "type/EVENT_TRACE_FLAG.html", value);
    assert_eq!(found, "EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD");
    side_by_side(&chromium, &folder);
    if env::var_os("BLESS").is_some() {
        picture(&chromium, &folder);
    }
}

/// The script draws two versions as the pages of layouts have neighbours; and any two, of a link too.
fn side_by_side(chromium: &str, folder: &Folder) {
    let drawn = |a: &str, b: &str, select: bool, structure: &str| {
        let ask = match select {
            // As somebody at the keyboard does it.
            true => format!(
                "const [one, other] = ['a', 'b'].map((id) => document.getElementById('beside-' + id));
                one.value = '{a}'; other.value = '{b}'; other.dispatchEvent(new Event('change'));"
            ),
            false => format!("location.hash = 'a={a}&b={b}';"),
        };
        let script = format!(
            "{ask} for (let n = 0; n < 100 && !document.querySelector('#beside-outcome svg'); n++) await wait(20);
            const texts = (kind) => [...document.querySelectorAll('#beside-outcome g.' + kind + ' text:last-child')];
            return {{
                picture: document.querySelector('#beside-outcome svg').outerHTML,
                way: document.getElementById('beside-way').textContent,
                links: [...document.querySelectorAll('#beside-way a')].map((link) => link.getAttribute('href')),
                hash: location.hash,
                gone: texts('gone').map((text) => text.textContent),
                new: texts('new').map((text) => text.textContent),
            }};"
        );
        run(chromium, folder, &format!("type/{structure}.html"), &script)
    };
    for (structure, before, now) in [
        ("WMI_LOGGER_CONTEXT", "10.0.22000.1-x64", "10.0.22000.434-x64"),
        ("WMI_BUFFER_HEADER", "6.1.7601.24000-x86", "6.2.9200.16384-x86"),
        ("ETW_REG_ENTRY", "10.0.15063-x64", "10.0.16299.15-x64"),
    ] {
        let by_script = drawn(before, now, true, structure);
        let svg = "return document.querySelector('svg.moved').outerHTML;";
        assert_eq!(by_script["picture"], run(chromium, folder, &format!("layout/{structure}.{now}.html"), svg), "{structure}");
    }
    // What a new reader asks: what changed, which update did it, is it proven?
    let (a, b, structure) = ("10.0.19041.1415-x64", "10.0.22000.434-x64", "WMI_LOGGER_CONTEXT");
    let page = drawn(a, b, false, structure);
    let (layouts, registry) = specs();
    let text = said(&layouts, &registry, a, b, Some(structure));
    let with = |sign: &str| -> Vec<_> {
        let rows = text.lines().filter_map(|line| line.strip_prefix(sign)).map(|row| row.split_whitespace().nth(1));
        rows.flatten().map(Value::from).collect()
    };
    assert_eq!([&page["gone"], &page["new"]], [&Value::from(with("-")), &Value::from(with("+"))]);
    let way = "10.0.19041.1415-x64, which has the layouts of 10.0.19041.985-x64: verified (PDB). 10.0.22000.434-x64: verified against \
               the symbols of this build. Changed with 10.0.19569, 10.0.20348.288, 10.0.22000.1, 10.0.22000.434. Changes that \
               were reverted, or belong to updates of another build: 10.0.19041.1466, 10.0.20348.469. Compare any two targets";
    assert_eq!(page["way"], way);
    assert_eq!(page["links"][3], "#a=10.0.22000.1-x64&b=10.0.22000.434-x64");
    causes(chromium, folder, &text);
    let cut = "await new Promise(requestAnimationFrame); await wait(400);
        const [member, , ...columns] = document.querySelectorAll('.panel.x64 .matrix thead th');
        return Math.min(...columns.map((column) => Math.abs(column.getBoundingClientRect().left - member.getBoundingClientRect().right)));";
    let cut = run(chromium, folder, "type/WMI_LOGGER_CONTEXT.html", cut);
    assert!(cut.as_f64().is_some_and(|cut| cut < 1.5), "no column begins where the table's own part does: {cut}");
    let wrong = "location.hash = 'a=1.2.3-x64&b=10.0.22000.434-x64'; await wait(400);
        return document.getElementById('beside-way').textContent;";
    let wrong = run(chromium, folder, "type/WMI_LOGGER_CONTEXT.html", wrong);
    assert!(
        wrong.as_str().is_some_and(|wrong| wrong.starts_with("1.2.3-x64: no symbols or images of this build were examined;")),
        "{wrong}"
    );
}

/// Each line of a comparison has the kernel with which it came; names are found as by `etw diff`.
fn causes(chromium: &str, folder: &Folder, text: &str) {
    let asked = |a: &str, b: &str, only: &str| {
        let script = format!(
            "location.hash = new URLSearchParams({{ a: '{a}', b: '{b}', only: '{only}' }});
            const way = document.getElementById('way');
            for (let n = 0; n < 100 && !way.textContent; n++) await wait(20);
            const notes = [...document.querySelectorAll('#diff .with')];
            return {{
                way: way.textContent,
                links: [...way.querySelectorAll('a')].map((link) => link.getAttribute('href')),
                first: document.getElementById('diff').textContent.split('\\n')[0],
                notes: notes.map((note) => [note.previousSibling.textContent.trim(), note.textContent]),
                steps: [...document.querySelectorAll('#diff .with a')].map((link) => link.getAttribute('href')),
            }};"
        );
        run(chromium, folder, "compare.html", &script)
    };
    let page = asked("19041.1415", "10.0.22000.434-x64", "nt!_WMI_LOGGER_CONTEXT");
    let notes: Vec<[String; 2]> = serde_json::from_value(page["notes"].clone()).expect("pairs");
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with(['+', '-', '~']) || line.starts_with("WMI_")).collect();
    assert_eq!(notes.iter().map(|[line, _]| line.as_str()).collect::<Vec<_>>(), lines, "each line has a note");
    // What updates did: those that brought 10.0.19041 and 10.0.20348 the same came to nothing on the way to 10.0.22000.
    let note = |member: &str| notes.iter().find(|[line, _]| line.contains(member)).map_or("", |[_, note]| note.as_str());
    let (new, gone) = (
        "with 10.0.22000.434; last build without the change: 10.0.22000.376; both verified (PDB)",
        "last build without the change: 10.0.22000.376; both verified (PDB)",
    );
    assert_eq!(note("PeriodicCaptureStateContext "), new);
    assert_eq!(note("RelativeTimerDueTime"), format!("removed with 10.0.22000.434; {gone}"));
    assert!(
        note("EventMarker")
            .starts_with("absent in 10.0.22000.1, verified (converted symbols); last build without the change: 10.0.20348."),
        "{}",
        note("EventMarker")
    );
    let step = "step/10.0.22000.1-x64--10.0.22000.434-x64.html";
    assert!(FILES.contains_key(step), "{step}");
    assert!(page["links"].as_array().is_some_and(|links| links.len() == 6 && links[3] == step), "{}", page["links"]);
    for link in page["steps"].as_array().into_iter().flatten().chain(page["links"].as_array().into_iter().flatten()) {
        assert!(FILES.contains_key(link.as_str().unwrap_or_default()), "{link}");
    }
    let (layouts, registry) = specs();
    for (a, b, whole) in [
        ("2004-x64", "1709", "1709-x64"),
        ("19041.1415", "10.0.19045.5011", "10.0.19045.5011-x64"),
        ("10.0.19045.1415-x64", "1709", "1709-x64"),
        ("10.0.19045-arm64", "22000.400-arm64", "10.0.22000.400-arm64"),
        ("server-2016-x86", "7601.24000", "6.1.7601.24000-x86"),
    ] {
        let full = if a == "19041.1415" { "10.0.19041.1415-x64" } else { a };
        let text = said(&layouts, &registry, full, whole, None);
        let first = text.lines().find(|line| line.contains(" -> "));
        assert_eq!(asked(a, b, "")["first"].as_str(), first, "{a} and {b}");
    }
    let wrong = asked("2004-x64", "1709", "WMI_LOGER_CONTEXT");
    assert_eq!(wrong["way"], "unknown structure WMI_LOGER_CONTEXT; did you mean WMI_LOGGER_CONTEXT?");
    assert_eq!(wrong["links"], serde_json::json!(["#a=2004-x64&b=1709&only=WMI_LOGGER_CONTEXT"]));
}

/// What a script returns on a page. It fails if the page reports an error.
fn run(chromium: &str, folder: &Folder, path: &str, script: &str) -> Value {
    let text = fs::read_to_string(folder.0.join(path)).expect("a page");
    let first = "<script>window.wrong = []; addEventListener('error', (event) => wrong.push(event.message));
        addEventListener('unhandledrejection', (event) => wrong.push(String(event.reason)));
        console.error = (...words) => wrong.push(words.join(' '));</script>";
    let last = format!(
        "<script>addEventListener('load', async () => {{
        const wait = (time) => new Promise((done) => setTimeout(done, time));
        let outcome;
        try {{ outcome = await (async () => {{ {script} }})(); }} catch (error) {{ wrong.push(String(error)); }}
        const note = document.createElement('textarea');
        note.id = 'outcome-of-test';
        note.textContent = JSON.stringify([wrong, outcome]);
        document.body.append(note);
    }});</script>"
    );
    let text = text.replacen("<head>", &format!("<head>{first}"), 1).replacen("</body>", &format!("{last}</body>"), 1);
    let page = folder.0.join(Path::new(path).with_extension("test.html"));
    fs::write(&page, text).expect("a temporary file");
    let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=30000", "--dump-dom"];
    let address = format!("file://{}", page.display());
    let output = Command::new(chromium).args(arguments).arg(address).output().expect("chromium runs");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let note = dom.split_once("id=\"outcome-of-test\">").and_then(|(_, rest)| rest.split_once("</textarea>"));
    let note = plain(note.unwrap_or_else(|| panic!("{path}: the test's script did not end")).0);
    let [wrong, outcome] = <[Value; 2]>::try_from(serde_json::from_str::<Vec<Value>>(&note).expect("JSON")).expect("two");
    assert_eq!(wrong, serde_json::json!([]), "{path}");
    outcome
}

/// The picture in README.
fn picture(chromium: &str, folder: &Folder) {
    let to = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/atlas.png");
    let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1180,860"];
    let address = format!("file://{}/type/WMI_LOGGER_CONTEXT.html", folder.0.display());
    let to = format!("--screenshot={}", to.display());
    let status = Command::new(chromium).args(arguments).args([to, "--virtual-time-budget=3000".into(), address]).output();
    assert!(status.expect("chromium runs").status.success());
}

fn specs() -> (Layouts, Registry) {
    let layouts = project().layouts().expect("the specs resolve");
    let axis: &Axis = &layouts.spec.axis;
    let registry = project().registry(axis).expect("the facts can be read");
    (layouts, registry)
}

/// The words of `etw diff`, without styles.
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

/// Reads a page, and fails if its elements do not close in turn or an id is there twice.
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
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        page.tags.insert(name.to_owned());
        for attribute in [" id=\"", " href=\"", " src=\""] {
            let Some(value) = tag.split_once(attribute).and_then(|(_, rest)| rest.split_once('"')) else { continue };
            match attribute {
                " id=\"" => assert!(page.ids.insert(plain(value.0)), "{path}: {} is there twice", value.0),
                _ => page.links.push(plain(value.0)),
            }
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{path}: {open:?} do not close");
    page
}

/// Where a link of a page leads, from the root.
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
