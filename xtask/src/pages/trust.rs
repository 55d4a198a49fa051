//! The figures for trust.

use super::unsafety;
use crate::hosts::{HOSTS, Holds};
use crate::record::Figures;
use crate::{Error, fuzz_targets};
use etw_layouts_codegen::emit::Files;
use std::fmt::Write;

/// What commands counted, and what can be counted at once.
pub fn page(figures: &Figures, generated: &Files) -> Result<String, Error> {
    let mut out = String::from(
        "# Figures for trust\n\n\
         Written by `cargo xtask generate`. `cargo xtask figures` and `cargo xtask fuzz --record` count what takes long, and `cargo xtask ci`\n\
         holds the page against the sources. What is claimed, and how it is held, is in [ARCHITECTURE.md](../ARCHITECTURE.md).\n\n\
         Mutants are changes of one fact of the specs; caught are those that `cargo xtask generate` or `cargo xtask verify` refuses. The\n\
         rest changes what public symbols do not hold. What specs say of global variables is not among them: no symbols state their types.\n\n",
    );
    mutants(figures, &mut out);
    code(figures, &mut out);
    if let Some(structures) = figures.random_structures {
        let _ = writeln!(out, "{structures} random structures are laid out as clang lays them out, for x86, x64 and arm64.\n");
    }
    fuzzing(figures, &mut out)?;
    hosts(&mut out);
    unsafe_code(generated, &mut out)?;
    out.truncate(out.trim_end().len() + 1);
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

fn code(figures: &Figures, out: &mut String) {
    if figures.code.is_empty() {
        return;
    }
    out.push_str(
        "Mutants of the code are those of `cargo mutants --package NAME -- --tests` (cargo-mutants); caught are those that a test of the package\n\
         notices, or that keep it from ending. What changes nothing that can be observed is left out, each with a reason, by\n\
         [.cargo/mutants.toml](../.cargo/mutants.toml). Where fewer are tried than there are, the rest has not been run; what is missed is a gap\n\
         in the tests. `cargo xtask figures --code FILE` records a run. Those of the runtime were built one at a time by cargo-mutants. Those of\n\
         dump, etl and memory, with the same replacements, were compiled into one program per package and switched on at run time, each for the\n\
         tests that reach it, without real files and without the slowest tests; mutants of constants, which cannot be switched, were not tried.\n\n\
         | package | mutants | tried | do not compile | caught | share | missed |\n|---|---|---|---|---|---|---|\n",
    );
    for (package, count) in &figures.code {
        let viable = count.caught + count.missed;
        let share = 100.0 * count.caught as f64 / viable.max(1) as f64;
        let (tried, refused) = (viable + count.refused, count.refused);
        let _ = writeln!(
            out,
            "| {package} | {} | {tried} | {refused} | {} | {share:.1} % | {} |",
            count.listed, count.caught, count.missed
        );
    }
    out.push('\n');
}

fn fuzzing(figures: &Figures, out: &mut String) -> Result<(), Error> {
    out.push_str("| fuzz target | last run | inputs without a finding | regression inputs |\n|---|---|---|---|\n");
    for target in fuzz_targets::targets()? {
        let (seconds, inputs) = match figures.fuzz.get(&target) {
            Some(run) => (format!("{} s", run.seconds), run.inputs.to_string()),
            None => ("–".into(), "–".into()),
        };
        let _ = writeln!(out, "| {target} | {seconds} | {inputs} | {} |", fuzz_targets::regressions(&target));
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
    out.push_str("| `unsafe` in | blocks | impls | functions |\n|---|---|---|---|\n");
    for (path, count) in unsafety::counts(generated)? {
        let _ = writeln!(out, "| {path} | {} | {} | {} |", count.blocks, count.impls, count.functions);
    }
    out.push('\n');
    Ok(())
}
