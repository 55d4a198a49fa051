//! The shipped list, compared with updates of known months; and invalid lists.

use super::{Calendar, Updates};
use crate::Project;
use etw_layouts_codegen::axis::{Axis, Build};
use std::path::Path;

/// First builds with a change of a month, and whether KB numbers alone relate them to each other. The KB numbers of the previews
/// of February 2020 are too far apart for that.
const SAME: [(&str, bool, &[&str]); 4] = [
    ("2020-02", false, &["10.0.17763.1075", "10.0.18362.693"]),
    ("2022-01", true, &["10.0.17763.2452", "10.0.19041.1466", "10.0.20348.469", "10.0.22000.434"]),
    ("2022-07", true, &["10.0.17763.3165", "10.0.19041.1826", "10.0.20348.825", "10.0.22000.795"]),
    ("2023-06", true, &["10.0.17763.4499", "10.0.20348.1787"]),
];

fn shipped() -> (Axis, Updates, Calendar) {
    let project = Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let (axis, updates) = (project.layouts().expect("the specs resolve").spec.axis, project.updates().expect("a list"));
    let calendar = updates.calendar(&axis).expect("a month");
    (axis, updates, calendar)
}

#[test]
fn updates_of_a_month_are_related() {
    let (axis, _, calendar) = shipped();
    for (month, is_first, kernels) in SAME {
        let kernels: Vec<Build> = kernels.iter().map(|kernel| kernel.parse().expect("a build")).collect();
        for &kernel in &kernels {
            assert_eq!(calendar.month(&axis, kernel).map(|month| month.to_string()).as_deref(), Some(month), "{kernel}");
            let same = calendar.same(&axis, kernel);
            for other in kernels.iter().filter(|other| **other != kernel) {
                let near = same.iter().find(|near| near[0].number == other.number).expect("a branch");
                let found = if is_first { near.first() == Some(other) } else { near.contains(other) };
                assert!(found, "{month}: {kernel} is related to {near:?}, not to {other}");
            }
        }
    }
    // A build under another number is the same branch.
    let [by_number, own] =
        ["10.0.19045.3570", "10.0.19041.3570"].map(|build| calendar.same(&axis, build.parse().expect("a build")));
    assert!(by_number == own && !own.is_empty() && own.iter().flatten().all(|near| near.number != [10, 0, 19041]), "{own:?}");
    // Since 2026 build 26100 is serviced in two branches.
    let [client, server] = ["10.0.26100.8655", "10.0.26100.32995"].map(|build| build.parse::<Build>().expect("a build"));
    assert!(calendar.same(&axis, client).iter().any(|near| near[0] == server), "{:?}", calendar.same(&axis, client));
    // Updates that are not in the list, before its first month, or after its last month have no month and no related updates.
    for unknown in
        ["6.1.7601.24540", "10.0.10240.16405", "10.0.22000.194", "10.0.22000.90000"].map(|build| build.parse().expect("a build"))
    {
        assert!(calendar.month(&axis, unknown).is_none() && calendar.same(&axis, unknown).is_empty(), "{unknown}");
    }
}

/// Months are counted from the one month in the list, four years earlier.
#[test]
fn named_updates_have_the_month_of_their_name() {
    let (axis, _, calendar) = shipped();
    let is_month = |name: &str| name.get(..7).is_some_and(|month| month.parse::<super::Month>().is_ok());
    let named: Vec<_> = axis.updates.iter().filter(|update| is_month(&update.name)).collect();
    assert!(named.len() >= 5, "{}", named.len());
    for update in named {
        let months = update.revisions.iter().filter_map(|kernel| calendar.month(&axis, *kernel));
        let months: Vec<_> = months.map(|month| month.to_string()).collect();
        assert!(months.iter().any(|month| update.name.starts_with(month)), "{}: {months:?}", update.name);
    }
}

#[test]
fn builds_are_named_by_release_and_update() {
    let (axis, _, _) = shipped();
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
    let month = "month 2022-01 KB1";
    let lists = [
        ("KB1 10.0.1.2\n2 10.0.1.3", ":2: invalid KB number `2`; write `KB` and digits, as in KB5031356"),
        ("KB-1 10.0.1.2", ":1: invalid KB number `KB-1`; write `KB` and digits, as in KB5031356"),
        ("KB99999999999 10.0.1.2", ":1: invalid KB number `KB99999999999`; write `KB` and digits, as in KB5031356"),
        ("# a list\n\nKB1", ":3: `KB1` has no builds; write `KB5031356 10.0.19045.3570`"),
        ("KB1 10.0.1", ":1: invalid build `10.0.1`; write four numbers, as in 10.0.19045.3570"),
        ("KB1 10.0.1.2 x", ":1: invalid build `x`; write four numbers, as in 10.0.19045.3570"),
        ("KB1 10.0.1.2\nKB2 10.0.1.3 # and\nKB1 10.0.1.2", ":3: duplicate entry: KB1 already lists 10.0.1.2; remove one"),
        ("month 2022-13 KB1", ":1: invalid month `2022-13`; write year and month, as in 2022-01"),
        ("month 4294967295-01 KB1", ":1: invalid month `4294967295-01`; write year and month, as in 2022-01"),
        ("month 2022-01 KB1 x", ":1: unexpected `x`; write `month 2022-01 KB5009557`"),
        ("month 2022-01", ":1: invalid KB number ``; write `KB` and digits, as in KB5031356"),
        (&format!("{month}\n{month}"), ":2: duplicate month, after 2022-01; keep one"),
        (month, ": KB1 of 2022-01 is not in the list; add its line"),
    ];
    for (text, error) in lists {
        let found = Updates::parse(text, "updates.txt").expect_err(text);
        assert_eq!(found.to_string(), format!("updates.txt{error}"));
    }
    let list = Updates::parse("KB2 10.0.1.2 10.0.3.2\r\nKB1 10.0.1.2\r\n", "updates.txt").expect("a list");
    assert_eq!(list.kbs.into_values().collect::<Vec<_>>(), [vec![1, 2], vec![2]]);
}

/// Branches, repairs and months with the smallest differences that separate them.
#[test]
fn months_of_a_made_up_list() {
    let list = "month 2022-01 KB1000
        KB1000 10.0.10240.100
        KB2000 10.0.10240.200
        KB3000 10.0.10240.300
        KB2999 10.0.14393.100
        KB4000 10.0.14393.200
        KB1001 10.0.26100.1000
        KB2001 10.0.26100.1010
        KB3001 10.0.26100.11010";
    let axis = Axis::default();
    let calendar = Updates::parse(list, "updates.txt").expect("a list").calendar(&axis).expect("a first month");
    let month = |build: &str| calendar.month(&axis, build.parse().expect("a build")).map(|month| month.to_string());
    assert_eq!(month("10.0.26100.1000").as_deref(), Some("2022-01"));
    assert_eq!(month("10.0.26100.1010").as_deref(), Some("2022-02"));
    assert_eq!(month("10.0.26100.6000"), None);
    assert_eq!(month("10.0.26100.11010").as_deref(), Some("2022-03"));
    assert_eq!(month("10.0.14393.200").as_deref(), Some("2022-04"));
}
