//! Property: random axes, scopes and files have the targets and the values that the sentences of specs/README.md give them. Errors
//! are errors in both.
//!
//! `RANGES=100000` tests more cases, `RANGES_SEED` other ones.

mod axis;
mod file;
mod naive;
mod random;
mod shrink;

use axis::Axis;
use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::spec::{Body, Member, Piecewise, Shape, Spec};
use etw_layouts_codegen::{Sources, emit, read};
use file::File;
use naive::{Facts, Target, Targets, Wrong};
use random::Random;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::env;

/// The number of axes, each with some scopes and a file.
const CASES: usize = 10_000;
const SCOPES: usize = 5;

#[derive(Clone, Debug)]
struct Case {
    axis: Axis,
    scopes: Vec<String>,
    file: Option<File>,
}

/// How many texts of a case are valid.
#[derive(Clone, Copy, Default)]
struct Valid {
    axes: usize,
    scopes: usize,
    files: usize,
}

#[test]
fn random_scopes_mean_what_the_sentences_of_the_language_say() {
    let number = |name: &str, default| env::var(name).map_or(default, |text| text.parse().expect("a decimal number"));
    let (count, seed) = (number("RANGES", CASES), number("RANGES_SEED", 1));
    let case = |index: usize| case(&mut Random::new(((seed as u64) << 32) + index as u64));
    let cases = (0..count).into_par_iter().map(|index| check(&case(index)).map_err(|_| index));
    let valid = cases.collect::<Result<Vec<_>, _>>().unwrap_or_else(|index| {
        let case = shrink::smallest(case(index), |case| check(case).is_err());
        let difference = check(&case).err().unwrap_or_default();
        let file = case.file.map(|file| file.text()).unwrap_or_default();
        panic!("case {index} of seed {seed}: {difference}\n{}{:#?}\n{file}", case.axis.text(), case.scopes);
    });
    let sum = |of: fn(&Valid) -> usize| valid.iter().map(of).sum::<usize>();
    let (axes, scopes, files) = (sum(|valid| valid.axes), sum(|valid| valid.scopes), sum(|valid| valid.files));
    println!("{count} axes, {axes} of them valid, with {scopes} valid scopes and {files} valid files");
    assert!(axes > count / 2 && scopes > axes && files > axes / 12, "too few valid cases");
}

fn case(random: &mut Random) -> Case {
    let axis = random.axis();
    let scopes = (0..SCOPES).map(|_| random.scope(&axis)).collect();
    let file = Some(random.file(&axis));
    Case { axis, scopes, file }
}

fn check(case: &Case) -> Result<Valid, String> {
    let mut sources = Sources::default();
    sources.add("windows.toml", case.axis.text());
    sources.add(
        "scalars.toml",
        "[scalar]\nULONG = { size = 4, c = \"unsigned long\" }\nUCHAR = { size = 1, c = \"unsigned char\" }\n",
    );
    let all = naive::targets(&case.axis);
    let documented = all.as_ref().map_err(|_| Wrong).and_then(|all| naive::documented(&case.axis, all));
    let (all, documented, spec) = match (all, documented, read(sources.clone())) {
        (Ok(all), Ok(documented), Ok(spec)) => (all, documented, spec),
        (Err(Wrong), _, Err(_)) | (_, Err(Wrong), Err(_)) => return Ok(Valid::default()),
        (Ok(_), Ok(_), Err(errors)) => return Err(format!("the axis is refused: {errors}")),
        (_, _, Ok(_)) => return Err("the axis is not refused".into()),
    };
    let mut valid = Valid { axes: 1, ..Valid::default() };
    equal("the axis", &all, &targets(&spec, &spec.axis.all()))?;
    equal("the documented targets", &documented, &targets(&spec, &spec.axis.documented))?;
    for scope in &case.scopes {
        match (naive::scope(&case.axis, &all, scope), spec.axis.scope(scope)) {
            (Ok(theirs), Ok(ours)) => {
                equal(scope, &theirs, &targets(&spec, &ours))?;
                let text = spec.axis.describe(&ours);
                if !ours.is_empty() && spec.axis.scope(&text).as_ref() != Ok(&ours) {
                    return Err(format!("`{scope}` is described as `{text}`"));
                }
                valid.scopes += 1;
            }
            (Err(Wrong), Err(_)) => {}
            (Ok(_), Err(error)) => return Err(format!("`{scope}` is refused: {error}")),
            (Err(Wrong), Ok(ours)) => return Err(format!("`{scope}` is not refused: {:?}", targets(&spec, &ours))),
        }
    }
    let Some(file) = &case.file else { return Ok(valid) };
    let windows = sources.clone();
    sources.add("S.toml", file.text());
    match (naive::facts(&case.axis, &all, file), read(sources)) {
        (Ok(theirs), Ok(spec)) => {
            equal("the file", &theirs, &facts(&spec))?;
            valid.files = 1;
            // The text that an import writes has the same facts.
            let text = emit::toml::definition(&spec, &spec.definitions["S"]);
            let mut sources = windows;
            sources.add("S.toml", text.clone());
            let again = read(sources).map_err(|errors| format!("the printed file is refused: {errors}\n{text}"))?;
            equal(&text, &theirs, &facts(&again))?;
        }
        (Err(Wrong), Err(_)) => {}
        (Ok(_), Err(errors)) => return Err(format!("the file is refused: {errors}")),
        (Err(Wrong), Ok(_)) => return Err("the file is not refused".into()),
    }
    Ok(valid)
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, theirs: &T, ours: &T) -> Result<(), String> {
    if theirs == ours { Ok(()) } else { Err(format!("{what}\nby the sentences: {theirs:?}\nas read:          {ours:?}")) }
}

fn targets(spec: &Spec, set: &TargetSet) -> Targets {
    set.iter().map(|target| name(spec, target)).collect()
}

fn name(spec: &Spec, target: etw_layouts_codegen::axis::TargetId) -> Target {
    let build = spec.axis.revision_of(target).build;
    (build.number, build.revision, spec.axis.targets[target].arch.as_str())
}

/// The facts of the structure, as they are read.
fn facts(spec: &Spec) -> Facts {
    let definition = &spec.definitions["S"];
    let mut facts = Facts::default();
    facts.scopes.insert("S".into(), targets(spec, &definition.scope));
    facts.values.insert("reason".into(), values(spec, &definition.unverifiable));
    let Body::Aggregate(aggregate) = &definition.body else { panic!("S is a structure") };
    facts.values.insert("size".into(), values(spec, &aggregate.size));
    for Member { name, scope, shape, .. } in &aggregate.members {
        let name = name.as_ref().expect("a name").value.clone();
        let Shape::Type(types) = shape else { panic!("{name} has a type") };
        facts.values.insert(name.clone(), values(spec, types));
        facts.scopes.insert(name, targets(spec, scope));
    }
    facts
}

fn values<T: ToString>(spec: &Spec, value: &Piecewise<T>) -> BTreeMap<Target, String> {
    let pieces = value.0.iter();
    pieces.flat_map(|piece| piece.targets.iter().map(|target| (name(spec, target), piece.value.to_string()))).collect()
}
