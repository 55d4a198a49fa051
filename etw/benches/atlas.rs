//! Measures how long a browser takes to load and to paint the largest page of each folder of the atlas, and an empty page for
//! comparison. All pages take turns in each round; the shortest time of all rounds is printed. Times are in milliseconds from the
//! start of the navigation, as reported by the browser. The benchmark needs Chromium, or a browser named by
//! `ETW_LAYOUTS_CHROMIUM`.

use etw_layouts_cli::atlas;
use etw_layouts_project::Project;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};
use test_support::folder::Folder;

const ROUNDS: usize = 10;

/// Prints the load time and the paint time of a page to the console.
const SCRIPT: &str = "<script>
addEventListener('load', () => setTimeout(() => console.log(`TIME load ${performance.getEntriesByType('navigation')[0].loadEventEnd} END`)));
new PerformanceObserver((list) => list.getEntriesByName('first-contentful-paint').forEach(
  (paint) => console.log(`TIME paint ${paint.startTime} END`))).observe({ type: 'paint', buffered: true });
</script></head>";

fn main() {
    let chromium = env::var("ETW_LAYOUTS_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    if Command::new(&chromium).arg("--version").output().is_err() {
        println!("skipped: no chromium; ETW_LAYOUTS_CHROMIUM names one");
        return;
    }
    let folder = Folder::new("atlas");
    let files = atlas::files(&Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))).expect("an atlas");
    let mut pages: Vec<_> = files.iter().filter(|(path, _)| path.ends_with(".html")).collect();
    pages.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    // Keep the largest page of each folder.
    let mut folders = BTreeSet::new();
    pages.retain(|(path, _)| folders.insert(path.split_once('/').map_or("", |(folder, _)| folder)));
    let mut chosen = pages;
    for (path, text) in &files {
        let path = folder.0.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        fs::write(path, text.replacen("</head>", SCRIPT, 1)).expect("a temporary file");
    }
    let empty = ("empty.html".to_owned(), format!("<!doctype html><html><head>{SCRIPT}<body>nothing</body></html>"));
    fs::write(folder.0.join(&empty.0), &empty.1).expect("a temporary file");
    chosen.insert(0, (&empty.0, &empty.1));
    let mut least = vec![[f64::INFINITY; 2]; chosen.len()];
    for _ in 0..ROUNDS {
        for ((path, _), least) in chosen.iter().zip(&mut least) {
            for (time, least) in times(&chromium, &folder.0.join(path)).into_iter().zip(least) {
                *least = time.min(*least);
            }
        }
    }
    for ((path, text), [load, paint]) in chosen.iter().zip(&least) {
        let [paint, load] = [paint, load].map(|time| match time.is_finite() {
            true => format!("after {time:.0} ms"),
            false => "at an unknown time: the browser did not report it".to_owned(),
        });
        println!("{path}, {} KB: painted {paint}, loaded {load}", text.len() / 1000);
    }
}

/// The times at which a page is loaded and painted.
fn times(chromium: &str, page: &Path) -> [f64; 2] {
    let arguments =
        ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900", "--enable-logging=stderr", "--dump-dom"];
    let output =
        Command::new(chromium).args(arguments).arg(format!("file://{}", page.display())).output().expect("chromium runs");
    let said = String::from_utf8_lossy(&output.stderr);
    ["TIME load ", "TIME paint "].map(|what| {
        let time = said.split_once(what).and_then(|(_, rest)| rest.split_once(" END")).map(|(time, _)| time.parse());
        time.and_then(Result::ok).unwrap_or(f64::INFINITY)
    })
}
