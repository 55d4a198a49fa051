//! Import of fictitious kernels into some of the shipped specs.

use super::spec;
use etw_layouts_codegen::axis;
use etw_layouts_project::Error;
use etw_layouts_project::import::{self, Input, Plan, Texts};
use etw_layouts_project::tables::{self, BuildTable, Stated, SymbolFile};
use etw_layouts_symbols::{AggregateKind, Member, Snapshot, Type, TypeFacts, Types, Wanted};
use std::sync::{Arc, LazyLock};

struct Shipped {
    texts: Texts,
    tables: Vec<BuildTable>,
}

/// The edited structure: small, with unions, bit fields, enumerations and a history.
const STRUCTURE: &str = "WMI_BUFFER_HEADER.toml";

static SHIPPED: LazyLock<Shipped> = LazyLock::new(|| {
    let layouts = crate::project().layouts().expect("the specs are valid");
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let files: Vec<_> = layouts.spec.sources.files().iter().map(|file| (name(&file.path), file)).collect();
    let by_name = files.iter().map(|(name, file)| (name.clone(), file.text.clone())).collect();
    let names = spec::with_types(&by_name, STRUCTURE);
    let wanted: Wanted = names.iter().filter_map(|name| name.strip_suffix(".toml")).collect();
    let snapshots = crate::project().fact_files().expect("the shipped snapshots");
    let read = |path: &SymbolFile| tables::read(path, &layouts.spec.axis, &wanted, &Stated::default()).expect("a valid snapshot");
    let mut tables: Vec<BuildTable> = snapshots.iter().flat_map(read).collect();
    // A snapshot is read completely, independent of the selection.
    let Wanted::Named(wanted) = wanted else { unreachable!("names were given") };
    tables.iter_mut().for_each(|table| Arc::make_mut(&mut table.types).retain(|name, _| wanted.contains(name)));
    let texts = files.iter().filter(|(name, _)| names.contains(name));
    Shipped { texts: texts.map(|(_, file)| (file.path.clone(), file.text.clone())).collect(), tables }
});

/// An import gives specs that resolve, or an error. Importing again changes nothing.
pub fn run(input: &[u8]) {
    let Some(table) = table(input) else { return };
    let new = std::slice::from_ref(&table);
    match planned(&SHIPPED.texts, &[], new) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(plan) if import::verified(&plan.layouts, &[], new).is_ok() => match planned(&plan.texts, new, new) {
            Ok(again) => assert!(again.texts == plan.texts, "imported again, the specs change"),
            Err(error) => panic!("imported again: {error}"),
        },
        Ok(_) => {}
    }
}

fn planned(texts: &Texts, known: &[BuildTable], new: &[BuildTable]) -> Result<Plan, Error> {
    import::plan(&Input { texts, known, new, added: &[], folder: "specs" })
}

/// The import of an input, if it verifies.
pub(crate) fn imported(input: &[u8]) -> Option<Plan> {
    let new = [table(input)?];
    planned(&SHIPPED.texts, &[], &new).ok().filter(|plan| import::verified(&plan.layouts, &[], &new).is_ok())
}

/// A snapshot in the input, or else a shipped one with changes: selection, build, and four bytes per change.
fn table(input: &[u8]) -> Option<BuildTable> {
    let tables = &SHIPPED.tables;
    if let Ok(Ok(snapshot)) = str::from_utf8(input).map(Snapshot::parse) {
        let table = tables.first()?.clone();
        return Some(BuildTable { producer: snapshot.producer, types: snapshot.types.into(), ..table }.of_build(26100, 1));
    }
    let (&[which, build, revision], changes) = input.split_first_chunk()?;
    let mut table = tables[usize::from(which) % tables.len()].clone();
    for change in changes.chunks_exact(4).take(64) {
        changed(Arc::make_mut(&mut table.types), [change[0], change[1], change[2], change[3]]);
    }
    Some(match build {
        0 => table,
        1..128 => {
            let number = tables[usize::from(build) % tables.len()].build.number[2];
            table.of_build(number, u32::from(revision) * 40)
        }
        _ => table.of_build(26100 + u32::from(build), revision.into()),
    })
}

trait OfBuild {
    /// The table with another build.
    fn of_build(self, build: u32, revision: u32) -> Self;
}

impl OfBuild for BuildTable {
    fn of_build(self, build: u32, revision: u32) -> Self {
        let [major, minor, _] = SHIPPED.tables.iter().map(|t| t.build.number).find(|n| n[2] == build).unwrap_or([10, 0, build]);
        Self { build: axis::Build { number: [major, minor, build], revision }, ..self }
    }
}

fn changed(types: &mut Types, [kind, ty, member, value]: [u8; 4]) {
    let Some(name) = types.keys().nth(usize::from(ty) % types.len().max(1)).cloned() else { return };
    if kind % 16 == 0 {
        types.remove(&name);
        return;
    }
    let other = types.keys().nth(usize::from(value) % types.len()).cloned().unwrap_or_default();
    let Some(definition) = types.get_mut(&name) else { return };
    let aggregate = match definition {
        TypeFacts::Aggregate(aggregate) => aggregate,
        TypeFacts::Enumeration(enumeration) => {
            match enumeration.constants.get_mut(usize::from(member)) {
                Some((_, constant)) => *constant = i64::from(value as i8),
                None => enumeration.constants.push((format!("New{member}"), value.into())),
            }
            return;
        }
    };
    let (count, value64) = (aggregate.members.len(), u64::from(value));
    if kind % 16 == 1 {
        aggregate.size = aggregate.size.wrapping_add_signed(i64::from(value as i8));
    } else if kind % 16 == 2 {
        aggregate.kind = if value % 2 == 0 { AggregateKind::Struct } else { AggregateKind::Union };
    }
    let index = usize::from(member) % count.max(1);
    let next = aggregate.members.get(usize::from(value) % count.max(1)).map(|member| member.ty.clone());
    let (Some(next), Some(member)) = (next, aggregate.members.get_mut(index)) else { return };
    let new = |offset, ty| Member { name: format!("New{value}"), offset, ty };
    match kind % 16 {
        3 => member.offset = member.offset.wrapping_add_signed(i64::from(value as i8)),
        4 => member.name = format!("Renamed{value}"),
        5 => member.ty = next,
        6 => member.ty = Type::Array(Box::new(member.ty.clone()), value64),
        7 => member.ty = Type::Pointer(Box::new(member.ty.clone())),
        8 => {
            member.ty =
                Type::Bits { unit: Box::new(member.ty.clone()), position: u32::from(value) / 16, width: u32::from(value) % 16 }
        }
        9 => member.ty = Type::Aggregate(other),
        10 => drop(aggregate.members.remove(index)),
        11 => {
            let member = new(member.offset, member.ty.clone());
            aggregate.members.insert(index + 1, member);
        }
        12 => {
            // All following members move.
            let (at, ty) = (member.offset, member.ty.clone());
            aggregate.members.iter_mut().filter(|m| m.offset >= at).for_each(|m| m.offset = m.offset.wrapping_add(8));
            aggregate.members.insert(index, new(at, ty));
            aggregate.size = aggregate.size.wrapping_add(8);
        }
        13 => member.name = String::new(),
        14 => aggregate.members.truncate(index),
        _ => aggregate.members.swap(index, usize::from(value) % count),
    }
}

/// Unchanged kernels, kernels with another build, and kernels with a few changes.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![b"\x10\xFF\x01".to_vec(), b"\x20\x15\x09".to_vec(), b"\x28\xF0\x00\x0C\x30\x04\x05".to_vec()];
    seeds.push(b"\x05\xFE\x02\x0B\x3A\x02\x01\x05\x3A\x03\x04\x01\x3A\x00\x08".to_vec());
    seeds.push(b"\x2D\xFE\x02\x0C\x3A\x02\x01\x0A\x3A\x13\x00\x08\x35\x02\x21".to_vec());
    seeds
}
