//! Tasks of readers in a browser. Each starts on a freshly opened page and takes at most three actions.

use crate::atlas::{run, specs, written};
use crate::contract::Folder;
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::registry::ExaminedBuild;
use etw_layouts_project::diff::{Verdict, changes, sides};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;
use std::{env, fs};
use test_support::browser::{Browser, Look};

/// Searches with the keyboard only. Returns the page that opens.
const SEARCH: &str = "const search = async (words) => {
    let to = null;
    const stop = (event) => { to = event.destination.url; event.preventDefault(); };
    navigation.addEventListener('navigate', stop);
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
    const input = document.activeElement, count = document.getElementById('search-count');
    count.textContent = '';
    input.value = words;
    input.dispatchEvent(new Event('input'));
    input.form.requestSubmit();
    await until(() => to || /no match|choose one/.test(count.textContent));
    navigation.removeEventListener('navigate', stop);
    return to?.replace(/.*\\/(type|kernel|event)\\/|.*\\//, (all, folder) => folder ? folder + '/' : '') ?? count.textContent;
};";

#[test]
fn readers_can_do_their_tasks_in_a_browser() {
    let Some(atlas) = Atlas::open() else { return };
    atlas.words_of_headings();
    atlas.events_of_providers();
    atlas.what_is_known_of_two_builds();
    atlas.the_names_of_a_value();
    atlas.the_symbols_of_a_build();
    atlas.two_builds();
    atlas.half_a_name();
    atlas.a_kernel_by_its_identity();
    atlas.a_payload();
    atlas.a_page_of_its_own();
    if env::var_os("BLESS").is_some() {
        // The picture in README.
        let page = atlas.browser.open(&atlas.folder.0.join("type/WMI_LOGGER_CONTEXT.html"), Look::DESKTOP);
        page.run("await wait(300);");
        fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/atlas.png"), page.picture()).expect("a picture");
    }
}

pub struct Atlas {
    browser: Browser,
    folder: Folder,
}

impl Atlas {
    /// The atlas in a browser, if one is installed.
    pub fn open() -> Option<Self> {
        Browser::start().map(|browser| Self { browser, folder: written() })
    }

    pub fn run(&self, address: &str, script: &str) -> Value {
        run(&self.browser, &self.folder, address, script)
    }

    /// The page that a search on the first page opens.
    fn search(&self, words: &str) -> String {
        let to = self.run("index.html", &format!("{SEARCH} return await search({});", json!(words)));
        to.as_str().unwrap_or_default().to_owned()
    }

    /// Headings name a target once, a structure that a build lacks has no size, and words of sentences are no links.
    fn words_of_headings(&self) {
        let heading = |address: &str, selector: &str| {
            let text = format!("document.querySelector('{selector}')?.textContent");
            self.run(address, &format!("await until(() => /: 0x|absent/.test({text})); return {text};"))
        };
        let (layouts, _) = specs();
        let target = layouts.spec.axis.find_build("10.0.19044.3570", Arch::X64).expect("a build").target;
        let size = layouts.get(target, "WMI_LOGGER_CONTEXT").expect("a layout").extent().size;
        let expected = format!("10.0.19044.3570-x64: {size:#x} bytes");
        assert_eq!(heading("type/WMI_LOGGER_CONTEXT.html#build=19044.3570", ".panel.x64 .which"), expected);
        let absent = heading("compare.html#a=28000&b=6.1.7601.24000&only=ETW_SILODRIVERSTATE", "#tables h2");
        assert!(absent.as_str().is_some_and(|text| text.ends_with(" bytes → absent")), "{absent}");
        let links = "await until(() => document.querySelector('.panel.x64 .which').textContent.includes('15063'));
            const links = (part) => [...document.querySelectorAll(part)].map((link) => link.textContent);
            return [links('.lead a'), links('.members td:last-child a'), links('.members td:nth-child(4) a')];";
        let [lead, sentences, types] = <[Vec<String>; 3]>::try_from(
            serde_json::from_value::<Vec<Vec<String>>>(self.run("type/ETW_REG_ENTRY.html#build=1703", links)).expect("links"),
        )
        .expect("three");
        assert!(lead.contains(&"ETW_GUID_ENTRY".to_owned()) && types.contains(&"LIST_ENTRY".to_owned()), "{lead:?} {types:?}");
        assert!(!lead.iter().chain(&sentences).any(|link| link == "GUID"), "{lead:?} {sentences:?}");
    }

    /// Providers, events and fields of the catalogue are found; a provider shows its events with their fields.
    fn events_of_providers(&self) {
        let script = "const input = document.getElementById('provider-words'), found = document.getElementById('provider-found'), said = [];
            for (const words of ['kernel-process', 'ImageName ParentProcessID', 'nothing-like-it']) {
                document.getElementById('provider-note').textContent = '';
                input.value = words;
                input.dispatchEvent(new Event('input'));
                await until(() => document.getElementById('provider-note').textContent);
                said.push([document.getElementById('provider-note').textContent, [...found.querySelectorAll('tbody th')].map((cell) => cell.textContent)]);
            }
            return [said, document.getElementById('all-providers').checkVisibility()];";
        let found = self.run("providers.html", script);
        let names = |index: usize| found[0][index][1].as_array().into_iter().flatten().filter_map(Value::as_str);
        for index in [0, 1] {
            assert!(names(index).any(|name| name == "Microsoft-Windows-Kernel-Process"), "{found}");
        }
        assert_eq!((&found[0][2], &found[1]), (&json!(["no match", []]), &json!(false)));
        let script = "await until(() => document.querySelector('#provider-found tbody tr'));
            const rows = [...document.querySelectorAll('#provider-found tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent));
            return [document.getElementById('provider-note').textContent, rows];";
        let entry =
            etw_layouts_catalog::entries().into_iter().find(|entry| entry.provider.name == "Microsoft-Windows-Kernel-Process");
        let provider = entry.expect("a provider").provider;
        let page = self.run(&format!("providers.html#{}", provider.guid), script);
        let rows: Vec<[String; 3]> = serde_json::from_value(page[1].clone()).expect("rows");
        assert!(page[0].as_str().is_some_and(|note| note.starts_with("Microsoft-Windows-Kernel-Process {22fb2cd6-")), "{page}");
        for event in &provider.events {
            let fields = event.fields.iter().flatten().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
            let id = event.id.to_string();
            let is_own = |row: &&[String; 3]| {
                row[0].split(' ').next() == Some(id.as_str()) && row[2].split("or ").any(|list| list == fields)
            };
            assert!(fields.is_empty() || rows.iter().any(|row| is_own(&row)), "{id}, {fields}: {rows:?}");
        }
    }

    /// The numbers of equal and of unknown layouts are those of `diff`.
    fn what_is_known_of_two_builds(&self) {
        let (layouts, registry) = specs();
        for (a, b) in [
            ("26100.1742-x64", "26100.4652-x64"),
            ("10.0.19041.1415-x64", "10.0.19041.1526-x64"),
            ("22H2-arm64", "24H2-arm64"),
            ("6.1.7601.20000-x64", "6.1.7601.23418-x64"),
        ] {
            let (a, b) = (a.replace("22H2", "11-22H2"), b.to_owned());
            let way = self.run(
                &format!("compare.html#a={a}&b={b}"),
                "await until(() => document.getElementById('way').textContent);
                return document.getElementById('way').textContent;",
            );
            let [old, new] = sides(layouts, registry, [&a, &b], None).expect("two targets");
            let found = changes(&old, &new);
            let Verdict { equal, differ, unknown, .. } = Verdict::of(&old, &new, &found);
            let all = equal.len() + differ.len() + unknown.len();
            let counts = format!(": {} of {all} structures, enumerations and flags are equal.", equal.len());
            let rest = if unknown.is_empty() { String::new() } else { format!(" {} unknown, because", unknown.len()) };
            let way = way.as_str().unwrap_or_default();
            assert!(
                way.contains(&format!("{counts}{rest}")) && unknown.iter().all(|name| way.contains(name)),
                "{a} {b}: {way}; {counts}{rest}"
            );
        }
    }

    /// Searches for the flags, and decodes a value.
    fn the_names_of_a_value(&self) {
        let page = self.search("trace flag");
        assert_eq!(page, "type/EVENT_TRACE_FLAG.html");
        let names = "EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD";
        let script = "const input = document.getElementById('decode-value');
            input.value = '0x3';
            input.dispatchEvent(new Event('input'));
            return [document.getElementById('decode-names').textContent, location.hash];";
        assert_eq!(self.run(&page, script), json!([names, "#value=0x3"]));
        let fresh =
            self.run("type/EVENT_TRACE_FLAG.html#value=0x3", "return document.getElementById('decode-names').textContent;");
        assert_eq!(fresh, names);
    }

    /// Searches for the build, and copies with a button.
    fn the_symbols_of_a_build(&self) {
        let (_, registry) = specs();
        let seen = registry
            .builds
            .iter()
            .find(|seen| seen.build.to_string() == "10.0.19041.985" && seen.arch == Arch::X64 && seen.pdb.is_some());
        let guid = format!("{:X}", seen.and_then(|seen| seen.pdb.as_ref()).expect("a PDB").guid.simple());
        let script = "const row = document.querySelector('.identities tbody tr'), copy = row.querySelector('.copy');
            copy.click();
            await until(() => copy.dataset.copied);
            return [row.cells[0].textContent, copy.dataset.copied, row.getBoundingClientRect().top < innerHeight];";
        let [build, copied, is_in_sight] = <[Value; 3]>::try_from(
            serde_json::from_value::<Vec<Value>>(self.run(&self.search("19041.985"), script)).expect("a list"),
        )
        .expect("three");
        let copied = copied.as_str().unwrap_or_default().replace('-', "").to_uppercase();
        assert_eq!((build.as_str(), copied, is_in_sight), (Some("10.0.19041.985"), guid, Value::Bool(true)));
    }

    /// The table equals the output of `etw diff`, for the members of a structure and for the structures of two builds.
    fn two_builds(&self) {
        let (layouts, registry) = specs();
        for (a, b, only) in [
            ("10.0.19041.1415-x64", "10.0.22000.434-x64", "WMI_LOGGER_CONTEXT"),
            ("6.1.7601.24000-x86", "6.2.9200.16384-x86", "WMI_BUFFER_HEADER"),
            ("10.0.15063-x64", "10.0.16299.15-x64", "ETW_REG_ENTRY"),
            ("5.2.3790-sp1-x64", "10.0.28000.1-arm64", "ETW_GUID_ENTRY"),
        ] {
            let page = self.run(
                &format!("compare.html#a={a}&b={b}&only={only}"),
                "await until(() => document.querySelector('#tables section'));
                return [...document.querySelectorAll('#tables tbody tr')].flatMap((row) => row.cells[0].title.split(' ').map((path) => [row.className, path]));",
            );
            let rows: BTreeSet<(String, String)> = serde_json::from_value(page).expect("pairs");
            let [old, new] = sides(layouts, registry, [a, b], Some(only)).expect("two targets");
            let found = changes(&old, &new);
            for (list, entries) in found.lists() {
                let kind = match list {
                    "added" => "new",
                    "removed" => "gone",
                    "moved" => "moved",
                    _ => continue,
                };
                for path in entries.iter().filter_map(|entry| entry.member.as_deref()).filter(|path| !path.contains('.')) {
                    let own =
                        rows.iter().find(|(_, row)| row == path).unwrap_or_else(|| panic!("{a} {b}: {path} is not in the table"));
                    assert!(own.0 == kind || kind == "moved" && own.0 == "typed", "{a} {b}: {path} is {}, not {kind}", own.0);
                }
            }
        }
        let page = self.run(
            "compare.html#a=2004&b=1709",
            "await until(() => document.querySelector('#tables section'));
            const names = () => [...document.querySelectorAll('#tables section')].map((section) => section.querySelector('h2 a').textContent);
            const before = names();
            document.getElementById('tables').replaceChildren();
            document.getElementById('swap').click();
            await until(() => document.querySelector('#tables section'));
            return [before, names(), location.hash, document.getElementById('way').textContent];",
        );
        let [old, new] = sides(layouts, registry, ["2004-x64", "1709-x64"], None).expect("two targets");
        let names: BTreeSet<&str> = page[0].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (_, entries) in changes(&old, &new).lists() {
            assert!(entries.iter().all(|entry| names.contains(entry.structure.as_str())), "{names:?}");
        }
        assert_eq!((&page[0], &page[2]), (&page[1], &json!("#a=1709&b=2004")), "{page}");
        let wrong =
            "await until(() => document.getElementById('way').textContent); return document.getElementById('way').textContent;";
        let wrong = self.run("compare.html#a=1.2.3&b=1709", wrong);
        assert!(wrong.as_str().is_some_and(|wrong| wrong.starts_with("unknown build 1.2.3 for x64;")), "{wrong}");
    }

    /// Any part of a name is found, also before the data is loaded.
    fn half_a_name(&self) {
        let words = [
            "_WMI_LOGGER_CON",
            "guid entry",
            "BuffersWritten",
            "EVENT_TRACE_FLAG_PROC",
            "22000.434",
            "<b>",
            "diskio",
            "process/start",
            "0x301",
            "WMI_LOG_TYPE_PROCESS_CREATE",
            "HighResResponseTime",
            "24h2",
            "KB5009566",
            "WMI_LOGGER_CONTEXT+0x398 1703",
            "wmi logger mode",
            "22H2",
            "EtwpHostSiloState",
            "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716",
        ];
        let script = format!(
            "{SEARCH} const found = []; for (const words of {}) found.push(await search(words));
            const input = document.getElementById('search-words');
            input.value = 'logger mode'; input.dispatchEvent(new Event('input')); await wait(0);
            input.focus();
            for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp'])
                document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true }}));
            return [found, document.activeElement.firstChild.textContent];",
            json!(words)
        );
        let found = self.run("index.html", &script);
        let first: Vec<&str> = found[0].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let expected = [
            "type/WMI_LOGGER_CONTEXT.html",
            "type/ETW_GUID_ENTRY.html",
            "type/WMI_LOGGER_CONTEXT.html#BuffersWritten",
            "type/EVENT_TRACE_FLAG.html#EVENT_TRACE_FLAG_PROCESS",
            "kernel/10.0.22000.434-x64.html#evidence",
            "no match",
            "event/DiskIo.html",
            "event/Process.html#Start",
            "event/Process.html#Start",
            "event/Process.html#Start",
        ];
        assert_eq!(first[..10], expected, "{first:?}");
        assert!(first[10].starts_with("event/DiskIo.html#") && first[10].ends_with(".HighResResponseTime"), "{first:?}");
        assert!(first[11].starts_with("kernel/10.0.26100.") && first[12].starts_with("kernel/10.0.22000.434-"), "{first:?}");
        assert_eq!(first[13], "type/WMI_LOGGER_CONTEXT.html#build=1703&member=0x398", "{first:?}");
        assert_eq!(first[14], "type/WMI_LOGGER_MODE.html", "{first:?}");
        // An ambiguous label opens no page: the reader chooses.
        assert_eq!(first[15], "ambiguous release 22H2; choose one. 5 found", "{first:?}");
        assert_eq!(first[16], "variables.html#EtwpHostSiloState", "{first:?}");
        assert_eq!(first[17], "providers.html#22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716", "{first:?}");
        // Members with this name come before members of a structure with this name.
        assert!(found[1].as_str().is_some_and(|name| name.ends_with(".LoggerMode")), "{}", found[1]);
    }

    fn a_kernel_by_its_identity(&self) {
        let (_, registry) = specs();
        let (layouts, _) = specs();
        let page = |seen: &ExaminedBuild| {
            let target = layouts.spec.axis.at(seen.build, seen.arch).expect("a target");
            let pdb = seen.pdb.as_ref().map(|pdb| format!("pdb-{:x}{:x}", pdb.guid.simple(), pdb.age));
            let id = pdb.or_else(|| seen.image.as_ref().map(|image| format!("image-{:08x}", image.time_stamp)));
            format!("kernel/{}.html#{}", layouts.spec.axis.target_name(target), id.expect("an identity"))
        };
        let own = |seen: &&ExaminedBuild| seen.arch == Arch::X64 && layouts.spec.axis.at(seen.build, seen.arch).is_some();
        let symbols = registry.builds.iter().filter(own).rfind(|seen| seen.pdb.is_some()).expect("a kernel");
        let image = registry.builds.iter().filter(own).rfind(|seen| seen.image.is_some()).expect("a kernel");
        let pdb = symbols.pdb.as_ref().expect("a PDB");
        let guid = format!("{:X}", pdb.guid.simple());
        let dashed = format!("{{{}-{}-{}-{}-{}}}", &guid[..8], &guid[8..12], &guid[12..16], &guid[16..20], &guid[20..]);
        let stamp = format!("0x{:08x}", image.image.as_ref().expect("an image").time_stamp);
        let words = json!([guid, dashed, format!("{guid}{}", pdb.age), stamp]);
        let script =
            format!("{SEARCH} const found = []; for (const words of {words}) found.push(await search(words)); return found;");
        let found = self.run("legend.html", &script);
        assert_eq!(found, json!([page(symbols), page(symbols), page(symbols), page(image)]));
        // The link expands the part of the table with the row.
        let script = "const row = document.querySelector(':target');
            return [row.cells[0].textContent, row.checkVisibility()];";
        assert_eq!(self.run(&page(symbols), script), json!([symbols.build.to_string(), true]));
    }

    fn a_payload(&self) {
        let mut bytes = 0xffff_8000_1234_5678_u64.to_le_bytes().to_vec();
        [4_u32, 3, 2].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend((-2_i32).to_le_bytes());
        bytes.extend(0x1ad000_u64.to_le_bytes());
        bytes.extend([1, 0, 0, 0]);
        // A TOKEN_USER of 16 bytes, and the SID S-1-5-18.
        bytes.extend([[7; 16].as_slice(), &[1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]].concat());
        bytes.extend(b"a.exe\0b\0 \0c\0\0\0\0\0\0\0\xee");
        let text: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
        let script = format!(
            "document.getElementById('payload-version').selectedIndex =
                [...document.getElementById('payload-version').options].findIndex((option) => option.text === 'Start, version 4');
            document.getElementById('payload-bytes').value = '{text}';
            document.getElementById('payload-form').requestSubmit();
            const output = document.getElementById('payload-fields');
            return [[...output.querySelectorAll('tr')].map((row) => [row.cells[0].textContent, row.cells[1].textContent, row.cells[3].textContent]), output.lastChild.textContent];"
        );
        let rows = json!([
            ["0x00", "UniqueProcessKey", "0xffff800012345678 (18446603336526616184)"],
            ["0x08", "ProcessId", "0x4 (4)"],
            ["0x0c", "ParentId", "0x3 (3)"],
            ["0x10", "SessionId", "0x2 (2)"],
            ["0x14", "ExitStatus", "-2"],
            ["0x18", "DirectoryTableBase", "0x1ad000 (1757184)"],
            ["0x20", "Flags", "0x1 (1)"],
            ["0x24", "UserSID", "S-1-5-18"],
            ["0x40", "ImageFileName", "\"a.exe\""],
            ["0x46", "CommandLine", "\"b c\""],
            ["0x4e", "PackageFullName", "\"\""],
            ["0x50", "ApplicationId", "\"\""],
        ]);
        assert_eq!(self.run("event/Process.html", &script), json!([rows, "bytes after the last field: ee"]));
    }

    /// `etw open` writes a page that needs no other file.
    fn a_page_of_its_own(&self) {
        let path = self.folder.0.join("own.html");
        let etw = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
            command.args(["open", "WMI_BUFFER_HEADER", "-o"]).arg(&path).output().expect("etw runs")
        };
        assert_eq!(String::from_utf8_lossy(&etw().stdout).trim(), path.display().to_string());
        let again = etw();
        let message = String::from_utf8_lossy(&again.stderr);
        assert!(again.status.code() == Some(2) && message.contains("already exists"), "{message}");
        let text = fs::read_to_string(&path).expect("a page");
        let links = text.split(" href=\"").skip(1).filter(|link| !link.starts_with('#')).count();
        assert!(links == 0 && !text.contains(" src="), "the page needs other files: {links}");
        let script = "await until(() => document.getElementById('ask-answer').textContent);
            const whole = document.querySelector('.panel.x64 .copy + .copy');
            whole.click();
            await until(() => whole.dataset.copied);
            return [document.getElementById('ask-answer').textContent, whole.dataset.copied.includes('typedef struct _LIST_ENTRY {')];";
        let said = self.run("own.html#build=1703&member=0x18", script);
        let answer = "SequenceNumber 0x0018, LONGLONG at 10.0.15063-x64: verified against converted symbols of this build.";
        assert_eq!(said, json!([answer, true]));
        let etw =
            |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_etw")).arg("open").args(arguments).output().expect("etw runs");
        let of_build = self.folder.0.join("build.html").display().to_string();
        assert!(etw(&["WMI_BUFFER_HEADER", "--build", "1703", "-o", &of_build]).status.success());
        let script = "await until(() => document.querySelector('.panel.x64 .which').textContent.includes('15063')); return document.querySelector('.panel.x64 .which').textContent;";
        assert_eq!(self.run("build.html", script), "Windows 10 version 1703 (15063), x64: 0x48 bytes");
    }
}
