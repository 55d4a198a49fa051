//! `cargo xtask mutants`: measures whether wrong facts are detected.

mod events;
mod facts;
mod scope;
#[cfg(test)]
mod tests;

pub use facts::Mutant;

use crate::{Error, Format, Outcome, trust_tables, workspace};
use etw_layouts_codegen::axis::{PerTarget, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::{Errors, SourceFile, Sources, compile, recompile};
use etw_layouts_project::evidence;
use etw_layouts_project::tables::BuildTable;
use etw_layouts_project::verify::{self, ours};
use etw_layouts_symbols::{Rules, Types};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use scope::Reach;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Change every fact of the specs, one at a time, and check whether `generate` or `verify` detects it.
///
/// Each offset, size, type, count, bit position and width, constant, range end, name, alignment and build is changed, each member
/// is dropped, and neighbors are swapped. Changes that affect no layout are not counted. Undetected changes are listed with the
/// reason. Facts about global variables are excluded, as symbols state no types for them.
///
/// Exit status: 0 every undetected change has a reason, 1 one has none, 2 no spec matches.
#[derive(clap::Args)]
pub struct Args {
    /// Mutate only specs whose path contains this text: a file, a folder, or the name of a structure.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// List every undetected change instead of the number for each reason.
    #[arg(long)]
    list: bool,
    /// Add the counts to docs/TRUST.md, if no change is missed.
    #[arg(long, conflicts_with = "only")]
    record: bool,
    /// Output format: text, or a JSON document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Result of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Reading or resolving the specs fails; whether the error names the mutated file or its structure, or any spec if the file
    /// has no structure.
    Refused(bool),
    /// Verification reports a difference; whether it names the file or structure.
    Differs(bool),
    /// No layout changes.
    Equivalent,
    /// Not detected, for this reason.
    Survived(String),
    /// Not detected, although it should be.
    Missed(String),
}

/// The specs, with the symbol tables for their verification.
pub struct Bench {
    labels: Vec<String>,
    tables: Vec<BuildTable>,
    registry: Registry,
    original: Layouts,
    types: PerTarget<Types>,
    reaches: Vec<Reach>,
    events: events::Events,
}

impl Bench {
    /// The specs of the workspace and the symbol tables that ship with it.
    pub fn new() -> Result<Self, Error> {
        let project = workspace::project();
        let layouts = project.layouts()?;
        let names = verify::names(&layouts, None)?;
        let wanted = names.iter().copied().collect();
        let tables = project.tables(&layouts.spec.axis, &wanted)?;
        let registry = project.registry(&layouts.spec.axis)?;
        let (releases, updates) = (&layouts.spec.axis.releases, &layouts.spec.axis.updates);
        let updates = updates.iter().map(|update| update.name.clone());
        let labels = releases.iter().map(|release| release.label().to_owned()).chain(updates).collect();
        let types = all_types(&layouts, &names);
        let reaches = scope::reaches(&layouts);
        let events = events::Events::of(&layouts.spec, project.statements()?);
        Ok(Self { labels, tables, registry, original: layouts, types, reaches, events })
    }

    /// All mutants, with the index of their files.
    pub fn mutants(&self) -> Vec<(usize, Mutant)> {
        let of = |(index, file): (usize, &SourceFile)| {
            facts::mutants(&file.text, &self.labels).into_iter().map(move |mutant| (index, mutant)).collect::<Vec<_>>()
        };
        self.files().iter().enumerate().flat_map(of).collect()
    }

    fn files(&self) -> &[SourceFile] {
        self.original.spec.sources.files()
    }

    /// Path of a file.
    pub fn path(&self, file: usize) -> &str {
        &self.files()[file].path
    }

    /// Describes a mutant: `path:line`, and the change.
    pub fn describe(&self, file: usize, mutant: &Mutant) -> String {
        let source = &self.files()[file];
        let line = source.text[..mutant.range.start].matches('\n').count() + 1;
        let old = source.text[mutant.range.clone()].lines().next().unwrap_or_default();
        let short = |text: &str| text.lines().next().unwrap_or_default().chars().take(48).collect::<String>();
        format!("{}:{line}: {} `{}` -> `{}`", source.path, mutant.kind.as_str(), short(old), short(&mutant.with))
    }

    /// Applies a mutant to the specs, and runs all checks.
    pub fn run(&self, file: usize, mutant: &Mutant) -> Fate {
        if self.is_events(file) {
            return self.run_event(file, mutant);
        }
        let path = self.path(file);
        let subject = path_stem(path);
        let shows = |text: &str| match self.original.spec.definitions.contains_key(&subject) {
            true => text.contains(path) || has_word(text, &subject),
            // For a scalar or a kernel, the error is reported at its uses.
            false => text.contains("specs"),
        };
        let layouts = match self.compile(file, mutant) {
            Ok(layouts) => layouts,
            Err(errors) => return Fate::Refused(shows(&errors.render(false))),
        };
        let Ok(mut names) = verify::names(&layouts, None) else { return Fate::Refused(false) };
        names.retain(|name| self.reaches[file].changes(&layouts.spec, name));
        let compared: Result<Vec<_>, _> = self.tables.iter().map(|table| verify::compared(&layouts, &names, table)).collect();
        let Ok(checked) = compared else { return Fate::Refused(false) };
        let claims = verify::claims(&layouts, &names, &checked);
        let differences: Vec<_> =
            checked.iter().flat_map(|c| c.structures.values()).flat_map(|s| &s.differences).chain(&claims).collect();
        if !differences.is_empty() {
            return Fate::Differs(differences.iter().any(|difference| shows(&difference.line())));
        }
        self.survivor(&layouts, &names, path)
    }

    fn compile(&self, file: usize, mutant: &Mutant) -> Result<Layouts, Errors> {
        let mut text = self.files()[file].text.clone();
        text.replace_range(mutant.range.clone(), &mutant.with);
        if let Reach::Some { .. } = self.reaches[file] {
            return recompile(self.reaches[file].needed(&self.original.spec), file, text);
        }
        let mut sources = Sources::default();
        for (index, source) in self.files().iter().enumerate() {
            sources.add(source.path.clone(), if index == file { text.clone() } else { source.text.clone() });
        }
        compile(sources)
    }

    /// The result of an undetected mutant: equivalent, or undetectable for a reason.
    fn survivor(&self, layouts: &Layouts, names: &[&str], path: &str) -> Fate {
        let mutated = all_types(layouts, names);
        let mut reason = None;
        let by_symbols = [layouts, &self.original].map(|layouts| evidence::confirmed(&self.registry, &layouts.spec.axis));
        let subject = path_stem(path);
        for (target, (new, old)) in mutated.iter().map(|(target, new)| (target, (new, &self.types[target]))) {
            // The definitions of the mutated specs, and the mutated type if its definition was lost.
            let all = new.keys().chain(old.keys().filter(|name| **name == subject));
            for name in all.filter(|name| new.get(*name) != old.get(*name)) {
                // A changed name exists on one side only.
                let (known, by_symbols) = match layouts.spec.definitions.contains_key(name) {
                    true => (layouts, &by_symbols[0]),
                    false => (&self.original, &by_symbols[1]),
                };
                match by_symbols.why_not(known, name, target).map(|why| why.text().to_owned()) {
                    Some(why) => reason = reason.or(Some(why)),
                    None if self.converted(target, layouts) => {
                        reason = Some("these kernels have only converted tables, and a rule accepts the change".to_owned());
                    }
                    None => return Fate::Missed(format!("{name} at {}", layouts.spec.axis.target_name(target))),
                }
            }
        }
        match reason {
            Some(reason) => Fate::Survived(reason),
            None if path.contains("constants/") => Fate::Survived("macros are not in symbol files".into()),
            None => Fate::Equivalent,
        }
    }

    fn converted(&self, target: TargetId, layouts: &Layouts) -> bool {
        let of = |table: &&BuildTable| layouts.spec.axis.at(table.build, table.arch) == Some(target);
        self.tables.iter().filter(of).all(|table| Rules::for_producer(&table.producer) == Rules::Converted)
    }
}

/// The structure that a spec file is named after.
fn path_stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a text has a word that is not part of a longer identifier.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|part| part == word)
}

fn all_types(layouts: &Layouts, names: &[&str]) -> PerTarget<Types> {
    layouts.by_target.ids().map(|target| ours::types(layouts, target, names)).collect()
}

/// Counts for one kind of fact.
#[derive(Default, Serialize)]
struct Count {
    mutants: u64,
    refused: u64,
    differs: u64,
    survived: u64,
    missed: u64,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let bench = Bench::new()?;
    let wanted = |file: usize| args.only.as_ref().is_none_or(|only| bench.path(file).contains(only));
    let mutants: Vec<_> = bench.mutants().into_iter().filter(|(file, _)| wanted(*file)).collect();
    if let (Some(only), true) = (&args.only, mutants.is_empty()) {
        return Err(format!("no spec matches `{only}`; write a part of a path such as specs/etw/WMI_BUFFER_HEADER.toml").into());
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} mutants, {eta} left")?;
    let bar = ProgressBar::new(mutants.len() as u64).with_style(style);
    let one = |(file, mutant): &(usize, Mutant)| {
        let fate = bench.run(*file, mutant);
        bar.inc(1);
        fate
    };
    let fates: Vec<_> = mutants.par_iter().map(one).collect();
    bar.finish_and_clear();
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut missed = Vec::new();
    for ((file, mutant), fate) in mutants.iter().zip(fates) {
        let count = counts.entry(mutant.kind.as_str()).or_default();
        count.mutants += u64::from(fate != Fate::Equivalent);
        match fate {
            Fate::Refused(_) => count.refused += 1,
            Fate::Differs(_) => count.differs += 1,
            Fate::Equivalent => {}
            Fate::Survived(reason) => {
                count.survived += 1;
                reasons.entry(reason).or_default().push(bench.describe(*file, mutant));
            }
            Fate::Missed(at) => {
                count.missed += 1;
                missed.push(format!("{} ({at})", bench.describe(*file, mutant)));
            }
        }
    }
    let good = missed.is_empty();
    match args.format {
        Format::Text => anstream::print!("{}", text(&counts, &reasons, &missed, args.list)),
        Format::Json => anstream::println!("{}", json(&counts, &reasons, &missed)?),
    }
    if args.record && good {
        trust_tables::record(trust_tables::MUTANTS, &counts.iter().map(recorded).collect::<Vec<_>>())?;
    }
    Ok(if good { Outcome::Good } else { Outcome::Differs })
}

fn text(counts: &BTreeMap<&str, Count>, reasons: &BTreeMap<String, Vec<String>>, missed: &[String], list: bool) -> String {
    let mut out = String::from("fact          mutants  resolve   verify  survive   caught\n");
    let mut total = Count::default();
    for (kind, count) in counts {
        row(kind, count, &mut out);
        total.mutants += count.mutants;
        total.refused += count.refused;
        total.differs += count.differs;
        total.survived += count.survived;
        total.missed += count.missed;
    }
    row("all", &total, &mut out);
    let _ = writeln!(out, "\nUndetected changes, with the reason:");
    for (reason, survivors) in reasons {
        let _ = writeln!(out, "{:8}  {reason}", survivors.len());
        for survivor in survivors.iter().filter(|_| list) {
            let _ = writeln!(out, "            {survivor}");
        }
    }
    for mutant in missed {
        let _ = writeln!(out, "missed: {mutant}");
    }
    let _ = writeln!(out, "{:8}  missed: covered by symbol data, but not detected", missed.len());
    out
}

fn row(kind: &str, count: &Count, out: &mut String) {
    let caught = count.refused + count.differs;
    let share = 100.0 * caught as f64 / count.mutants.max(1) as f64;
    let survive = count.survived + count.missed;
    let _ = writeln!(out, "{kind:12} {:8} {:8} {:8} {survive:8}  {share:6.1}%", count.mutants, count.refused, count.differs);
}

/// A row of docs/TRUST.md.
fn recorded((kind, count): (&&str, &Count)) -> String {
    let Count { mutants, refused, differs, survived, missed } = *count;
    let caught = refused + differs;
    let share = 100.0 * caught as f64 / mutants.max(1) as f64;
    format!("| {kind} | {mutants} | {caught} | {share:.1} % | {survived} | {missed} |")
}

fn json(counts: &BTreeMap<&str, Count>, reasons: &BTreeMap<String, Vec<String>>, missed: &[String]) -> Result<String, Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        kinds: &'a BTreeMap<&'a str, Count>,
        survivors: &'a BTreeMap<String, Vec<String>>,
        missed: &'a [String],
    }
    Ok(serde_json::to_string_pretty(&Document { kinds: counts, survivors: reasons, missed })?)
}
