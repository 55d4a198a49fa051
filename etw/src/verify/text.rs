//! A verification report as text.

use crate::print::{ALARM, GREEN, HEADING};
use crate::text_table::counted;
use anstyle::Style;
use etw_layouts_codegen::axis::{Axis, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::Choice;
use etw_layouts_project::events;
use etw_layouts_project::verify::condensed::{Line, condensed, each};
use etw_layouts_project::verify::{Checked, Outcome, Report, Summary, Variables, label};
use etw_layouts_symbols::compare::{Rule, Status};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{Display, Write};

/// The tables that are not equal or do not have layouts of their own, one line of totals, and last the differences; with `verbose` a line
/// for each table, and all other results.
pub fn text(layouts: &Layouts, report: &Report, verbose: bool) -> String {
    let axis = &layouts.spec.axis;
    let mut out = String::new();
    for table in &report.tables {
        let choice = Choice::of(layouts, &report.registry, table.asked.clone(), None);
        if verbose || !is_equal(table) || choice.is_stand_in(axis) {
            line(axis, table, &choice, &mut out);
        }
        if verbose {
            absent(axis, table, &choice, &mut out);
            variables(table, &mut out);
        }
    }
    for images in report.images.chunk_by(|one, other| one.source == other.source) {
        if verbose || images.iter().any(|image| image.differs() || !image.variables.differences.is_empty()) {
            partly(axis, images, verbose, &mut out);
        }
    }
    for skipped in &report.skipped {
        let _ = writeln!(out, "skipped {skipped}");
    }
    let offsets = report.images.iter().flat_map(|image| image.structures.values()).map(|found| found.equal).sum();
    if verbose {
        rules(report, &mut out);
        section(&format!("Errata of published references, {}", report.errata.len()), &report.errata, &mut out);
        totals(&report.summary, offsets, &mut out);
        events(&report.events, &mut out);
    }
    let (count, differences) = count(report);
    let style = if count > 0 || report.summary.mislabelled > 0 { ALARM } else { GREEN };
    let _ = match verbose {
        true => writeln!(out, "{style}{count:8} {differences}{style:#}"),
        false => writeln!(out, "{}; {style}{count} {differences}{style:#}", total(&report.summary, offsets)),
    };
    self::differences(report, verbose, &mut out);
    wrong(axis, report, &mut out);
    out
}

/// The totals in one line.
fn total(summary: &Summary, offsets: u64) -> String {
    let Summary { tables, kernels, images, skipped_images, mislabelled, verified, unverifiable, not_verified, .. } = summary;
    let [tables, builds, images] =
        [(*tables, "table"), (*kernels, "build"), (*images, "image")].map(|(n, noun)| counted(n, noun));
    let mut out = format!("{verified} facts verified by {tables} of {builds}");
    if offsets > 0 {
        let _ = write!(out, ", {} by {images}", counted(offsets, "offset"));
    }
    let _ = write!(out, "; {not_verified} not verified, {unverifiable} unverifiable");
    if *skipped_images > 0 {
        let _ = write!(out, "; {} skipped", counted(*skipped_images, "image"));
    }
    if *mislabelled > 0 {
        let _ = write!(out, "; {} with a wrong build", counted(*mislabelled, "table"));
    }
    out
}

/// Whether the table contains structures, and all are equal.
fn is_equal(table: &Checked) -> bool {
    let has = |outcome| table.structures.values().any(|compared| compared.outcome == Outcome::Compared(outcome));
    let differs = table.is_labelled_wrongly() || table.differs() || !table.variables.differences.is_empty();
    has(Status::Equal) && !has(Status::Differs) && !differs
}

/// The number of facts that each rule for converted tables accepted.
pub fn uses(report: &Report) -> BTreeMap<Rule, u64> {
    let mut uses = BTreeMap::new();
    for (rule, count) in report.tables.iter().flat_map(|t| t.structures.values()).flat_map(|s| &s.accepted) {
        *uses.entry(*rule).or_default() += count;
    }
    uses
}

fn of(table: &Checked, outcome: Outcome) -> Vec<&str> {
    let structures = table.structures.iter().filter(|(_, compared)| compared.outcome == outcome);
    structures.map(|(name, _)| name.as_str()).collect()
}

fn line(axis: &Axis, table: &Checked, choice: &Choice, out: &mut String) {
    let (equal, differs) =
        (of(table, Outcome::Compared(Status::Equal)).len(), of(table, Outcome::Compared(Status::Differs)).len());
    let (style, word) = match (differs, equal) {
        _ if table.is_labelled_wrongly() => (ALARM, "wrong build"),
        (1.., _) => (ALARM, "differs"),
        (0, 1..) => (GREEN, "equal"),
        (0, 0) => (Style::new(), "absent"),
    };
    let facts: u64 = table.structures.values().map(|compared| compared.equal).sum();
    let target = match choice.is_stand_in(axis) {
        true => format!("{} ", choice.label(axis)),
        false => format!("{}-{}", table.build, table.arch),
    };
    let other = if differs > 0 { format!(", {differs} differ{}", if differs == 1 { "s" } else { "" }) } else { String::new() };
    let (equal, facts) = (counted(equal as u64, "structure"), counted(facts, "fact"));
    let source = shared(table);
    let _ = writeln!(out, "{style}{word:11}{style:#} {target:22}  {equal} equal{other}, {facts}  {source}");
}

/// The file of a table, or the build that the file is named after: builds with equal tables share a file.
fn shared(table: &Checked) -> String {
    let Checked { source, build, .. } = table;
    let name = source.rsplit(['/', '\\']).next().unwrap_or(source);
    let first = name.strip_suffix(".facts").and_then(|name| name.split_once('-')).map(|(build, _)| build);
    match first.filter(|first| first != build && first.parse::<Build>().is_ok()) {
        Some(first) => format!("(same table as {first})"),
        None => source.clone(),
    }
}

/// One line for all images of a source, which can be thousands; with `verbose` also the structures that they show.
fn partly(axis: &Axis, images: &[Checked], verbose: bool, out: &mut String) {
    let all = || images.iter().flat_map(|image| &image.structures);
    let differ = images.iter().filter(|image| image.differs() || !image.variables.differences.is_empty()).count();
    let addresses = match images.iter().map(|image| image.variables.stated).sum::<usize>() {
        0 => String::new(),
        1 => ", 1 address".to_owned(),
        count => format!(", {count} addresses"),
    };
    let unseen = images.iter().filter(|image| image.asked.is_of_other_build(axis)).count();
    let (style, word) = if differ > 0 { (ALARM, "differs") } else { (Style::new(), "partial") };
    let of_images = |count: usize| counted(count as u64, "image");
    let other = match differ {
        0 => String::new(),
        1 => ", 1 image differs".to_owned(),
        _ => format!(", {differ} images differ"),
    };
    let unseen = match unseen {
        0 => String::new(),
        _ => format!(", {} not on the version axis", of_images(unseen)),
    };
    let count = of_images(images.len());
    let equal = counted(all().map(|(_, found)| found.equal).sum::<u64>(), "offset");
    let source = images.first().map_or("", |image| &image.source);
    let _ = writeln!(out, "{style}{word:11}{style:#} {count:22}  {equal} equal{addresses}{other}{unseen}  {source}");
    if verbose {
        let structures: BTreeSet<_> = all().map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(out, "        members of {}", structures.into_iter().collect::<Vec<_>>().join(", "));
        let equal: usize = images.iter().map(|image| image.variables.equal).sum();
        if equal > 0 {
            let _ =
                writeln!(out, "        addresses of global variables, {equal} equal to those in the facts of the kernel's PDB");
        }
    }
}

fn absent(axis: &Axis, table: &Checked, choice: &Choice, out: &mut String) {
    if let Some(note) = choice.note(axis) {
        let _ = writeln!(out, "        {note}");
    }
    let absent = of(table, Outcome::Compared(Status::Absent));
    let unspecified = of(table, Outcome::Unspecified);
    for (what, names) in [("not in the table", absent), ("not in the specs for this target", unspecified)] {
        if !names.is_empty() {
            let _ = writeln!(out, "        {what}: {}", names.join(", "));
        }
    }
}

/// The number of variable addresses in a table, and how many of them equal those in the facts.
fn variables(table: &Checked, out: &mut String) {
    let Variables { stated, equal, .. } = table.variables;
    let known = if equal > 0 { format!(", {equal} equal to those in the facts of this PDB") } else { String::new() };
    if stated > 0 {
        let _ = writeln!(out, "        addresses of {}{known}", counted(stated as u64, "global variable"));
    }
}

fn rules(report: &Report, out: &mut String) {
    let line = |(rule, count): (Rule, u64)| format!("{count:6}  {}: {}", rule.as_str(), rule.description());
    section("Rules for converted tables, and the number of facts accepted by each", uses(report).into_iter().map(line), out);
}

/// A heading with lines below it; nothing without lines.
fn section(heading: &str, lines: impl IntoIterator<Item: Display>, out: &mut String) {
    for (index, line) in lines.into_iter().enumerate() {
        if index == 0 {
            let _ = writeln!(out, "\n{HEADING}{heading}{HEADING:#}");
        }
        let _ = writeln!(out, "  {line}");
    }
}

fn totals(summary: &Summary, offsets: u64, out: &mut String) {
    let Summary { tables, kernels, images, skipped_images, mislabelled, verified, errata, reasons, .. } = summary;
    let Summary { unverifiable, not_verified, .. } = summary;
    out.push('\n');
    if *tables > 0 {
        let _ = writeln!(
            out,
            "{} of {}. A fact is a size, offset, type, bit range or constant at one target of the version axis.",
            counted(*tables, "table"),
            counted(*kernels, "build")
        );
    }
    let _ = writeln!(out, "{verified:8} facts verified{}", if *images > 0 { " by tables" } else { "" });
    let _ = writeln!(out, "{unverifiable:8} facts that no public symbols can verify");
    for (reason, count) in reasons {
        let _ = writeln!(out, "{:8}   {count:6}  {reason}", "");
    }
    let _ = writeln!(
        out,
        "{not_verified:8} facts not verified: not contained in any table that was read, or accepted only by a rule for converted tables"
    );
    if *images > 0 {
        let noun = if offsets == 1 { "offset" } else { "offsets" };
        let (by, shows) = (counted(*images, "image"), if *images == 1 { "which" } else { "each of which" });
        let _ = writeln!(out, "{offsets:8} {noun} verified by {by}, {shows} shows the offsets of some members");
    }
    if *skipped_images > 0 {
        let noun = if *skipped_images == 1 { "image" } else { "images" };
        let _ = writeln!(out, "{skipped_images:8} {noun} skipped: the specs do not have the architecture");
    }
    if *mislabelled > 0 {
        let noun = if *mislabelled == 1 { "table" } else { "tables" };
        let _ = writeln!(out, "{mislabelled:8} {noun} with a wrong build");
    }
    let _ = writeln!(out, "{errata:8} errata of published references");
}

/// The fields of events verified against each source.
fn events(events: &events::Report, out: &mut String) {
    for (source, counts) in &events.sources {
        let events::Counts { events, fields, errata, unsettled, differences } = counts;
        let unsettled = if *unsettled > 0 { format!(", {unsettled} unresolved") } else { String::new() };
        let differ = if *differences > 0 { format!(", {}", counted(*differences, "difference")) } else { String::new() };
        let (noun, of) = (if *fields == 1 { "field" } else { "fields" }, counted(*events, "event"));
        let errata = if *errata == 1 { "1 erratum".to_owned() } else { format!("{errata} errata") };
        let _ = writeln!(out, "{fields:8} {noun} of {of} verified against {source}, {errata}{unsettled}{differ}");
    }
    section(&format!("Errata of sources of events, {}", events.errata.len()), &events.errata, out);
}

/// The tables with a wrong build.
fn wrong(axis: &Axis, report: &Report, out: &mut String) {
    let wrong = report.tables.iter().filter(|table| table.is_labelled_wrongly());
    let wrong = wrong.map(|table| format!("{}; correct --build, the file name or builds.tsv", label::sentence(axis, table)));
    section("Wrong builds", wrong, out);
}

/// The number of differences, with the word. A renamed member is two mismatches, but counts as one difference.
fn count(report: &Report) -> (usize, String) {
    let right = report.tables.iter().chain(&report.images).filter(|table| !table.is_labelled_wrongly());
    let of_table = |table: &Checked| {
        let structures = table.structures.iter().map(|(name, compared)| each(name, &compared.differences).len());
        structures.sum::<usize>() + table.variables.differences.len()
    };
    let count = right.map(of_table).sum::<usize>() + report.claims.len() + report.events.differences.len();
    let noun = if count == 1 { "difference" } else { "differences" };
    let wrong = if report.summary.mislabelled > 0 { ", not counting tables with a wrong build" } else { "" };
    (count, format!("{noun}{wrong}"))
}

/// The differences. A table with a wrong build differs in many facts, which are printed only with `verbose`.
fn differences(report: &Report, verbose: bool, out: &mut String) {
    let (count, _) = count(report);
    if count > 0 {
        let _ = writeln!(out, "\n{HEADING}Differences{HEADING:#}");
    }
    let right = |table: &&Checked| verbose || !table.is_labelled_wrongly();
    let tables: Vec<_> = report.tables.iter().chain(&report.images).filter(right).collect();
    for (line, tables) in lines(&tables, verbose) {
        let _ = match &tables[..] {
            [first, .., _] if !verbose => writeln!(out, "  {line}  ({} tables, first {first})", tables.len()),
            tables => tables.iter().try_for_each(|table| writeln!(out, "  {table} {line}")),
        };
    }
    for claim in &report.claims {
        let _ = writeln!(out, "  {}", claim.line());
    }
    for mismatch in &report.events.differences {
        let _ = writeln!(out, "  {}", mismatch.line());
    }
}

/// The differences. Each line is listed once, with the targets of the tables that have the difference. With `verbose`, each difference has
/// a line.
fn lines(tables: &[&Checked], verbose: bool) -> Vec<(String, Vec<String>)> {
    let mut list: Vec<(Line, Vec<String>)> = Vec::new();
    let mut known = HashMap::new();
    for table in tables {
        let of_structure = if verbose { each } else { condensed };
        let structures = table.structures.iter().flat_map(|(name, compared)| of_structure(name, &compared.differences));
        for line in structures.chain(table.variables.differences.iter().map(|mismatch| Line::new(mismatch.line()))) {
            let fact = if verbose { line.fact.clone() } else { String::new() };
            let index = *known.entry((line.start.clone(), fact, line.end.clone())).or_insert(list.len());
            if index == list.len() {
                list.push((line, Vec::new()));
            } else if list[index].0.fact != line.fact {
                list[index].0.fact.clear();
            }
            list[index].1.push(format!("{}-{}", table.build, table.arch));
        }
    }
    list.into_iter().map(|(Line { start, fact, end }, tables)| (start + &fact + &end, tables)).collect()
}
