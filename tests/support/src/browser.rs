//! Pages in a browser.

use crate::installed;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The window size of a phone, in pixels.
pub const PHONE: &str = "--window-size=390,844";
/// The dark theme.
pub const DARK: &str = "--blink-settings=preferredColorScheme=0";

/// The browser, if there is one.
pub fn chromium() -> Option<String> {
    let chromium = env::var("ETW_LAYOUTS_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let starts = installed::starts(&chromium);
    if !starts {
        installed::absent("chromium");
    }
    starts.then_some(chromium)
}

/// Returns the result of a script on a page, which is a file, with the fragment of its address and more arguments for the browser. Fails if the page reports
/// an error.
pub fn run(chromium: &str, more: &[&str], page: &Path, fragment: &str, script: &str) -> Value {
    let text = fs::read_to_string(page).expect("a page");
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
    let path = page.with_extension("test.html");
    fs::write(&path, text).expect("a temporary file");
    let dom = dom(chromium, &[&["--virtual-time-budget=60000"], more].concat(), &path, fragment);
    let page = page.display();
    let note = dom.split_once("id=\"outcome-of-test\">").and_then(|(_, rest)| rest.split_once("</textarea>"));
    let note = note.unwrap_or_else(|| panic!("{page}: the test's script did not end")).0;
    let note = note.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let [wrong, outcome] = <[Value; 2]>::try_from(serde_json::from_str::<Vec<Value>>(&note).expect("JSON")).expect("two");
    assert_eq!(wrong, serde_json::json!([]), "{page}");
    outcome
}

/// The elements of a page after its scripts ran.
pub fn dom(chromium: &str, more: &[&str], page: &Path, fragment: &str) -> String {
    let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"];
    let address = format!("file://{}{fragment}", page.display());
    let output = Command::new(chromium).args(arguments).args(more).arg(address).output().expect("chromium runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
