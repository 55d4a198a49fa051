//! The atlas in a browser: what stays visible, and the rules of WCAG, checked by axe.

use crate::atlas::{FILES, run, written};
use serde_json::{Value, json};
use std::{env, fs};
use test_support::browser::{Browser, Look};
use test_support::installed;

/// At every scroll position of the history, each visible cell shows its offset.
#[test]
fn offsets_stay_visible() {
    let Some(browser) = Browser::start() else { return };
    let script = "document.getElementById('view-history').click();
        const part = document.querySelector('.panel.x64 .past .scroll:has(.matrix)'), lost = [];
        part.style.width = '390px';
        document.querySelector('.panel.x64 .matrix').style.setProperty('--first', '9rem');
        await wait(50);
        const edge = part.querySelector('thead th').getBoundingClientRect().right, end = part.getBoundingClientRect().right;
        for (let at = 0; at <= part.scrollWidth; at += 300) {
            part.scrollLeft = at;
            for (const cell of part.querySelectorAll('tbody td[class]:not(.absent)')) {
                const { left, right } = cell.getBoundingClientRect();
                if (Math.min(right, end) - Math.max(left, edge) < 110) continue;
                const range = document.createRange();
                range.selectNodeContents(cell);
                const text = range.getBoundingClientRect();
                if (text.left < edge - 1 || text.left + 50 > end) lost.push(cell.closest('tr').cells[0].textContent + ' at ' + at);
            }
        }
        part.scrollTop = 2000;
        await wait(50);
        const head = part.querySelector('thead th:last-child').getBoundingClientRect(), whole = part.getBoundingClientRect();
        return [lost, Math.abs(head.top - whole.top) < 2];";
    assert_eq!(run(&browser, &written(), "type/WMI_LOGGER_CONTEXT.html", script), json!([[], true]));
}

/// On a phone, the build selection and its answer stay visible, and most of the screen shows the members.
#[test]
fn the_bar_stays_visible_on_a_phone() {
    let Some(browser) = Browser::start() else { return };
    let script = "await until(() => document.getElementById('ask-answer').textContent);
        scrollTo(0, document.documentElement.scrollHeight / 2);
        await wait(100);
        const bar = document.querySelector('.bar').getBoundingClientRect(), answer = document.getElementById('ask-answer').getBoundingClientRect();
        return [scrollY > 1000, Math.abs(bar.top) < 2, bar.bottom < innerHeight / 3, answer.height > 20 && answer.bottom <= bar.bottom,
            document.documentElement.scrollWidth <= innerWidth];";
    let address = "type/WMI_LOGGER_CONTEXT.html#build=1703&member=LoggerMode";
    let found = browser.open(&written().0.join(address), Look::PHONE).run(script);
    assert_eq!(found, json!([true, true, true, true, true]));
}

/// On a phone, the history can be opened, the first columns stay visible when a table scrolls, the answer is not cut, and the references are a
/// table before the picture.
#[test]
fn everything_is_usable_on_a_phone() {
    let Some(browser) = Browser::start() else { return };
    let folder = written();
    let script = "await until(() => document.getElementById('ask-answer').textContent);
        const answer = document.getElementById('ask-answer'), isWhole = answer.scrollHeight <= answer.clientHeight + 1;
        const part = document.querySelector('.panel.x64 .now .scroll:has(.members)'), left = () => [...part.querySelectorAll('tbody tr:first-child > *')].map((cell) => cell.getBoundingClientRect().left);
        const before = left();
        part.scrollLeft = 200;
        await wait(50);
        const after = left(), moved = before.map((place, index) => Math.abs(place - after[index]) > 100);
        const isOpaque = getComputedStyle(part.querySelector('tbody th')).backgroundColor !== 'rgba(0, 0, 0, 0)';
        const view = document.querySelector('label[for=view-history]'), isOffered = view.checkVisibility();
        view.click();
        await wait(100);
        const history = document.querySelector('.panel.x64 .matrix').getBoundingClientRect();
        const pen = document.createElement('canvas').getContext('2d'), hintIsCut = (input) => {
            const { font, paddingLeft } = getComputedStyle(input);
            pen.font = font;
            return pen.measureText(input.placeholder).width + (input.type === 'search' ? 16 : 0) > input.clientWidth - 2 * parseFloat(paddingLeft);
        };
        const cut = [...document.querySelectorAll('input[placeholder]')].filter((input) => input.checkVisibility() && hintIsCut(input)).map((input) => input.id);
        return [cut, isWhole, moved.slice(0, 4), isOpaque, isOffered, history.width > 0 && history.height > 0, document.documentElement.scrollWidth <= innerWidth];";
    let address = "type/WMI_LOGGER_CONTEXT.html#build=1703&member=LoggerMode";
    let found = browser.open(&folder.0.join(address), Look::PHONE).run(script);
    assert_eq!(found, json!([[], true, [false, true, false, true], true, true, true, true]));
    let script = "const input = document.getElementById('filter'), table = document.querySelector('table.filtered');
        input.value = 'guid entry';
        input.dispatchEvent(new Event('input'));
        const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden);
        return [table.getBoundingClientRect().top < document.querySelector('svg.map:not(.legend svg)').getBoundingClientRect().top,
            shown.length > 0 && shown.length < table.tBodies[0].rows.length, document.documentElement.scrollWidth <= innerWidth];";
    assert_eq!(browser.open(&folder.0.join("map/10.0.16299.15-x86.html"), Look::PHONE).run(script), json!([true, true, true]));
}

/// Type names in the tables of a comparison are links to their pages.
#[test]
fn types_of_a_comparison_are_links() {
    let Some(browser) = Browser::start() else { return };
    let script = "await until(() => document.querySelector('#tables section'));
        return [...document.querySelectorAll('#tables td a')].map((link) => link.getAttribute('href'));";
    let links = run(&browser, &written(), "compare.html#a=1709&b=2004", script);
    let links: Vec<&str> = links.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(links.contains(&"type/LIST_ENTRY.html") && links.len() > 20, "{links:?}");
    assert!(links.iter().all(|link| FILES.contains_key(*link)), "{links:?}");
}

/// No page violates a rule of WCAG 2.1 A or AA that axe can check, with the light or the dark theme.
#[test]
fn pages_violate_no_rule_of_axe() {
    let Some(browser) = Browser::start() else { return };
    let Some(axe) = env::var_os("ETW_LAYOUTS_AXE") else { return installed::absent("axe-core") };
    let axe = fs::read_to_string(axe).expect("axe-core");
    let pages = [
        "index.html",
        "events.html",
        "values.html",
        "kernels.html",
        "legend.html",
        "variables.html",
        "providers.html#words=ImageName",
        "compare.html#a=1709&b=2004&only=ETW_REG_ENTRY",
        "type/WMI_BUFFER_HEADER.html#build=1703&member=0x18",
        "type/ETW_REG_ENTRY.html#history-x64",
        "type/EVENT_TRACE_FLAG.html#value=0x3",
        "event/DiskIo.html",
        "kernel/10.0.22000.434-x64.html",
        "layout/ETW_REG_ENTRY.10.0.14393-x64.html",
        "map/10.0.16299.15-x86.html",
    ];
    let check = "await wait(300);
        const about = ({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' | ');
        const { violations, passes } = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
        return [matchMedia('(prefers-color-scheme: dark)').matches, passes.length, violations.map(about)];";
    let folder = written();
    // Dark pages have the same elements, so every third is enough for their contrast.
    for (index, page) in pages.into_iter().enumerate() {
        let looks = [Look::DESKTOP, Look::DESKTOP.dark()];
        let count = if index % 3 == 0 || installed::all() { 2 } else { 1 };
        for look in looks.into_iter().take(count) {
            let open = browser.open(&folder.0.join(page), look);
            let found = open.run(&format!("{axe}; {check}"));
            assert!(found[0] == look.is_dark && found[1].as_u64() > Some(10) && found[2] == json!([]), "{page}: {found}");
        }
    }
}
