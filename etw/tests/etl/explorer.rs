//! Tasks of readers on the page of the explorer, in a browser without a network. The page is built by `cargo xtask site`; `cargo xtask ci --weekly`
//! builds it and runs this test.

use crate::profile::{BASE, compiled, stacked_events};
use crate::{Folder, json, run, trace};
use serde_json::{Value, json as value};
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};
use test_support::browser::{Browser, Look, Page};
use test_support::installed;
use test_support::records::{Written, written};

/// Functions for the scripts of the tests.
const SCRIPT: &str = include_str!("explorer.js");

#[test]
fn readers_can_do_their_tasks_without_a_network() {
    let Some(page) = env::var_os("ETW_LAYOUTS_EXPLORER").map(PathBuf::from) else {
        return installed::absent("ETW_LAYOUTS_EXPLORER");
    };
    let Some(browser) = Browser::start() else { return };
    let tasks = Tasks { browser, page, folder: Folder::new("explorer") };
    tasks.on_a_trace();
    tasks.with_call_stacks();
    tasks.with_functions();
    tasks.with_schemas();
    tasks.in_little_memory();
    tasks.damaged();
    tasks.hostile();
    tasks.without_a_network();
    tasks.axe();
}

struct Tasks {
    browser: Browser,
    page: PathBuf,
    folder: Folder,
}

impl Tasks {
    /// Opens a trace, reads the report, filters, selects an event, reads a field and its bytes, and saves.
    fn on_a_trace(&self) {
        let file = self.folder.file("known.etl", crate::known(true, 30));
        let found = self.run(
            &[&file],
            "const report = at('report').textContent.length, events = at('sizes').textContent;
             await until(() => document.querySelector('#report td svg'));
             const isOutside = (one, of) => one.left < of.left - 1 || one.right > of.right + 1;
             const bars = [...document.querySelectorAll('#report td svg')].map((bar) => isOutside(bar.getBoundingClientRect(), bar.closest('td').getBoundingClientRect()));
             await show('events');
             const rows = at('table').getAttribute('aria-rowcount');
             await filter('provider=Process');
             const result = at('filter-result').textContent;
             await filter('nonsense=1');
             const fault = at('fault').textContent;
             await filter('provider=Process');
             await select(0);
             const name = at('detail').querySelector('h2').textContent, fields = pairs();
             const line = [...at('detail').querySelectorAll('.bytes-box tbody tr')].find((line) => line.cells[2].textContent === 'ThreadId');
             line?.querySelector('button').click();
             const hit = [...at('detail').querySelectorAll('.dump .hit')].map((byte) => byte.textContent);
             const csv = await save('csv'), lines = await save('jsonl'), parquet = await save('parquet');
             const etl = await saved('etl');
             await filter('');
             await openBytes('smaller.etl', etl);
             const again = at('sizes').textContent, isShown = !at('about').hidden;
             return { report, events, bars, rows, result, fault, name, fields, hit, csv, lines, parquet: parquet.slice(0, 4), again, isShown };",
        );
        let options = ["events", "--order", "time", "--payload", "fields", "--provider", "Process", &file];
        let print = |format: &str| run(&[&options[..], &["--format", format]].concat()).1;
        let (csv, lines) = (print("csv"), print("json"));
        let (all, selected) = (json(&run(&["events", "--format", "json", &file]).1), json(&lines));
        assert!(found["report"].as_u64() > Some(100), "{found}");
        let bars = found["bars"].as_array().expect("a list");
        assert!(!bars.is_empty() && bars.iter().all(|is_outside| is_outside == false), "bars outside of their cells: {bars:?}");
        let plain = |text: &Value| text.as_str().unwrap_or_default().replace(',', "");
        assert!(plain(&found["events"]).starts_with(&format!("{} events ", all.len())), "{found}");
        assert_eq!(found["rows"], (all.len() + 1).to_string());
        assert_eq!(plain(&found["result"]), format!("{} of {} events", selected.len(), all.len()));
        assert!(
            found["fault"].as_str().is_some_and(|fault| fault.starts_with("unknown option `nonsense`; known options: provider,"))
        );
        assert_eq!(found["name"], selected[0]["event"]);
        for (name, field) in selected[0]["fields"].as_object().into_iter().flatten().filter(|(_, field)| field.is_number()) {
            assert_eq!(found["fields"][name], field.to_string(), "{name}");
        }
        // Headers of PERFINFO have no thread.
        if let Some(thread) = selected[0]["header_thread"].as_u64() {
            assert_eq!(found["hit"], value!((thread as u32).to_le_bytes().map(|byte| format!("{byte:02x}"))));
        }
        assert!(found["csv"] == csv, "{}\n{csv}", found["csv"]);
        let without_file =
            |lines: &str| json(lines).into_iter().map(|mut line| (line["file"].take(), line).1).collect::<Vec<_>>();
        assert_eq!(without_file(found["lines"].as_str().unwrap_or_default()), without_file(&lines));
        assert_eq!(found["parquet"], "PAR1");
        assert!(found["isShown"] == true && found["again"] != found["events"], "{found}");
    }

    /// Reads a call stack of a real trace.
    fn with_call_stacks(&self) {
        let Some(file) = real("ETW_LAYOUTS_ETL", "microsoft__net.4.5.2.x64.etl") else { return };
        let found = self.run(
            &[&file],
            "await show('events');
             await filter('event=PerfInfo/SampleProf');
             const counts = at('filter-result').textContent;
             let frames = 0;
             for (let index = 0; index < 50 && frames < 4; index++) {
                 await select(index);
                 frames = at('detail').querySelectorAll('.stack li').length;
             }
             return [counts, frames, at('detail').querySelector('.stack')?.textContent];",
        );
        assert!(
            found[1].as_u64() > Some(3)
                && found[2]
                    .as_str()
                    .is_some_and(|text| text.contains("ntoskrnl.exe") || text.contains(".sys+") || text.contains(".dll+")),
            "{found}"
        );
    }

    /// Names the functions of samples and call stacks by a program database that is dropped later, and states that another one names none.
    fn with_functions(&self) {
        let Some((identity, pdb, stop)) = compiled(&self.folder) else { return };
        let sample = |thread: u32| [&(BASE + stop).to_le_bytes()[..], &thread.to_le_bytes(), &[1, 0, 0, 0]].concat();
        let mut events = stacked_events(&identity, &[BASE + stop + 1]);
        events.push(Written::kernel(2, 0, 0x0503, [7_u32, 5].map(u32::to_le_bytes).concat()));
        events.push(Written::kernel(40, 0, 0x0F2E, sample(5)));
        let trace = self.folder.file("traced.etl", written(&events));
        let page = self.opened(Look::DESKTOP, &[&trace]);
        let look = |page: &Page<'_>| {
            page.run(&format!(
                "{SCRIPT} await show('events');
                 await filter('id=1');
                 await select(0);
                 const stack = [...at('detail').querySelectorAll('.stack li')].map((line) => line.textContent);
                 await until(() => document.querySelector('[aria-label=\"Functions\"] tbody'));
                 const functions = document.querySelector('[aria-label=\"Functions\"] tbody').textContent;
                 return [stack, functions, at('problem-list').textContent];"
            ))
        };
        let before = look(&page);
        assert!(before[1].as_str().is_some_and(|names| names.contains("traced.dll") && !names.contains("inner")), "{before}");
        give(&page, &[&crate::text(&pdb), &self.folder.file("other.pdb", test_support::pdb::file())]);
        let after = look(&page);
        let stack: Vec<_> = after[0].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let starts =
            ["no images ", "inner ", "middle ", "outer "].iter().zip(&stack).filter(|(start, line)| line.starts_with(**start));
        assert_eq!((starts.count(), stack.len()), (4, 4), "{after}");
        assert!(stack[1].contains("traced.c:5") && stack[3].contains("traced.c:13"), "{after}");
        assert!(after[1].as_str().is_some_and(|names| names.contains("inner") && names.contains("traced.dll!outer")), "{after}");
        let unused = "other.pdb: no function in the report: no call stack of a sample has an address in its image";
        assert_eq!(after[2], unused);
        // A name is outside of the names of streams, so that the reader panics: the page states it, and goes on without the file.
        let mut damaged = fs::read(&pdb).expect("a file");
        let start = [&20_000_404_u32.to_le_bytes()[..], &identity[..16]];
        let starts = |bytes: &[u8]| bytes.starts_with(start[0]) && bytes.ends_with(start[1]);
        let names = damaged.windows(28).position(starts).expect("the version and the GUID") + 28;
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) as usize;
        // The size of the names and the names; the numbers of names and of places; two sets of bits, each with its size.
        let used = names + 4 + word(&damaged, names) + 8;
        let deleted = used + 4 + 4 * word(&damaged, used);
        let first = deleted + 4 + 4 * word(&damaged, deleted);
        damaged[first + 2] = 1;
        let fault = |page: &Page<'_>| page.run("return document.getElementById('fault').textContent;").to_string();
        give(&page, &[&trace, &self.folder.file("damaged.pdb", damaged)]);
        let said = fault(&page);
        assert!(said.contains("error of the program: panicked at ") && said.contains("open them again, without"), "{said}");
        give(&page, &[&trace]);
        assert_eq!((fault(&page).as_str(), look(&page)[1].as_str().map(|names| names.contains("inner"))), ("\"\"", Some(true)));
    }

    /// Opens a trace with a file of messages.
    fn with_schemas(&self) {
        let trace = real("ETW_LAYOUTS_CASES", "traces/wpp-pointers.etl");
        let Some((trace, messages)) = trace.zip(real("ETW_LAYOUTS_CASES", "traces/wpp-pointers.tmf")) else { return };
        let found = self.run(
            &[&trace, &messages],
            "await show('events');
             const rows = Number(at('table').getAttribute('aria-rowcount')) - 1, messages = [];
             for (let index = 0; index < rows; index++) {
                 await select(index);
                 messages.push(at('detail').querySelector('.message')?.textContent ?? null);
             }
             return messages;",
        );
        let lines =
            json(&run(&["events", "--order", "time", "--format", "json", "--payload", "message", "--tmf", &messages, &trace]).1);
        let expected: Vec<_> = lines.iter().map(|line| line["message"].clone()).collect();
        assert!(expected.iter().any(Value::is_string), "{expected:?}");
        assert_eq!(found, value!(expected));
    }

    /// A trace and several filters need at most 64 MB and 3 times the file. A program that is not optimized, whose page has more than 7 MB, needs
    /// 32 MB more for its code.
    fn in_little_memory(&self) {
        let Some(packed) = real("ETW_LAYOUTS_ETL", "microsoft__net.4.5.2.x64.etl") else { return };
        let file = crate::text(&self.folder.0.join("large.etl"));
        let (status, _, err) = run(&["save", "-o", &file, &packed]);
        assert_eq!(status, 0, "{err}");
        let page = self.opened(Look::DESKTOP, &[&file]);
        page.run(&format!("{SCRIPT} await show('events'); for (const word of ['a', 'b', 'c', 'd', 'e']) await filter(word);"));
        page.call("HeapProfiler.collectGarbage", &value!({}));
        let size = |file: &Path| fs::metadata(file).expect("a file").len();
        let code = if size(Path::new(&self.page)) > 7_000_000 { 32 << 20 } else { 0 };
        let most = (64 << 20) + 3 * size(Path::new(&file)) + code;
        assert!(page.memory().is_none_or(|memory| memory < most), "{:?} of {most}", page.memory());
    }

    /// The page of a damaged trace states what is damaged; a file that is no trace is refused.
    fn damaged(&self) {
        let damaged = self.folder.file("damaged.etl", crate::damaged());
        let nothing = self.folder.file("nothing.etl", b"nothing");
        let page = self.opened(Look::DESKTOP, &[&damaged]);
        let texts =
            "return ['sizes', 'problem-count', 'problem-list', 'fault'].map((id) => document.getElementById(id).textContent);";
        let found = page.run(texts);
        give(&page, &[&nothing]);
        let refused = page.run(texts);
        let (_, _, err) = run(&["events", "--diagnostics", &damaged]);
        let line = err.lines().next().expect("a diagnostic");
        let reason = line.split_once(", offset ").expect("a place").1;
        assert!(found[2].as_str().is_some_and(|text| text.contains(reason)), "{found} {err}");
        assert_eq!(found[1], "1 diagnostic: what is damaged, lost or not used");
        assert!(
            refused[3].as_str().is_some_and(|fault| fault.contains("nothing.etl: not a trace file: only 7 bytes")),
            "{refused}"
        );
    }

    /// Names of a hostile trace are text in the report, in the table of events and in an event: none becomes an element, and none changes the direction of text.
    fn hostile(&self) {
        let file = self.folder.file("hostile.etl", crate::report::long());
        let found = self.run(
            &[&file],
            "const state = () => [document.querySelectorAll('img, #report script, #events script').length, /[\\u202e\\u2028]/.test(document.body.textContent)];
             for (const one of document.querySelectorAll('.whole button')) one.click();
             const report = [at('report').textContent.includes('a'.repeat(20000)), ...state()];
             await show('events');
             await filter('event=Image/Load');
             await select(1);
             const image = [at('detail').textContent.includes('<img src=x onerror=alert(1)>\\\\u{202e}\\\\u{2028}.dll'), ...state()];
             await filter('provider=Process');
             await select(0);
             return [report, image, [at('detail').textContent.includes('</script>'), ...state()], globalThis.wrong ?? null];",
        );
        assert_eq!(found, value!([[true, 0, false], [true, 0, false], [true, 0, false], null]));
    }

    /// Nothing that a script of the page can do reaches a network; each attempt is made, and none arrives.
    fn without_a_network(&self) {
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").expect("a port"), UdpSocket::bind("127.0.0.1:0").expect("a port"));
        let (tcp_port, udp_port) = (tcp.local_addr().expect("a port").port(), udp.local_addr().expect("a port").port());
        tcp.set_nonblocking(true).expect("a socket");
        udp.set_nonblocking(true).expect("a socket");
        let file = self.folder.file("a.etl", trace());
        let script = format!(
            "const to = 'http://127.0.0.1:{tcp_port}/', failed = [];
             const attempt = async (name, work) => {{ try {{ await Promise.race([work(), wait(3000)]); }} catch (error) {{ failed.push(name); }} }};
             await attempt('fetch', () => fetch(to));
             await attempt('WebSocket', () => new Promise((done, failed) => {{ const socket = new WebSocket('ws://127.0.0.1:{tcp_port}/'); socket.onopen = done; socket.onerror = failed; }}));
             await attempt('image', () => new Promise((done, failed) => {{ const image = new Image(); image.onload = done; image.onerror = failed; image.src = to; document.body.append(image); }}));
             await attempt('EventSource', () => new Promise((done, failed) => {{ const source = new EventSource(to); source.onopen = done; source.onerror = failed; }}));
             await attempt('WebRTC', async () => {{
                 const peer = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:127.0.0.1:{udp_port}' }}] }});
                 peer.createDataChannel('a');
                 await peer.setLocalDescription(await peer.createOffer());
                 await wait(500);
             }});
             await attempt('window', async () => open(to));
             navigator.sendBeacon(to, 'a');
             const frame = document.createElement('iframe');
             frame.src = to;
             document.body.append(frame);
             const form = document.createElement('form');
             form.action = to;
             document.body.append(form);
             form.submit();
             const link = document.createElement('a');
             link.href = to;
             document.body.append(link);
             link.click();
             await wait(1500);
             return [failed, !!at('about')];"
        );
        let found = self.run(&[&file], &script);
        assert_eq!(found, value!([["fetch", "WebSocket", "image", "EventSource", "WebRTC", "window"], true]));
        // A browser connects for a frame before it applies the policy, but sends nothing.
        while let Ok((mut stream, _)) = tcp.accept() {
            stream.set_read_timeout(Some(Duration::from_secs(1))).expect("a socket");
            let mut bytes = [0; 64];
            assert_eq!(stream.read(&mut bytes).unwrap_or(0), 0, "{}", String::from_utf8_lossy(&bytes));
        }
        assert!(udp.recv(&mut [0; 64]).is_err(), "a packet arrived");
    }

    /// The page violates no rule of WCAG 2.1 A or AA that axe can check, with the light or the dark theme.
    fn axe(&self) {
        let Some(axe) = env::var_os("ETW_LAYOUTS_AXE") else { return installed::absent("axe-core") };
        let axe = fs::read_to_string(axe).expect("axe");
        let file = self.folder.file("known.etl", crate::known(true, 30));
        let check = format!(
            "{axe}; const {{ violations }} = await axe.run(document, {{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }});
             return violations.map(({{ id, nodes }}) => id + ': ' + nodes.slice(0, 3).map(({{ html }}) => html.slice(0, 200)).join(' | '));"
        );
        for look in [Look::DESKTOP, Look::DESKTOP.dark()] {
            let page = self.browser.open(&self.page, look);
            assert_eq!(page.run(&check), value!([]));
            give(&page, &[&file]);
            assert_eq!(page.run(&check), value!([]));
            page.run(&format!("{SCRIPT} await show('events'); await select(0);"));
            assert_eq!(page.run(&check), value!([]));
        }
    }

    fn run(&self, files: &[&str], script: &str) -> Value {
        self.opened(Look::DESKTOP, files).run(&format!("{SCRIPT}{script}"))
    }

    /// The page with open files.
    fn opened(&self, look: Look, files: &[&str]) -> Page<'_> {
        let page = self.browser.open(&self.page, look);
        give(&page, files);
        page
    }
}

/// Opens files on the page.
fn give(page: &Page<'_>, files: &[&str]) {
    page.choose("#files", files);
    page.run(&format!("{SCRIPT} await idle();"));
}

/// A file of a folder with real files, if it is there.
fn real(variable: &str, name: &str) -> Option<String> {
    let path = installed::folder(variable)?.join(name);
    if !path.exists() {
        installed::absent(name);
        return None;
    }
    Some(crate::text(&path))
}
