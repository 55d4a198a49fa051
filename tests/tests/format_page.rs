//! The tables of docs/ETW.md state the offsets of the layouts.

use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::{Form, Layouts};
use std::fs;
use tests::root;

/// Each table below a heading with the name of a structure has rows of an offset, a type and a member. Two offsets are those of x86 and x64.
#[test]
fn offsets_are_those_of_the_layouts() {
    let layouts = tests::project().layouts().expect("the specs resolve");
    let targets = ["2004-x86", "2004-x64"].map(|name| layouts.spec.axis.find(name).expect("a target").target);
    let page = fs::read_to_string(root().join("docs/ETW.md")).expect("the page");
    let (mut structures, mut rows, mut wrong) = (0, 0, Vec::new());
    for section in page.split("\n### `").skip(1) {
        let (name, text) = section.split_once('`').expect("a name");
        structures += 1;
        for line in text.split("\n#").next().unwrap_or_default().lines().filter(|line| line.starts_with("| 0x")) {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            // Tables of flags have other columns.
            let [_, offsets, _, member, _, ""] = cells[..] else { continue };
            let offsets: Vec<_> =
                offsets.split(" / ").filter_map(|hex| u64::from_str_radix(hex.strip_prefix("0x")?, 16).ok()).collect();
            let stated = [offsets.first().copied(), offsets.last().copied()];
            rows += 1;
            if targets.map(|target| offset(&layouts, target, name, member)) != stated {
                wrong.push(format!("{name}.{member}: {line}"));
            }
        }
    }
    assert!(structures >= 9 && rows > 70, "{structures} structures, {rows} rows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn offset(layouts: &Layouts, target: TargetId, name: &str, member: &str) -> Option<u64> {
    let Form::Aggregate(aggregate) = &layouts.get(target, name)?.form else { return None };
    aggregate.flat().into_iter().find(|flat| flat.name == member).map(|flat| flat.offset)
}
