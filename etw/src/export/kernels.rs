//! Kernels of which something is written, a file each.

use super::write::{Text, write};
use crate::{Error, Outcome};
use etw_layouts_codegen::Choice;
use etw_layouts_codegen::axis::Axis;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::Project;
use etw_layouts_project::names::{Among, name};
use std::path::PathBuf;

/// Kernels, and what of them.
#[derive(clap::Args)]
pub struct Kernels {
    /// BUILD-ARCH, such as 1709-x64, early-6.0-x86, 10.0.19041.1415-x64; or `all` for all that are known.
    #[arg(required = true, value_name = "TARGET")]
    targets: Vec<String>,
    /// One structure only, and what it needs.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// A folder for the files, one a target, which have its name. Without it the one of a single target is printed.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Kernels {
    /// Writes what a function makes of each kernel, of one structure if only that is asked for.
    pub(super) fn write(
        &self,
        project: &Project,
        among: Among,
        extension: &str,
        text: impl Fn(&Layouts, &Choice, Option<&str>) -> String,
    ) -> Result<Outcome, Error> {
        let layouts = project.layouts()?;
        let axis = &layouts.spec.axis;
        let registry = project.registry(axis)?;
        let only = self.only.as_deref().map(|only| name(&layouts, among, only)).transpose()?;
        let has = |target: usize| only.is_none_or(|only| layouts.get(target, only).is_some());
        let mut texts = Vec::new();
        for wanted in &self.targets {
            let names: Vec<_> = match wanted.as_str() {
                "all" => (0..axis.targets.len()).filter(|&target| has(target)).map(|target| axis.target_name(target)).collect(),
                name => vec![name.to_owned()],
            };
            for name in names {
                let choice = Choice::of(&layouts, &registry, axis.find(&name)?, only);
                if let Some(only) = only.filter(|_| !has(choice.target())) {
                    let label = choice.label(axis);
                    return Err(format!("{only} does not exist in {label}; `etw list {only}` tells where it does").into());
                }
                texts.push(Text { name: format!("{name}.{extension}"), text: text(&layouts, &choice, only) });
            }
        }
        write(&texts, self.output.as_deref())
    }
}

/// What a file is of, and how sure it is.
pub(super) fn note(axis: &Axis, choice: &Choice) -> String {
    choice.note(axis).unwrap_or_else(|| format!("{}: {}", choice.label(axis), choice.standing))
}
