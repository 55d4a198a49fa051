//! The verification of a planned import.

use super::plan::{Input, Plan, plan};
use crate::tables::BuildTable;
use crate::verify::Checked;
use crate::verify::condensed::{Line, condensed};
use crate::{Error, verify};
use etw_layouts_codegen::layouts::Layouts;
use std::fmt::{self, Debug, Display, Formatter};

/// Plans an import, and verifies the result against every table.
///
/// # Errors
///
/// Errors of [`plan()`]; or [`Refused`], with all differences that `verify` reports.
pub fn checked(input: &Input) -> Result<Plan, Error> {
    let plan = plan(input)?;
    let result = verified(&plan.layouts, input.known, input.new);
    accepted(plan, input.added, result)
}

/// The plan, if it verifies.
///
/// # Errors
///
/// [`Refused`] with the plan.
pub fn accepted(plan: Plan, added: &[String], result: Result<(), Error>) -> Result<Plan, Error> {
    let Err(error) = result else { return Ok(plan) };
    let added = added.join(", ");
    let help = if added.is_empty() { String::new() } else { format!("; if {added} cannot be imported, add it by hand") };
    Err(Refused { message: format!("{error}{help}"), plan: plan.into() }.into())
}

/// The error of a plan that does not verify. Nothing was written.
pub struct Refused {
    message: String,
    /// The plan.
    pub plan: Box<Plan>,
}

impl Debug for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

/// Verifies the layouts against every table.
///
/// # Errors
///
/// All differences that `verify` reports.
pub fn verified(layouts: &Layouts, known: &[BuildTable], new: &[BuildTable]) -> Result<(), Error> {
    let names = verify::names(layouts, None)?;
    let replaced = |table: &&BuildTable| {
        new.iter().any(|other| (other.build, other.arch, &other.producer) == (table.build, table.arch, &table.producer))
    };
    let tables = known.iter().filter(|table| !replaced(table)).chain(new);
    let compared = |table: &BuildTable| Ok(Checked { build: table.label.clone(), ..verify::compared(layouts, &names, table)? });
    let checked = tables.map(compared).collect::<Result<Vec<_>, Error>>()?;
    let mut differences: Vec<_> = checked.iter().flat_map(differences).collect();
    differences.extend(verify::claims(layouts, &names, &checked).iter().map(|claim| format!("  {}", claim.line())));
    match differences.is_empty() {
        true => Ok(()),
        false => Err(refused(differences)),
    }
}

/// Maximum number of lines per structure.
const SHOWN: usize = 3;

fn differences(checked: &Checked) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, found) in &checked.structures {
        let at = format!("  {}-{}:", checked.build, checked.arch);
        let all = condensed(name, &found.differences);
        lines.extend(all.iter().take(SHOWN).map(|Line { start, fact, end }| format!("{at} {start}{fact}{end}")));
        if all.len() > SHOWN {
            lines.push(format!("{at} {name} and {} more", all.len() - SHOWN));
        }
    }
    lines
}

/// Error for symbols that cannot be imported, with the remaining differences.
fn refused(differences: Vec<String>) -> Error {
    let about = "cannot import: the result does not verify; nothing was written";
    let help = "check that the folder of facts is complete, or add the build by hand: its row in windows.toml, its symbols in the folder of facts, and the differences that `verify` then prints";
    format!("{about}. Remaining differences:\n{}\n{help}", differences.join("\n")).into()
}
