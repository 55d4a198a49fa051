//! One list of random questions. Every function that states a layout gives the same answer, with the same confidence.

use crate::atlas::{FILES, specs};
use crate::contract::etw;
use etw_layouts::LAYOUTS;
use etw_layouts_cli::{export, pretty, show};
use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::{Form, Layouts};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::diff::{is_known, sides};
use etw_layouts_project::history::{self, History, TargetFact};
use etw_layouts_project::members::members;
use etw_layouts_project::offsets;
use etw_layouts_project::subject::Subject;
use etw_layouts_project::{Choice, Confidence};
use etw_layouts_symbols::{Type, TypeFacts};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use test_support::installed;

/// The number of questions with `ETW_LAYOUTS_ALL`. Otherwise, a tenth is asked, and the program is asked a tenth of these.
const QUESTIONS: usize = 3000;

/// Where is this member at this build?
struct Question {
    structure: String,
    member: String,
    build: Build,
    arch: Arch,
}

/// The offset of a member, and the first bit and the width of a bit field; none if the build does not exist or lacks the member.
type Place = Option<(u64, Option<(u64, u64)>)>;

/// A generator of numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Questions about examined builds, builds between them, unknown builds and builds that do not exist, on all architectures.
fn questions(layouts: &Layouts, registry: &Registry) -> Vec<Question> {
    let mut random = Random(37);
    let examined: Vec<Build> = registry.builds.iter().map(|seen| seen.build).collect::<BTreeSet<_>>().into_iter().collect();
    let mut builds: Vec<Build> =
        ["4.0.1381.1", "5.0.2000.1", "10.0.65000.1", "10.0.18277.1000"].map(|build| build.parse().expect("a build")).into();
    for _ in 0..12 {
        let Build { number, revision } = *random.of(&examined);
        builds.extend([revision, revision + 1 + random.below(900) as u32].map(|revision| Build { number, revision }));
    }
    let all: BTreeSet<&str> = layouts
        .layouts
        .iter()
        .filter(|layout| matches!(layout.form, Form::Aggregate(_)))
        .map(|layout| layout.name.as_str())
        .collect();
    let all: Vec<&str> = all.into_iter().collect();
    let structures: Vec<&str> =
        ["WMI_LOGGER_CONTEXT", "ETW_REG_ENTRY"].into_iter().chain((0..58).map(|_| *random.of(&all))).collect();
    // A name is that of a member of any build, so that a build can lack it.
    let named: Vec<(&str, Vec<String>)> = structures
        .into_iter()
        .map(|name| {
            let own = layouts.by_target.iter().flat_map(|(target, _)| members(layouts, name, target));
            let flat: BTreeSet<String> = own.filter_map(|member| member.path).filter(|path| !path.contains('.')).collect();
            (name, flat.into_iter().collect())
        })
        .collect();
    let question = |_| {
        let (structure, own) = random.of(&named);
        let (member, build) = (random.of(own).clone(), *random.of(&builds));
        Question { structure: (*structure).to_owned(), member, build, arch: *random.of(&Arch::ALL) }
    };
    let count = if installed::all() { QUESTIONS } else { QUESTIONS / 10 };
    (0..count).map(question).collect()
}

#[test]
fn all_functions_give_the_same_answer() {
    let (layouts, registry) = specs();
    let axis = &layouts.spec.axis;
    let statements = crate::project().statements().expect("the facts of events can be read");
    let questions = questions(layouts, registry);
    let document = serde_json::to_value(export::document(layouts, registry, &statements)).expect("JSON");
    let document: BTreeMap<&str, &Value> =
        document["structures"].as_array().into_iter().flatten().filter_map(|one| Some((one["name"].as_str()?, one))).collect();
    let atlas = Atlas { builds: data("builds.js"), confidence: data("confidence.js") };
    let mut histories: BTreeMap<&str, History> = BTreeMap::new();
    let offsets = offset_tables(layouts, registry, &questions);
    let (mut found, mut missing, mut in_tables) = (0, 0, 0);
    for Question { structure, member, build, arch } in &questions {
        let about = format!("{structure}.{member} at {build}-{arch}");
        let asked = format!("{structure}.{member}");
        let subject = Subject::find(layouts, registry, &asked, Some(&build.to_string()), Some(*arch));
        let choice =
            axis.find_build(&build.to_string(), *arch).ok().map(|asked| Choice::of(layouts, registry, asked, Some(structure)));
        let expected: Place = subject.as_ref().ok().and_then(|subject| {
            let members = subject.members(layouts);
            members.first().map(|member| (member.offset, member.bits.map(|bits| (bits.position, bits.width))))
        });
        if expected.is_some() {
            found += 1
        } else {
            missing += 1
        }

        // The crate.
        let own = LAYOUTS.structure(structure).map(|own| own.select(*build, *arch));
        let selected = own.and_then(Result::ok);
        let place = |layout: etw_layouts::runtime::packed::Layout| {
            let found = layout.member(member)?;
            Some((found.offset as u64, found.bits.map(|(first, width)| (first.into(), width.into()))))
        };
        if let Some(selected) = selected {
            assert_eq!(place(selected.layout.layout()), expected, "the crate: {about}");
            let choice = choice.as_ref().unwrap_or_else(|| panic!("the program does not know the build: {about}"));
            assert_eq!(selected.confidence, choice.confidence, "the crate: {about}");
        } else {
            assert_eq!(expected, None, "the crate: {about}");
        }

        // The comparison of two builds.
        let name = format!("{build}-{arch}");
        let side = sides(layouts, registry, [&name, &name], Some(structure)).ok().map(|[side, _]| side);
        let of_side = side.as_ref().and_then(|side| match side.types.get(structure)? {
            TypeFacts::Aggregate(aggregate) => {
                let found = aggregate.members.iter().find(|own| own.name == *member)?;
                let bits =
                    if let Type::Bits { position, width, .. } = found.ty { Some((position.into(), width.into())) } else { None };
                Some((found.offset, bits))
            }
            TypeFacts::Enumeration(_) => None,
        });
        assert_eq!(of_side, expected, "diff: {about}");
        let (Some(choice), Ok(subject)) = (choice, subject) else { continue };
        assert_eq!(subject.choice.confidence, choice.confidence, "show: {about}");
        let side = side.unwrap_or_else(|| panic!("diff: {about}"));
        assert_eq!(side.choice.as_ref().map(|choice| choice.confidence), Some(choice.confidence), "diff: {about}");
        assert_eq!(side.unexamined.contains(structure), !is_known(axis, &choice), "diff: {about}");

        // The JSON of the member, of all layouts, and of the history.
        let shown: Value = serde_json::from_str(&pretty(&show::json(layouts, registry, &subject)).expect("JSON")).expect("JSON");
        assert_eq!(
            (of_json(&shown["members"][0]), shown["confidence"].as_str()),
            (expected, Some(choice.confidence.word())),
            "show: {about}"
        );
        let target = choice.target();
        let own = document.get(structure.as_str()).unwrap_or_else(|| panic!("export json: {about}"));
        let has = |layout: &&Value| contains(&layout["targets"], target.into());
        let layout = own["layouts"].as_array().into_iter().flatten().find(has);
        let exported = layout.and_then(|layout| layout["members"].as_array()?.iter().find(|own| own["name"] == *member));
        assert_eq!(exported.and_then(of_json), expected, "export json: {about}");
        if axis.revision_of(target).build == choice.asked.build {
            assert!(contains(&own["confidence"][choice.confidence.word()], target.into()), "export json: {about}");
        }
        let history =
            histories.entry(structure).or_insert_with(|| history::of(layouts, registry, structure, None).expect("a history"));
        let stages = history.members.iter().filter(|(path, _)| path == member).flat_map(|(_, stages)| stages);
        let stage = stages
            .into_iter()
            .find(|stage| stage.targets.contains(target))
            .and_then(|stage| stage.facts[*arch as usize].clone()?);
        let of_stage = stage.and_then(|fact| match fact {
            TargetFact::Member { offset, bit, bits, .. } => Some((offset, bit.zip(bits))),
            _ => None,
        });
        assert_eq!(of_stage, expected, "history: {about}");

        // The table of examined builds, and the atlas.
        if let Some((place, confidence)) = offsets.get(&(asked.as_str(), *build, *arch)) {
            in_tables += 1;
            assert_eq!((place, confidence), (&expected, &choice.confidence), "offsets: {about}");
        }
        if let Some((sentence, known)) = atlas.standing(structure, *build, *arch) {
            assert_eq!((sentence.as_str(), known), (choice.sentence(axis).as_str(), is_known(axis, &choice)), "atlas: {about}");
        }
        assert_eq!(atlas_offset(structure, member, target.into()), expected.map(|(offset, _)| offset), "atlas: {about}");
    }
    let share = |part| questions.len() / part;
    assert!(found > share(6) && missing > share(6) && in_tables > share(15), "{found} {missing} {in_tables}");
    let asked = if installed::all() { questions.len() } else { share(10) };
    questions.iter().take(asked).for_each(|question| the_program_answers(question, layouts, registry));
}

/// The answers of `export offsets` about the examined builds, by column, build and architecture.
fn offset_tables<'a>(
    layouts: &Layouts,
    registry: &Registry,
    questions: &'a [Question],
) -> BTreeMap<(&'a str, Build, Arch), (Place, Confidence)> {
    let mut answers = BTreeMap::new();
    let builds: BTreeSet<Build> = questions.iter().map(|question| question.build).collect();
    for build in builds {
        let own: Vec<&Question> = questions.iter().filter(|question| question.build == build).collect();
        let columns: Vec<String> = own.iter().map(|question| format!("{}.{}", question.structure, question.member)).collect();
        let Ok(table) = offsets::of(layouts, registry, &columns, Some(&build.to_string())) else { continue };
        for row in table.rows() {
            for ((question, column), cell) in own.iter().zip(&table.columns).zip(&row.cells) {
                let place = cell.map(|cell| (cell.value, cell.bits.map(|bits| (bits.position, bits.width))));
                let confidence = row.choices[column.structure].confidence;
                // The table has the build under the number of the version axis.
                if row.seen.arch == question.arch && row.seen.build == build {
                    let name: &str = Box::leak(format!("{}.{}", question.structure, question.member).into_boxed_str());
                    answers.insert((name, build, question.arch), (place, confidence));
                }
            }
        }
    }
    answers
}

/// The program prints the same as the functions.
fn the_program_answers(question: &Question, layouts: &Layouts, registry: &Registry) {
    let Question { structure, member, build, arch } = question;
    let (asked, build) = (format!("{structure}.{member}"), build.to_string());
    let output = etw(&["show", &asked, "--build", &build, "--arch", arch.as_str(), "--format", "json"]);
    match Subject::find(layouts, registry, &asked, Some(&build), Some(*arch)) {
        Err(_) => assert_eq!(output.status.code(), Some(2), "{asked} at {build}-{arch}"),
        Ok(subject) => {
            let printed: Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{asked} at {build}-{arch}: {error}"));
            let expected: Value = serde_json::to_value(show::json(layouts, registry, &subject)).expect("JSON");
            assert_eq!(printed, expected, "{asked} at {build}-{arch}");
        }
    }
}

/// The place that a document states for a member.
fn of_json(member: &Value) -> Place {
    Some((member["offset"].as_u64()?, member["bit"].as_u64().zip(member["bits"].as_u64())))
}

fn contains(list: &Value, number: usize) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|one| one == number))
}

/// The data of the script.
fn data(path: &str) -> Value {
    let (_, json) = FILES[path].split_once(" = {").expect("data");
    serde_json::from_str(&format!("{{{}", json.trim_end().trim_end_matches(';'))).expect("JSON")
}

/// The data of the atlas that all pages use.
struct Atlas {
    builds: Value,
    confidence: Value,
}

impl Atlas {
    /// The confidence that the atlas shows, and whether the layout is that of the build; none for a build that the atlas does not know.
    fn standing(&self, structure: &str, Build { number, revision }: Build, arch: Arch) -> Option<(String, bool)> {
        let number = format!("{}.{}.{}", number[0], number[1], number[2]);
        let same = &self.builds["same"][&number];
        let is_same = same[1].as_u64().is_some_and(|first| u64::from(revision) >= first);
        let number = if is_same { same[0].as_str()?.to_owned() } else { number };
        let branch = &self.builds["branches"][format!("{number}-{arch}")];
        let from = branch["from"].as_array()?;
        let point = from.iter().rposition(|from| from.as_u64().is_some_and(|from| from <= u64::from(revision))).unwrap_or(0);
        let own = data(&format!("type/{structure}.js"));
        let column = own["columns"][usize::try_from(branch["at"].as_u64()?).ok()?].as_u64()?;
        let sentence = self.confidence["columns"][usize::try_from(column).ok()?][point].as_u64()?;
        let standing = &self.confidence["sentences"][usize::try_from(sentence).ok()?];
        Some((standing[0].as_str()?.to_owned(), standing[1].as_bool()?))
    }
}

/// The offset that the atlas shows for a member at a target.
fn atlas_offset(structure: &str, member: &str, target: usize) -> Option<u64> {
    let own = data(&format!("type/{structure}.js"));
    let layout = usize::try_from(own["of"][target].as_i64()?).ok()?;
    let rows = own["layouts"][layout]["rows"].as_array()?;
    let is_it = |row: &&Value| row[1].as_u64().is_some_and(|at| own["rows"][at as usize]["path"] == member);
    rows.iter().find(is_it)?[0].as_u64()
}
