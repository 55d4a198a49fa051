//! The figures for trust.

use super::unsafety;
use crate::ci::{HOSTS, Holds};
use crate::figures::Figures;
use crate::{Error, fuzz};
use etw_layouts_codegen::emit::Files;
use std::fmt::Write;

/// The part of the README: what commands counted, and what can be counted at once.
pub fn part(figures: &Figures, generated: &Files) -> Result<String, Error> {
    let mut out = String::from("\n");
    mutants(figures, &mut out);
    if let Some(structures) = figures.random_structures {
        let _ = writeln!(out, "{structures} random structures are laid out as clang lays them out, for x86 and x64.\n");
    }
    fuzzing(figures, &mut out)?;
    hosts(&mut out);
    unsafe_code(generated, &mut out)?;
    Ok(out)
}

fn mutants(figures: &Figures, out: &mut String) {
    if figures.mutants.is_empty() {
        return;
    }
    out.push_str("| fact changed | mutants | caught | share | beyond symbol data | missed |\n|---|---|---|---|---|---|\n");
    for (kind, count) in &figures.mutants {
        let share = 100.0 * count.caught as f64 / count.mutants.max(1) as f64;
        let _ = writeln!(
            out,
            "| {kind} | {} | {} | {share:.1} % | {} | {} |",
            count.mutants, count.caught, count.survived, count.missed
        );
    }
    out.push('\n');
}

fn fuzzing(figures: &Figures, out: &mut String) -> Result<(), Error> {
    out.push_str("| fuzz target | last run | inputs without a finding | regression inputs |\n|---|---|---|---|\n");
    for target in fuzz::targets()? {
        let (seconds, inputs) = match figures.fuzz.get(&target) {
            Some(run) => (format!("{} s", run.seconds), run.inputs.to_string()),
            None => ("–".into(), "–".into()),
        };
        let _ = writeln!(out, "| {target} | {seconds} | {inputs} | {} |", fuzz::regressions(&target));
    }
    out.push('\n');
    Ok(())
}

fn hosts(out: &mut String) {
    out.push_str("| host | |\n|---|---|\n");
    for (host, holds) in HOSTS {
        let what = match holds {
            Holds::Tests => "tests of layouts, views and traces run".to_owned(),
            Holds::Compiles => "every layout's assertions hold".to_owned(),
            Holds::Refuses(words) => format!("does not compile: \"{words} …\""),
        };
        let _ = writeln!(out, "| {host} | {what} |");
    }
    out.push('\n');
}

fn unsafe_code(generated: &Files, out: &mut String) -> Result<(), Error> {
    out.push_str("| `unsafe` in | blocks | impls | functions | layouts asserted to list all members |\n|---|---|---|---|---|\n");
    for (path, count) in unsafety::counts(generated)? {
        let _ = writeln!(out, "| {path} | {} | {} | {} | {} |", count.blocks, count.impls, count.functions, count.layouts);
    }
    out.push('\n');
    Ok(())
}
