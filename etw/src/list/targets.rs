//! The list of the targets of the version axis.

use super::pattern::Pattern;
use crate::target::{Confidence, Windows, confidence, windows};
use crate::text_table::{Row, aligned, counted};
use anstyle::Style;
use etw_layouts_codegen::axis::{Arch, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use etw_layouts_project::evidence::builds;
use serde::Serialize;

/// A build on an architecture.
#[derive(Serialize)]
pub struct Target<'a> {
    /// As BUILD-ARCH.
    target: String,
    build: String,
    arch: String,
    label: &'a str,
    #[serde(flatten)]
    windows: Windows<'a>,
    /// Other build numbers of the same kernel.
    shared_builds: Vec<String>,
    /// The confidence in its layouts, and the number of examined builds that have them.
    #[serde(flatten)]
    confidence: Confidence,
    examined: usize,
}

/// The targets of the architecture with a matching name, label or release.
pub fn list<'a>(layouts: &'a Layouts, registry: &Registry, arch: Option<Arch>, pattern: Pattern) -> Vec<Target<'a>> {
    let axis = &layouts.spec.axis;
    let wanted = axis.filter(|target| arch.is_none_or(|arch| arch == target.arch));
    let examined = builds(registry, axis);
    let target = |id: TargetId| {
        let arch = axis.targets[id].arch;
        let revision = axis.revision_of(id);
        let release = &axis.releases[revision.release];
        Target {
            target: axis.target_name(id),
            build: format!("{:#}", revision.build),
            arch: arch.to_string(),
            label: axis.single(release.label()),
            windows: windows(axis, revision.build),
            shared_builds: revision.shared.iter().map(|shared| shared.build.to_string()).collect(),
            confidence: confidence(axis, &Choice::of(layouts, registry, axis.newest(id), None)),
            examined: examined.get(&id).copied().unwrap_or_default(),
        }
    };
    let matches = |target: &Target| {
        let names = [&target.target, &target.build, target.label];
        names
            .into_iter()
            .chain(target.windows.names())
            .chain(target.shared_builds.iter().map(String::as_str))
            .any(|name| pattern.matches(name))
    };
    wanted.iter().map(target).filter(matches).collect()
}

/// The list as text.
pub fn text(list: &[Target], width: Option<usize>) -> String {
    let row = |target: &Target| {
        let examined = if target.examined == 0 { "-".to_owned() } else { target.examined.to_string() };
        let also =
            if target.shared_builds.is_empty() { String::new() } else { format!(", also {}", target.shared_builds.join(", ")) };
        let release = format!("{}{also}", target.windows.release.unwrap_or_default());
        Row {
            style: Style::new(),
            cells: vec![
                target.target.clone(),
                target.label.to_owned(),
                target.confidence.confidence.to_owned(),
                examined,
                release,
            ],
        }
    };
    let rows: Vec<_> = list.iter().map(row).collect();
    aligned(&[&counted(list.len(), "target"), "label", "confidence", "examined builds", "release"], &rows, width)
}
