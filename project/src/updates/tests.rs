//! The shipped list, compared with the named updates of the specs; and invalid lists.

use super::{Updates, is_month};
use crate::Project;
use etw_layouts_codegen::axis::Axis;
use std::path::Path;

fn shipped() -> (Axis, Updates) {
    let project = Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    (project.layouts().expect("the specs resolve").spec.axis, project.updates().expect("a list"))
}

/// A named update has the month of one of its builds. The builds of one update can be from several months, because a build is the
/// first that is known to have the change.
#[test]
fn named_updates_have_the_month_of_their_name() {
    let (axis, updates) = shipped();
    let named: Vec<_> = axis.updates.iter().filter(|update| update.name.get(..7).is_some_and(is_month)).collect();
    assert!(named.len() >= 5, "{}", named.len());
    for update in named {
        let kbs = update.revisions.iter().filter_map(|revision| updates.kbs.get(revision)).flatten();
        let months: Vec<_> = kbs.filter_map(|kb| updates.months.get(kb)).collect();
        assert!(months.iter().any(|month| update.name.starts_with(month.as_str())), "{}: {months:?}", update.name);
    }
}

#[test]
fn builds_are_named_by_release_and_update() {
    let (axis, _) = shipped();
    let names = [
        ("10.0.19045.3570", "Windows 10 22H2 (19045.3570, KB5031356)"),
        ("10.0.19041.3570", "Windows 10 version 2004 to 22H2 (19041.3570, KB5031356)"),
        ("10.0.18363.476", "Windows 10 1909 (18363.476, KB4524570)"),
        ("10.0.22631.2428", "Windows 11 23H2 (22631.2428, KB5031354)"),
        ("10.0.10240.17113", "Windows 10 (10240.17113, KB3185611, KB3193821)"),
        ("10.0.25398.531", "Windows Server version 23H2 (25398.531, KB5032202)"),
        ("10.0.19045.3571", "Windows 10 22H2 (19045.3571)"),
        ("6.1.7601.24540", "Windows 7, Windows Server 2008 R2 (7601.24540)"),
        ("10.0.10586", "Windows 10 version 1511 (10586)"),
        ("10.0.12345.6", "12345.6"),
    ];
    for (build, name) in names {
        assert_eq!(axis.windows(build.parse().expect("a build")).to_string(), name);
    }
}

#[test]
fn errors_of_lists_have_line_and_remedy() {
    let lists = [
        ("KB1 10.0.1.2\n2 10.0.1.3", ":2: invalid KB number `2`; write `KB` and digits, as in KB5031356"),
        ("KB-1 10.0.1.2", ":1: invalid KB number `KB-1`; write `KB` and digits, as in KB5031356"),
        ("KB99999999999 10.0.1.2", ":1: invalid KB number `KB99999999999`; write `KB` and digits, as in KB5031356"),
        ("# a list\n\nKB1", ":3: `KB1` has no builds; write `KB5031356 10.0.19045.3570`"),
        ("KB1 10.0.1", ":1: invalid build `10.0.1`; write four numbers, as in 10.0.19045.3570"),
        ("KB1 10.0.1.2 x", ":1: invalid build `x`; write four numbers, as in 10.0.19045.3570"),
        ("KB1 10.0.1.2\nKB2 10.0.1.3 # and\nKB1 10.0.1.2", ":3: duplicate entry: KB1 already lists 10.0.1.2; remove one"),
        ("KB1 2022-13 10.0.1.2", ":1: invalid month `2022-13`; write year and month, as in 2022-01"),
        ("KB1 10.0.1.2\nKB2 22-1 10.0.1.2", ":2: invalid month `22-1`; write year and month, as in 2022-01"),
        ("KB1 2022-01", ":1: `KB1` has no builds; write `KB5031356 10.0.19045.3570`"),
    ];
    for (text, error) in lists {
        let found = Updates::parse(text, "updates.txt").expect_err(text);
        assert_eq!(found.to_string(), format!("updates.txt{error}"));
    }
    let list = Updates::parse("KB2 2022-12 10.0.1.2 10.0.3.2\r\nKB1 10.0.1.2\r\n", "updates.txt").expect("a list");
    assert_eq!(list.kbs.into_values().collect::<Vec<_>>(), [vec![1, 2], vec![2]]);
    assert_eq!(list.months, [(2, "2022-12".to_owned())].into());
}
