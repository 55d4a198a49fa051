//! A browser that tests control: Chromium, by the DevTools protocol over pipes.

use crate::folder::Folder;
use crate::installed;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

/// What a page shares with the script of a test.
const PREAMBLE: &str = "const wait = (time) => new Promise((done) => setTimeout(done, time));
    const until = async (is) => { for (let n = 0; n < 2000 && !is(); n++) await wait(10); };";

/// The options of a browser without a window, which reads and writes messages at the file descriptors 3 and 4.
const OPTIONS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
];

/// A running browser. It ends when this is dropped.
pub struct Browser {
    child: Child,
    connection: RefCell<Connection>,
    /// The profile of the browser.
    _folder: Folder,
}

/// How a page is shown.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Width and height in CSS pixels.
    pub size: [u32; 2],
    pub is_dark: bool,
}

impl Look {
    pub const DESKTOP: Self = Self { size: [1180, 860], is_dark: false };
    pub const PHONE: Self = Self { size: [390, 844], is_dark: false };

    #[must_use]
    pub const fn dark(self) -> Self {
        Self { is_dark: true, ..self }
    }
}

/// An open page, with storage of its own. It is closed when this is dropped.
pub struct Page<'a> {
    browser: &'a Browser,
    context: String,
    session: String,
    address: String,
}

impl Browser {
    /// Starts `ETW_LAYOUTS_CHROMIUM`, or `chromium`. Calls [`installed::absent`] if it is not installed.
    pub fn start() -> Option<Self> {
        let chromium = env::var("ETW_LAYOUTS_CHROMIUM").unwrap_or_else(|_| "chromium".into());
        if !installed::starts(&chromium) {
            installed::absent("chromium");
            return None;
        }
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let folder = Folder::new(&format!("browser-{}", STARTED.fetch_add(1, Ordering::Relaxed)));
        let mut child = installed::program("sh")?
            .command()
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null", &chromium])
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", folder.0.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell starts");
        let (input, output) = (child.stdin.take().expect("a pipe"), BufReader::new(child.stdout.take().expect("a pipe")));
        let connection = Connection { input, output, last: 0, events: VecDeque::new() };
        Some(Self { child, connection: RefCell::new(connection), _folder: folder })
    }

    /// Opens a local file, with the anchor that may follow `#` in its path, and waits until it is loaded.
    pub fn open(&self, path: &Path, look: Look) -> Page<'_> {
        let address = format!("file://{}", path.display());
        let context = text(&self.call(None, "Target.createBrowserContext", &json!({})), "browserContextId");
        let [width, height] = look.size;
        let target = json!({ "url": "about:blank", "browserContextId": context, "width": width, "height": height });
        let target = text(&self.call(None, "Target.createTarget", &target), "targetId");
        let attached = self.call(None, "Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        let page = Page { browser: self, context, session: text(&attached, "sessionId"), address };
        for domain in ["Page", "Runtime", "Network"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page.show(look);
        page.call("Page.navigate", &json!({ "url": page.address }));
        page.loaded();
        page
    }

    fn call(&self, session: Option<&str>, method: &str, parameters: &Value) -> Value {
        self.connection.borrow_mut().call(session, method, parameters)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Page<'_> {
    /// The result of the body of an asynchronous function, which can `await wait(milliseconds)`, and
    /// `await until(() => condition)`, for 20 seconds at most.
    ///
    /// # Panics
    ///
    /// The script or the page had an error.
    pub fn run(&self, script: &str) -> Value {
        let expression = format!("(async () => {{ {PREAMBLE} {script} }})()");
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{}: {}", self.address, answer["exceptionDetails"]);
        assert_eq!(self.errors(), Vec::<String>::new(), "{}", self.address);
        answer["result"]["value"].clone()
    }

    /// Chooses local files in a file input, as a user does.
    pub fn choose(&self, input: &str, files: &[&str]) {
        let find = json!({ "expression": format!("document.querySelector('{input}')") });
        let found = self.call("Runtime.evaluate", &find);
        self.call("DOM.setFileInputFiles", &json!({ "files": files, "objectId": text(&found["result"], "objectId") }));
    }

    /// The errors that the page reported.
    pub fn errors(&self) -> Vec<String> {
        let is_error = |event: &Value| {
            event["method"] == "Runtime.exceptionThrown"
                || event["method"] == "Runtime.consoleAPICalled" && event["params"]["type"] == "error"
        };
        self.events().into_iter().filter(is_error).map(|event| event["params"].to_string()).collect()
    }

    /// The addresses that the page requested.
    pub fn requests(&self) -> Vec<String> {
        let requests = self.events().into_iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        requests.map(|event| text(&event["params"]["request"], "url")).collect()
    }

    /// The private memory of the largest process of a page, in bytes, where the system states it.
    pub fn memory(&self) -> Option<u64> {
        let all = self.browser.call(None, "SystemInfo.getProcessInfo", &json!({}));
        let renderers = all["processInfo"].as_array()?.iter().filter(|process| process["type"] == "renderer");
        let private = renderers.filter_map(|process| {
            let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", process["id"])).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("Private_Dirty:"))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        });
        Some(private.max()? << 10)
    }

    /// What the window shows, as PNG.
    pub fn picture(&self) -> Vec<u8> {
        let picture = self.call("Page.captureScreenshot", &json!({}));
        BASE64_STANDARD.decode(text(&picture, "data")).expect("base64")
    }

    /// Changes the size and the theme.
    pub fn show(&self, look: Look) {
        let [width, height] = look.size;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if look.is_dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// Sends a command of the DevTools protocol to the page.
    ///
    /// # Panics
    ///
    /// The browser refuses the command.
    pub fn call(&self, method: &str, parameters: &Value) -> Value {
        self.browser.call(Some(&self.session), method, parameters)
    }

    fn events(&self) -> Vec<Value> {
        let connection = self.browser.connection.borrow();
        connection.events.iter().filter(|event| event["sessionId"] == self.session.as_str()).cloned().collect()
    }

    fn loaded(&self) {
        let is_loaded = |event: &Value| event["method"] == "Page.loadEventFired" && event["sessionId"] == self.session.as_str();
        let mut connection = self.browser.connection.borrow_mut();
        while !connection.events.iter().any(is_loaded) {
            let message = connection.next();
            connection.events.push_back(message);
        }
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        // A test that failed because the browser ended has no page to close.
        if !std::thread::panicking() {
            self.browser.call(None, "Target.disposeBrowserContext", &json!({ "browserContextId": self.context }));
            self.browser.connection.borrow_mut().events.retain(|event| event["sessionId"] != self.session.as_str());
        }
    }
}

/// Messages to and from the browser: JSON, each with a zero byte at its end.
struct Connection {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The number of the last command.
    last: u64,
    events: VecDeque<Value>,
}

impl Connection {
    fn call(&mut self, session: Option<&str>, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut command = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.input.write_all(format!("{command}\0").as_bytes()).expect("the browser reads");
        loop {
            let message = self.next();
            if message["id"] == self.last {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push_back(message);
        }
    }

    fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).expect("the browser writes");
        assert_eq!(bytes.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&bytes).expect("JSON")
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}
