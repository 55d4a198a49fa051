//! The notes of a release: the section of its version in CHANGELOG.md.

use crate::steps::Step;
use crate::{Error, workspace};
use std::fs;
use std::path::Path;

pub(super) fn written(folder: &Path) -> Result<Step, Error> {
    let version = workspace::version()?;
    let changes = fs::read_to_string(workspace::root().join("CHANGELOG.md"))?;
    Ok(match notes(&changes, &version) {
        Ok(notes) => {
            fs::write(folder.join("NOTES.md"), notes)?;
            Step::Passed
        }
        Err(why) => Step::Failed(why),
    })
}

/// The section of a version, which must have the date of the release: `## 0.1.0, 2026-11-28`.
fn notes(changes: &str, version: &str) -> Result<String, String> {
    let sections = changes.split("\n## ").skip(1);
    let own = sections.filter_map(|section| section.split_once('\n')).find(|(title, _)| title.split(',').next() == Some(version));
    let Some((title, text)) = own else {
        return Err(format!("CHANGELOG.md: no section for version {version}; add `## {version}, YYYY-MM-DD`"));
    };
    let date = title.split(", ").nth(1).unwrap_or_default();
    let is_date = date.len() == 10
        && date.bytes().enumerate().all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    match (is_date, text.trim()) {
        (false, _) => Err(format!("CHANGELOG.md: section `{title}` has no date; write `## {version}, YYYY-MM-DD`")),
        (true, "") => Err(format!("CHANGELOG.md: section `{title}` is empty")),
        (true, text) => Ok(format!("{text}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::notes;

    #[test]
    fn a_section_has_a_date_and_ends_at_the_next() {
        let changes = "# Changelog\n\nAll.\n\n## 0.2.0, 2026-11-28\n\n- new\n\n### Crates\n\n- more\n\n## 0.1.0, not released\n\n- first\n\n## 0.0.1, 2026-01-01\n";
        assert_eq!(notes(changes, "0.2.0").as_deref(), Ok("- new\n\n### Crates\n\n- more\n"));
        let refused = |version| notes(changes, version).unwrap_err();
        assert_eq!(refused("0.1.0"), "CHANGELOG.md: section `0.1.0, not released` has no date; write `## 0.1.0, YYYY-MM-DD`");
        assert_eq!(refused("0.0.1"), "CHANGELOG.md: section `0.0.1, 2026-01-01` is empty");
        assert_eq!(refused("0.2"), "CHANGELOG.md: no section for version 0.2; add `## 0.2, YYYY-MM-DD`");
    }
}
