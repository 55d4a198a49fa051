//! Queries: the output of all commands for small projects.
//!
//! Instructions: `ask TARGET`, `show STRUCTURE[.MEMBER|+OFFSET] [BUILD [ARCH]]`, `expand` (as `show`, with embedded structures), `history STRUCTURE[.MEMBER]
//! [ARCH]`, `matrix STRUCTURE ARCH`, `diff A B [STRUCTURE [MEMBER]]`, `map TARGET [STRUCTURE]`, `map-to TARGET STRUCTURE`,
//! `offsets NAME…`, `verify [FILE… [only=STRUCTURE] [build=BUILD] [arch=ARCH]]`, `errata STRUCTURE`, `format`, `snapshot FILE… [build=BUILD]
//! [arch=ARCH]`, `updates`. Files are those of the case.

use super::{Case, run};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::evidence::{builds, confirmed};
use etw_layouts_project::map::Map;
use etw_layouts_project::matrix::Matrix;
use etw_layouts_project::members::{c_type, keyword};
use etw_layouts_project::offsets::Variable;
use etw_layouts_project::subject::Subject;
use etw_layouts_project::tables::Stated;
use etw_layouts_project::{Choice, Error, Project, diff, errata, facts, format, history, offsets, verify};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

#[test]
fn queries_of_small_projects() {
    run("print", |case| answer(case).unwrap_or_else(|error| format!("error: {error}\n")));
}

fn answer(case: &Case) -> Result<String, Error> {
    let project = case.project();
    let layouts = project.layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    let mut text = String::new();
    for line in &case.instructions {
        writeln!(text, "> {line}")?;
        let words: Vec<&str> = line.split(' ').collect();
        let output = match words[0] {
            "ask" => ask(&layouts, &registry, words[1]),
            "show" => show(&layouts, &registry, &words[1..], 0),
            "expand" => show(&layouts, &registry, &words[1..], 2),
            "history" => history_text(&layouts, &registry, words[1], words.get(2).copied()),
            "matrix" => matrix(&layouts, &registry, words[1], words[2]),
            "diff" => differences(case, &layouts, &registry, &words[1..]),
            "map" => map(&layouts, words[1], |target| Map::of(&layouts, target, words.get(2).copied())),
            "map-to" => map(&layouts, words[1], |target| Map::to(&layouts, target, words[2])),
            "offsets" => table(&layouts, &registry, &words[1..]),
            "verify" => verified(case, &words[1..]),
            "errata" => Ok(errata::list(&layouts, Some(words[1])).iter().map(|line| format!("  {line}\n")).collect()),
            "format" => formatted(&project),
            "snapshot" => snapshot(case, &words[1..]),
            "updates" => Ok(layouts.spec.axis.kbs.iter().map(|(build, kbs)| format!("  {build}: {kbs:?}\n")).collect()),
            _ => panic!("{line}"),
        };
        text += &output.unwrap_or_else(|error| format!("error: {error}\n"));
    }
    Ok(text)
}

fn ask(layouts: &Layouts, registry: &Registry, name: &str) -> Result<String, Error> {
    let axis = &layouts.spec.axis;
    let asked = axis.find(name)?;
    let confirmed = confirmed(registry, axis);
    // Definitions with the same output are printed together.
    let mut outputs: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for structure in [None].into_iter().chain(layouts.spec.definitions.keys().map(|name| Some(name.as_str()))) {
        let choice = Choice::of(layouts, registry, asked.clone(), structure);
        let (label, sentence, source) = (choice.label(axis), choice.sentence(axis), choice.source_of_whole(axis).word());
        let mut text = format!("    {label}: {sentence}; {source}\n");
        choice.note(axis).iter().for_each(|note| text += &format!("    {note}\n"));
        if let Some(name) = structure {
            let why = confirmed.why_not(layouts, name, asked.target).map_or("confirmed", |why| why.text());
            text += &format!("    {}, {why}\n", confirmed.has(name, asked.target));
        }
        outputs.entry(text).or_default().push(structure.unwrap_or("all"));
    }
    let examined = builds(registry, axis).get(&asked.target).copied().unwrap_or_default();
    let mut text = format!("  examined builds: {examined}\n");
    outputs.iter().for_each(|(output, names)| text += &format!("  {}\n{output}", names.join(", ")));
    Ok(text)
}

fn show(layouts: &Layouts, registry: &Registry, words: &[&str], levels: usize) -> Result<String, Error> {
    let arch = words.get(2).map(|arch| arch.parse().expect("an architecture"));
    let subject = Subject::find(layouts, registry, words[0], words.get(1).copied(), arch)?;
    let mut text = format!("{}\n", subject.choice.label(&layouts.spec.axis));
    let subject = subject.expanded(levels);
    let members = subject.members(layouts);
    let known = subject.known(layouts, registry, &members);
    for (member, known) in members.iter().zip(known) {
        let (path, indent) = (member.path.as_deref().unwrap_or("-"), "  ".repeat(member.depth + 1));
        let bits = member.bits.map(|bits| format!(" bits {}@{}", bits.width, bits.position)).unwrap_or_default();
        let ty = member.field.as_ref().map_or("padding".to_owned(), |(field, _)| c_type(field));
        writeln!(text, "{indent}{:#x} {:#x} {path}{bits}: {ty}, {known}, of {}", member.offset, member.size, member.of)?;
    }
    subject.constants(layouts).iter().for_each(|constant| text += &format!("  {}\n", constant.name.value));
    writeln!(text, "  {} of the structure itself", members.iter().filter(|member| member.flat()).count())?;
    Ok(text)
}

fn history_text(layouts: &Layouts, registry: &Registry, name: &str, arch: Option<&str>) -> Result<String, Error> {
    let axis = &layouts.spec.axis;
    let mut text = String::new();
    let history = history::of(layouts, registry, name, arch.map(|arch| arch.parse().expect("an architecture")))?;
    writeln!(text, "{} in {}", history.structure, axis.describe(&history.targets))?;
    let sizes = [("size".to_owned(), history.sizes)];
    for (path, stages) in sizes.into_iter().chain(history.members) {
        for stage in stages {
            let sources: Vec<_> = stage.sources.iter().map(|source| source.word()).collect();
            let last = stage.last_without.map(|build| format!(", not yet in {build}")).unwrap_or_default();
            writeln!(text, "  {path} {}: {}{last}, {}", axis.describe(&stage.targets), stage.change, sources.join(" and "))?;
            if stage.since.is_some() || stage.before.is_some() {
                writeln!(text, "    {}", stage.label(axis))?;
            }
            for fact in stage.facts.iter().flatten() {
                writeln!(text, "    {}", fact.as_ref().map_or("absent".to_owned(), |fact| format!("{fact:?}")))?;
            }
        }
    }
    Ok(text)
}

fn matrix(layouts: &Layouts, registry: &Registry, structure: &str, arch: &str) -> Result<String, Error> {
    let axis = &layouts.spec.axis;
    let arch = arch.parse().expect("an architecture");
    let Some(matrix) = Matrix::of(layouts, registry, structure, arch) else { return Ok("none\n".into()) };
    let mut text = String::new();
    for column in &matrix.columns {
        let targets: Vec<_> =
            column.targets.iter().map(|(target, known)| format!("{} ({known})", axis.target_name(*target))).collect();
        let (size, gap) = (column.extent.size, if column.after_gap { ", after a gap" } else { "" });
        writeln!(text, "  column {}: {size:#x} bytes{gap}", targets.join(", "))?;
    }
    for row in &matrix.rows {
        let runs: Vec<_> = row.runs.iter().map(|run| format!("{:?} {:?} {}", run.columns, run.fact, run.source.word())).collect();
        writeln!(text, "  {} ({}): {}", row.member, row.doc, runs.join("; "))?;
    }
    Ok(text)
}

fn differences(case: &Case, layouts: &Layouts, registry: &Registry, words: &[&str]) -> Result<String, Error> {
    let mut text = String::new();
    let paths = [words[0], words[1]].map(|asked| match case.files.contains_key(asked) {
        true => case.root.join(asked).display().to_string(),
        false => asked.to_owned(),
    });
    let [a, b] = diff::sides(layouts, registry, [&paths[0], &paths[1]], words.get(2).copied())?;
    for side in [&a, &b] {
        writeln!(text, "  {}: {} types, not compared: {}", side.label, side.types.len(), side.not_compared.join(", "))?;
        side.notes.iter().for_each(|note| text += &format!("    {note}\n"));
    }
    let mut changes = diff::changes(&a, &b);
    words.get(3).iter().for_each(|member| changes.of_member(member));
    for (list, entries) in changes.lists() {
        for entry in entries {
            let member = entry.member.as_ref().map(|member| format!(".{member}")).unwrap_or_default();
            let [a, b] = [&entry.a, &entry.b].map(|fact| fact.as_ref().map_or("none".to_owned(), |fact| format!("{fact:?}")));
            writeln!(text, "  {list} {}{member}: {a} -> {b}", entry.structure)?;
        }
    }
    let verdict = diff::Verdict::of(&a, &b, &changes);
    for (word, set) in
        [("equal", &verdict.equal), ("differ", &verdict.differ), ("unknown", &verdict.unknown), ("inferred", &verdict.inferred)]
    {
        if !set.is_empty() {
            writeln!(text, "  {word}: {}", set.iter().copied().collect::<Vec<_>>().join(", "))?;
        }
    }
    if let Err(error) = verdict.ensure_decided(&a, &b) {
        writeln!(text, "  {error}")?;
    }
    // A structure differs in the same way alone and among all others, except for sizes of pointers and for constants of embedded
    // enumerations.
    for name in a.types.keys().chain(b.types.keys()).filter(|_| a.pointer == b.pointer) {
        let alone = diff::changes(&a.only(name), &b.only(name));
        let mut of_one = diff::changes(&a, &b);
        of_one.of_structures(&[name]);
        of_one.constants.retain(|entry| entry.member.as_ref().is_none_or(|member| !member.contains('.')));
        assert_eq!(format!("{alone:?}"), format!("{of_one:?}"));
    }
    Ok(text)
}

fn map(layouts: &Layouts, target: &str, of: impl Fn(TargetId) -> Map) -> Result<String, Error> {
    let mut text = String::new();
    for structure in of(layouts.spec.axis.find(target)?.target).structures {
        writeln!(text, "  {} {:#x}", structure.name, structure.size)?;
        for link in structure.links {
            let by = link.link.map(|member| format!(" by {member}")).unwrap_or_default();
            let specified = if link.is_specified { "" } else { ", not specified" };
            let (offset, member, count) = (link.offset, link.member, link.count);
            writeln!(text, "    {offset:#x} {member} [{count}] {} {}{by}{specified}", link.way.word(), link.to)?;
        }
    }
    Ok(text)
}

fn table(layouts: &Layouts, registry: &Registry, names: &[&str]) -> Result<String, Error> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let table = offsets::of(layouts, registry, &names, None)?;
    let mut text = String::new();
    for row in table.rows() {
        let cells = row.cells.iter().map(|cell| match cell {
            Some(cell) => {
                let bits = cell.bits.map(|bits| format!(" bits {}@{}", bits.width, bits.position)).unwrap_or_default();
                format!("{:#x}{bits}{}", cell.value, if cell.in_image { " in image" } else { "" })
            }
            None => "-".to_owned(),
        });
        let cells: Vec<_> = cells.collect();
        let choices = table.columns.iter().map(|column| &row.choices[column.structure]);
        let known: Vec<_> = choices.map(|choice| choice.confidence.to_string()).collect();
        let variables = row.variables.iter().map(|address| match address {
            Variable::At(address) => format!("{:#x} by {}", address.at, address.by.evidence()),
            Variable::Unknown => "unknown".to_owned(),
            Variable::Absent => "-".to_owned(),
        });
        let variables: Vec<_> = variables.collect();
        writeln!(
            text,
            "  {}-{:?}: {} | {} | {}",
            row.seen.build,
            row.seen.arch,
            cells.join(", "),
            variables.join(", "),
            known.join(", ")
        )?;
    }
    Ok(text)
}

/// The value of an option among the words of an instruction.
fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// The options of an instruction for files, and the files.
fn stated(case: &Case, words: &[&str]) -> (Stated, Vec<PathBuf>) {
    let build = option(words, "build").map(str::to_owned);
    let arch = option(words, "arch").map(|arch| arch.parse().expect("an architecture"));
    let files = words.iter().filter(|word| !word.contains('=')).map(|path| case.root.join(path)).collect();
    (Stated { build, arch }, files)
}

fn snapshot(case: &Case, words: &[&str]) -> Result<String, Error> {
    let (stated, files) = stated(case, words);
    let folder = case.root.join(option(words, "to").unwrap_or("facts"));
    let facts::Written { files: count, bytes, .. } = facts::write(&case.project(), &files, &stated, &folder)?;
    let mut text = format!("  {count} files, {bytes} bytes\n");
    let mut written: Vec<_> = fs::read_dir(&folder)?.map(|entry| entry.expect("a file").path()).collect();
    written.sort();
    for path in &written {
        if path.extension().is_none_or(|extension| extension != "facts") {
            writeln!(text, "  {}", path.display())?;
            continue;
        }
        let kernels = fs::read_to_string(path)?;
        let kernels: Vec<_> = kernels.lines().skip(1).filter(|line| line.starts_with(['p', 'k'])).collect();
        writeln!(text, "  {}: {}", path.display(), kernels.join(", "))?;
    }
    Ok(text)
}

fn formatted(project: &Project) -> Result<String, Error> {
    Ok(format::formatted(project)?.into_iter().map(|(path, text)| format!("  {path}\n{text}")).collect())
}

fn verified(case: &Case, words: &[&str]) -> Result<String, Error> {
    let project = case.project();
    let layouts = project.layouts()?;
    let report = match words {
        [] => verify::shipped(&project, &layouts)?,
        _ => {
            let (stated, files) = stated(case, words);
            verify::report(&project, &layouts, option(words, "only"), &files, &stated, &|_| ())?
        }
    };
    let mut text = String::new();
    for table in report.tables.iter().chain(&report.images) {
        let sentence =
            if table.is_labelled_wrongly() { verify::label::sentence(&layouts.spec.axis, table) } else { String::new() };
        let variables = &table.variables;
        writeln!(
            text,
            "  {} {}-{} {}/{} variables {sentence}",
            table.source, table.build, table.arch, variables.equal, variables.stated
        )?;
        variables.differences.iter().for_each(|finding| text += &format!("    {}\n", finding.line()));
        for (name, found) in &table.structures {
            writeln!(text, "    {name}: {}, {} equal, {:?}", found.outcome.as_str(), found.equal, found.accepted)?;
            found.differences.iter().for_each(|finding| text += &format!("      {}\n", finding.line()));
        }
    }
    report.skipped.iter().for_each(|line| text += &format!("  skipped: {line}\n"));
    report.claims.iter().for_each(|claim| text += &format!("  claim: {}\n", claim.line()));
    errata::list(&layouts, None).iter().for_each(|line| text += &format!("  erratum: {line}\n"));
    let summary = &report.summary;
    writeln!(
        text,
        "  {} tables, {} kernels, {} images, {} skipped; {} verified, {} unverifiable, {} not verified, {} mislabelled, {} differ, {} errata, {} agree; {}",
        summary.tables,
        summary.kernels,
        summary.images,
        summary.skipped_images,
        summary.verified,
        summary.unverifiable,
        summary.not_verified,
        summary.mislabelled,
        summary.differences,
        summary.errata,
        errata::agreeing(&layouts),
        report.differs()
    )?;
    summary.reasons.iter().for_each(|(reason, count)| text += &format!("    {reason}: {count}\n"));
    let kinds = [etw_layouts_codegen::spec::Kind::Struct, etw_layouts_codegen::spec::Kind::Union];
    assert_eq!(kinds.map(keyword), ["struct", "union"]);
    Ok(text)
}
