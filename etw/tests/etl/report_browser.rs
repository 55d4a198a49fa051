//! The page of a report in a browser.

use crate::kernel::{image, process};
use crate::report::{SAMPLES, long};
use crate::{run, text, top};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::{env, fs};
use test_support::browser::{Browser, Look};
use test_support::folder::Folder;
use test_support::installed;
use test_support::records::{Written, written};

/// Waits for the parts of the page, which are made after its first sentences were shown.
const READY: &str = "await until(() => document.querySelector('.answer'));";

/// Writes the page of a trace.
fn page(folder: &Folder, name: &str, trace: Vec<u8>) -> PathBuf {
    let page = folder.0.join(format!("{name}.html"));
    let (status, _, err) = run(&["report", "-o", &text(&page), &folder.file(&format!("{name}.etl"), trace)]);
    assert_eq!(status, 0, "{err}");
    page
}

/// The page shows its data under its own policy, without an error and without a request other than for the file.
#[test]
fn a_page_works_alone() {
    let Some(browser) = Browser::start() else { return };
    let folder = Folder::new("report-alone");
    let page = browser.open(&page(&folder, "long", long()), Look::DESKTOP);
    let shown = page.run(&format!("{READY} return document.body.innerHTML;"));
    let parts = ["Processor time by process", "Flame graph", "class=\"f"];
    assert!(parts.iter().all(|part| shown.as_str().is_some_and(|shown| shown.contains(part))), "{shown}");
    assert!(page.requests().iter().all(|url| url.starts_with("file:")), "{:?}", page.requests());
}

/// A selection by keyboard, by mouse and by touch: all parts follow it. The flame graph can be searched, inverted and enlarged. Hostile names are text.
#[test]
fn a_selection_and_the_flame_graph() {
    let Some(browser) = Browser::start() else { return };
    let folder = Folder::new("report-selection");
    let page = page(&folder, "long", long());
    let script = "
        const over = document.querySelector('.over'), key = (key, shiftKey = false) => over.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true }));
        const total = () => [...document.querySelectorAll('.answer')].find((part) => part.querySelector('h3').textContent === 'Processor time by process').querySelector('tfoot').textContent;
        const flame = () => [...document.querySelectorAll('.flame text')].map((text) => text.textContent);
        const said = [total(), flame()];
        over.focus();
        key('Home');
        for (let n = 0; n < 59; n++) key('ArrowRight', true);
        said.push(total(), document.querySelector('.flames + .readout').textContent, document.querySelector('.chosen output').textContent);
        key('Escape');
        said.push(total());
        const { left, width, top } = over.getBoundingClientRect();
        const point = (type, part, pointerType) => over.dispatchEvent(new PointerEvent(type, { clientX: left + width * part, clientY: top + 5, pointerId: 1, pointerType, bubbles: true }));
        over.setPointerCapture = () => {};
        for (const pointerType of ['mouse', 'touch']) {
            point('pointerdown', 0.501, pointerType);
            point('pointermove', 0.7, pointerType);
            point('pointerup', 0.999, pointerType);
            said.push(total());
            key('Escape');
        }
        const words = document.querySelector('.tools input[type=search]');
        words.value = 'IMG SRC';
        words.dispatchEvent(new Event('input'));
        said.push(document.querySelector('.tools output').textContent, document.querySelectorAll('.hit').length);
        words.value = '';
        document.querySelector('.tools input[type=checkbox]').click();
        said.push(flame().map((text) => text.slice(0, 9)));
        const chart = document.querySelector('.flame');
        for (const one of ['ArrowDown', 'Enter']) chart.dispatchEvent(new KeyboardEvent('keydown', { key: one, bubbles: true }));
        said.push(document.querySelector('.flames + .readout').textContent.replace(/^[^:]*/, ''), document.querySelectorAll('.flame .above').length);
        const functions = () => document.querySelector('[aria-label=\"Functions\"] tbody').textContent;
        const all = functions();
        over.focus();
        key('Home');
        key('Home', true);
        said.push([all, functions()]);
        key('Escape');
        for (const one of document.querySelectorAll('.whole button')) one.click();
        said.push(document.querySelectorAll('img, .etw-report script').length, document.body.textContent.includes('a'.repeat(20000)), document.body.textContent.includes('\\u202e'));
        return said;";
    let said = browser.open(&page, Look::DESKTOP).run(&format!("{READY}{script}"));
    // Samples, milliseconds, and milliseconds without the idle process.
    let total = |count: i64| format!("total100 %{count}{count}{count}");
    assert_eq!(said[0], total(SAMPLES), "{said}");
    assert_eq!(said[1].as_array().map(Vec::len), Some(4), "{said}");
    // The first quarter of the slots has the first quarter of the samples; the second half has half of them.
    assert_eq!(
        (&said[2], &said[5], &said[6], &said[7]),
        (&json!(total(60)), &json!(total(SAMPLES)), &json!(total(120)), &json!(total(120))),
        "{said}"
    );
    assert!(said[3].as_str().is_some_and(|text| text.contains("60 samples, 100 %")), "{said}");
    assert!(said[4].as_str().is_some_and(|text| text.starts_with("Selected: 0 s to 0.")), "{said}");
    assert_eq!((&said[8], &said[9]), (&json!("120 samples of 240 (50 %) match"), &json!(1)), "{said}");
    let inverted: Vec<_> = said[10].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(inverted.len(), 6, "{said}");
    assert_eq!((&said[11], &said[12]), (&json!(": 120 samples, 50 %"), &json!(1)), "{said}");
    assert!(said[13][0].as_str().is_some_and(|all| all.contains("240")), "{said}");
    assert!(said[13][1].as_str().is_some_and(|one| one.ends_with("outer.dll00 %1100 %")), "{said}");
    assert_eq!((&said[14], &said[15], &said[16]), (&json!(0), &json!(true), &json!(false)), "{said}");
}

/// A selection in which only rows that are left out have amounts shows these rows. A long name states its length.
#[test]
fn rare_rows_and_long_names() {
    let Some(browser) = Browser::start() else { return };
    let folder = Folder::new("report-rare");
    let mut image = image(100, &format!("\\Device\\{}.dll", "x".repeat(5_000)));
    let address = 0x7FF6_0000_1000_u64.to_le_bytes();
    image.splice(..8, 0x7FF6_0000_0000_u64.to_le_bytes());
    let mut events = vec![
        Written::kernel(1, 0, 0x0303, process(100, 0x103, "")).version(4),
        Written::kernel(1, 0, 0x0503, [101_u32.to_le_bytes(), 100_u32.to_le_bytes()].concat()).version(0),
        Written::kernel(2, 0, 0x030A, image),
        Written::kernel(3, 0, 0x0F2E, [&address[..], &101_u32.to_le_bytes(), &[1, 0, 0, 0]].concat()),
    ];
    events
        .extend((0..80).map(|event| Written::event(1_000 + event, (5, 6), (u128::from(event as u64 % 40) << 32, 1, 0), vec![])));
    events.push(Written::event(2_400_000, (5, 6), (100 << 32, 1, 0), vec![]));
    let script = "
        const over = document.querySelector('.over'), key = (key, shiftKey) => over.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true }));
        const answer = [...document.querySelectorAll('.answer')].find((part) => part.querySelector('h3').textContent.startsWith('Events by'));
        const names = document.querySelector('[aria-label=\"Functions\"] tbody').textContent;
        over.focus();
        key('End');
        key('End', true);
        return [answer.querySelector('tbody')?.textContent, names];";
    let said = browser.open(&page(&folder, "rare", written(&events)), Look::DESKTOP).run(&format!("{READY}{script}"));
    assert!(said[0].as_str().is_some_and(|rows| rows.contains("other rows1")), "{said}");
    assert!(said[1].as_str().is_some_and(|name| name.contains("x… (5004 characters)")), "{said}");
}

/// On a phone, only tables scroll sideways. No page violates a rule of WCAG 2.1 A or AA that axe can check, with the light or the dark theme.
#[test]
fn pages_can_be_read_by_everyone() {
    let Some(browser) = Browser::start() else { return };
    let folder = Folder::new("report-axe");
    let pages = [("long", long()), ("all", top::trace())].map(|(name, trace)| page(&folder, name, trace));
    for page in &pages {
        let script = "return [document.documentElement.scrollWidth <= innerWidth, document.querySelector('.over').getBoundingClientRect().width > 250];";
        assert_eq!(browser.open(page, Look::PHONE).run(&format!("{READY}{script}")), json!([true, true]));
    }
    let Some(axe) = env::var_os("ETW_LAYOUTS_AXE") else { return installed::absent("axe-core") };
    let axe = fs::read_to_string(axe).expect("axe-core");
    let check = "for (const part of document.querySelectorAll('details')) part.open = true;
        await wait(200);
        const { violations, passes } = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
        return [matchMedia('(prefers-color-scheme: dark)').matches, passes.length > 10,
            violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' | '))];";
    for page in &pages {
        for look in [Look::DESKTOP, Look::DESKTOP.dark()] {
            assert_eq!(browser.open(page, look).run(&format!("{READY}{axe}; {check}")), json!([look.is_dark, true, []]));
        }
    }
}

/// Makes the picture in README, with a selected time.
#[test]
fn picture() {
    if env::var_os("BLESS").is_none() {
        return;
    }
    let Some((browser, traces)) = Browser::start().zip(installed::folder("ETW_LAYOUTS_ETL")) else { return };
    let folder = Folder::new("report-picture");
    let page = page(&folder, "example", fs::read(traces.join("microsoft__net.4.5.2.x64.etl")).unwrap());
    let page = browser.open(&page, Look { size: [1180, 1000], is_dark: false });
    page.run(&format!(
        "{READY}
        const key = (key, shiftKey) => document.querySelector('.over').dispatchEvent(new KeyboardEvent('keydown', {{ key, shiftKey, bubbles: true }}));
        for (let n = 0; n < 60; n++) key('ArrowRight');
        for (let n = 0; n < 40; n++) key('ArrowRight', true);
        await wait(100);"
    ));
    let picture = page.picture();
    assert!(picture.len() < 150_000);
    fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/report.png"), picture).unwrap();
}
