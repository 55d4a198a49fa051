//! What is laid out is counted: once for all targets that are alike, and never more than the budget.

use super::{Sources, compile};

/// A structure of so many members, of which the first is another at each of eight targets, or the same at all.
fn specs(members: usize, differs: bool) -> Sources {
    let kernel = |i| format!("[[version]]\nlabel = \"{i}\"\nkernels = [{{ build = \"{i}.0.1\", module = \"v{i}\" }}]\n");
    let axis: String = (1..=8).map(kernel).collect();
    let member = |i| format!("[[member]]\nname = \"A{i}\"\ntype = \"UCHAR\"\n");
    let first = if differs {
        "type = { \"1\" = \"UCHAR [1]\", \"2\" = \"UCHAR [2]\", \"3\" = \"UCHAR [3]\", \"4\" = \"UCHAR [4]\", \
        \"5\" = \"UCHAR [5]\", \"6\" = \"UCHAR [6]\", \"7\" = \"UCHAR [7]\", \"8\" = \"UCHAR [8]\" }"
    } else {
        "type = \"UCHAR\""
    };
    let rest: String = (1..members).map(member).collect();
    let mut sources = Sources::default();
    sources.add("windows.toml", format!("architectures = [\"x64\"]\n{axis}"));
    sources.add("scalars.toml", "[scalar]\nUCHAR = { size = 1, c = \"unsigned char\" }\n");
    sources.add("S.toml", format!("[struct]\nname = \"S\"\n[[member]]\nname = \"A0\"\n{first}\n{rest}"));
    sources
}

#[test]
fn what_is_laid_out_has_a_budget() {
    let laid_out = |members, differs| match compile(specs(members, differs)) {
        Ok(layouts) => Ok(layouts.layouts.len()),
        Err(errors) => {
            Err(errors.list().iter().map(|error| format!("{} {}", errors.place(error), error.title)).collect::<Vec<_>>())
        }
    };
    // The budget of tests is 4096 members: all of them once, but not at each target.
    assert_eq!(laid_out(4000, false), Ok(1));
    assert_eq!(laid_out(500, true), Ok(8));
    let over = "S.toml:2:8 specs have more than 4096 members, counted for every target where their type can differ (7)";
    assert_eq!(laid_out(600, true), Err(vec![over.to_owned()]));
}
