//! Tasks of readers on the page of the explorer, in a browser without a network. The page is built by `cargo xtask site`; `cargo xtask ci` builds it and
//! runs this test.

use crate::{Folder, json, run, trace};
use serde_json::{Value, json as value};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};
use test_support::installed;

/// Functions of the test's page, which has the page of the explorer in a frame.
const SCRIPT: &str = include_str!("explorer.js");

#[test]
fn readers_can_do_their_tasks_without_a_network() {
    let Some(page) = env::var_os("ETW_LAYOUTS_EXPLORER").map(PathBuf::from) else {
        return installed::absent("ETW_LAYOUTS_EXPLORER");
    };
    let chromium = env::var("ETW_LAYOUTS_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    if !installed::starts(&chromium) {
        return installed::absent("chromium");
    }
    let page = fs::read_to_string(page).expect("the page of the explorer");
    let tasks = Tasks { chromium, page, folder: Folder::new("explorer") };
    tasks.on_a_trace();
    tasks.with_call_stacks();
    tasks.with_schemas();
    tasks.damaged();
    tasks.without_a_network();
    tasks.axe();
}

struct Tasks {
    chromium: String,
    page: String,
    folder: Folder,
}

impl Tasks {
    /// Opens a trace, reads the report, filters, selects an event, reads a field and its bytes, and saves.
    fn on_a_trace(&self) {
        let file = self.folder.file("known.etl", crate::known(true, 30));
        let found = self.run(
            &[&file],
            "await open('known.etl');
             const report = at('report').textContent.length, events = at('sizes').textContent;
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
             return { report, events, rows, result, fault, name, fields, hit, csv, lines, parquet: parquet.slice(0, 4), again, isShown };",
        );
        let options = ["events", "--order", "time", "--payload", "fields", "--provider", "Process", &file];
        let print = |format: &str| run(&[&options[..], &["--format", format]].concat()).1;
        let (csv, lines) = (print("csv"), print("json"));
        let (all, selected) = (json(&run(&["events", "--format", "json", &file]).1), json(&lines));
        assert!(found["report"].as_u64() > Some(100), "{found}");
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
            "await open('microsoft__net.4.5.2.x64.etl');
             await show('events');
             await filter('event=PerfInfo/SampleProf');
             const counts = at('filter-result').textContent;
             let frames = 0;
             for (let index = 0; index < 50 && frames === 0; index++) {
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

    /// Opens a trace with a file of messages.
    fn with_schemas(&self) {
        let trace = real("ETW_LAYOUTS_CASES", "traces/wpp-pointers.etl");
        let Some((trace, messages)) = trace.zip(real("ETW_LAYOUTS_CASES", "traces/wpp-pointers.tmf")) else { return };
        let found = self.run(
            &[&trace, &messages],
            "await open('wpp-pointers.etl', 'wpp-pointers.tmf');
             await show('events');
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

    /// The page of a damaged trace states what is damaged; a file that is no trace is refused.
    fn damaged(&self) {
        let damaged = self.folder.file("damaged.etl", crate::damaged());
        let nothing = self.folder.file("nothing.etl", b"nothing");
        let found = self.run(
            &[&damaged, &nothing],
            "await open('damaged.etl');
             const problems = [at('sizes').textContent, at('problem-count').textContent, at('problem-list').textContent];
             await open('nothing.etl');
             return [...problems, at('fault').textContent];",
        );
        let (_, _, err) = run(&["events", "--diagnostics", &damaged]);
        let line = err.lines().next().expect("a diagnostic");
        let reason = line.split_once(", offset ").expect("a place").1;
        assert!(found[2].as_str().is_some_and(|text| text.contains(reason)), "{found} {err}");
        assert_eq!(found[1], "1 diagnostic: what is damaged, lost or not used");
        assert!(found[3].as_str().is_some_and(|fault| fault.contains("nothing.etl: not a trace file: only 7 bytes")), "{found}");
    }

    /// Nothing that a script of the page can do reaches a network; each attempt is made, and none arrives.
    fn without_a_network(&self) {
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").expect("a port"), UdpSocket::bind("127.0.0.1:0").expect("a port"));
        let (tcp_port, udp_port) = (tcp.local_addr().expect("a port").port(), udp.local_addr().expect("a port").port());
        tcp.set_nonblocking(true).expect("a socket");
        udp.set_nonblocking(true).expect("a socket");
        let file = self.folder.file("a.etl", trace());
        let script = format!(
            "await open('a.etl');
             const to = 'http://127.0.0.1:{tcp_port}/', failed = [];
             const attempt = async (name, work) => {{ try {{ await Promise.race([work(), wait(3000)]); }} catch (error) {{ failed.push(name); }} }};
             await attempt('fetch', () => page.fetch(to));
             await attempt('WebSocket', () => new Promise((done, failed) => {{ const socket = new page.WebSocket('ws://127.0.0.1:{tcp_port}/'); socket.onopen = done; socket.onerror = failed; }}));
             await attempt('image', () => new Promise((done, failed) => {{ const image = new page.Image(); image.onload = done; image.onerror = failed; image.src = to; page.document.body.append(image); }}));
             await attempt('EventSource', () => new Promise((done, failed) => {{ const source = new page.EventSource(to); source.onopen = done; source.onerror = failed; }}));
             await attempt('WebRTC', async () => {{
                 const peer = new page.RTCPeerConnection({{ iceServers: [{{ urls: 'stun:127.0.0.1:{udp_port}' }}] }});
                 peer.createDataChannel('a');
                 await peer.setLocalDescription(await peer.createOffer());
                 await wait(500);
             }});
             await attempt('window', async () => page.open(to));
             page.navigator.sendBeacon(to, 'a');
             const frame = page.document.createElement('iframe');
             frame.src = to;
             page.document.body.append(frame);
             const form = page.document.createElement('form');
             form.action = to;
             page.document.body.append(form);
             form.submit();
             const link = page.document.createElement('a');
             link.href = to;
             page.document.body.append(link);
             link.click();
             await wait(1500);
             return [failed, page.document === document.querySelector('iframe').contentDocument && !!at('about')];"
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
        // The policy of the page does not allow another script.
        let start = self.page.find("<meta http-equiv=").expect("a policy");
        let end = start + self.page[start..].find('>').expect("its end") + 1;
        let page = format!("{}<script>{axe}</script>{}", &self.page[..start], &self.page[end..]);
        let tasks = Tasks { chromium: self.chromium.clone(), page, folder: Folder::new("explorer-axe") };
        let file = tasks.folder.file("known.etl", crate::known(true, 30));
        let script = "const faults = [], about = ({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' | ');
             const check = async () => { const { violations } = await page.axe.run(page.document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }); faults.push(...violations.map(about)); };
             await check();
             await open('known.etl');
             await check();
             await show('events');
             await select(0);
             await check();
             return [page.matchMedia('(prefers-color-scheme: dark)').matches, faults];";
        for (more, is_dark) in [(&[][..], false), (&["--blink-settings=preferredColorScheme=0"][..], true)] {
            assert_eq!(tasks.run_with(more, &[&file], script), value!([is_dark, []]));
        }
    }

    fn run(&self, files: &[&str], script: &str) -> Value {
        self.run_with(&[], files, script)
    }

    /// The result of a script beside the page. It gets the files from this process. Fails if the page reports an error.
    fn run_with(&self, more: &[&str], files: &[&str], script: &str) -> Value {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = server.local_addr().expect("a port").port();
        self.folder.file("explorer.html", &self.page);
        let test = format!(
            "<!doctype html><html><body><script>const server = 'http://127.0.0.1:{port}/';\n{SCRIPT}\nrun(async () => {{ {script} }});</script></body></html>"
        );
        let test = self.folder.file("test.html", test);
        let profile = format!("--user-data-dir={}", Path::new(&test).with_file_name(format!("profile-{port}")).display());
        let arguments =
            ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--window-size=1280,900", &profile];
        let mut command = Command::new(&self.chromium);
        command.args(arguments).args(more).arg(format!("file://{test}")).stdout(Stdio::null()).stderr(Stdio::null());
        let browser = Browser(command.spawn().expect("chromium runs"));
        let outcome = served(&server, files);
        drop(browser);
        let (wrong, outcome) = (&outcome[0], outcome[1].clone());
        assert_eq!(*wrong, value!([]), "{script}");
        outcome
    }
}

/// A browser, which ends with the value.
struct Browser(Child);

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
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

/// Serves the files by their names until the outcome arrives. Fails after two minutes.
fn served(server: &TcpListener, files: &[&str]) -> Value {
    server.set_nonblocking(true).expect("a socket");
    for _ in 0..12_000 {
        let Ok((stream, _)) = server.accept() else {
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        if let Some(outcome) = answer(stream, files) {
            return outcome;
        }
    }
    panic!("the script did not end");
}

/// Answers a request. Returns the outcome if the request has it.
fn answer(stream: TcpStream, files: &[&str]) -> Option<Value> {
    stream.set_nonblocking(false).ok()?;
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((_, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let name = first.split(' ').nth(1)?.trim_start_matches('/').to_owned();
    let file = files.iter().find(|file| Path::new(file).file_name().is_some_and(|own| *own == *name));
    let content = file.map(|file| fs::read(file).expect("a file")).unwrap_or_default();
    let mut stream = reader.into_inner();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n",
        content.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&content)).ok()?;
    if name == "outcome" { serde_json::from_slice(&body).ok() } else { None }
}
