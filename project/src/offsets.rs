//! Offsets of members and addresses of global variables in all examined builds.

use crate::Choice;
use crate::error::{Error, Refusal, Remedy};
use crate::evidence::shows;
use crate::evidence::{Address, address};
use crate::members::{expanded, has};
use crate::names::{Among, all, declared_as, name, no_member};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::{Bits, Layouts};
use etw_layouts_codegen::registry::{Registry, Seen};
use std::collections::BTreeMap;

/// A table of offsets with one row per examined build.
pub struct OffsetTable<'a> {
    /// The selected members and structures.
    pub columns: Vec<Column>,
    /// The selected global variables.
    pub variables: Vec<String>,
    /// The rows, by build, then by architecture.
    pub rows: Vec<Row<'a>>,
}

/// A selected member or structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The structure.
    pub structure: String,
    /// The member, after the names of the enclosing members, as in `u.LowPart`; `None` for the size of the structure.
    pub member: Option<String>,
}

/// An examined build.
pub struct Row<'a> {
    /// Its build and architecture, and the identity of its files.
    pub seen: &'a Seen,
    /// For each column, the confidence in the layout of the structure.
    pub choices: Vec<Choice>,
    /// For each column, its value.
    pub cells: Vec<Option<Cell>>,
    /// For each variable, its address.
    pub variables: Vec<Option<Address>>,
}

/// The value of a column in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The offset of the member in bytes, or the size of the structure.
    pub value: u64,
    /// The bits of a bit field within its unit.
    pub bits: Option<Bits>,
    /// Whether an image of this build shows the offset.
    pub in_image: bool,
}

/// The table of selected items, written as `STRUCTURE.MEMBER`, `STRUCTURE`, or the name of a global variable.
///
/// # Errors
///
/// A structure, member or variable does not exist in any build.
pub fn of<'a>(layouts: &Layouts, registry: &'a Registry, asked: &[String]) -> Result<OffsetTable<'a>, Error> {
    let axis = &layouts.spec.axis;
    // Accept variables as debuggers write them.
    let asked = asked.iter().map(|asked| match asked.strip_prefix("nt!") {
        Some(name) if layouts.spec.globals.contains_key(name) => name.to_owned(),
        _ => asked.clone(),
    });
    let (variables, asked): (Vec<_>, Vec<_>) = asked.partition(|asked| layouts.spec.globals.contains_key(asked));
    let columns = asked.iter().map(|asked| column(layouts, asked)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    let mut places: BTreeMap<(TargetId, usize), Option<Cell>> = BTreeMap::new();
    for seen in distinct(registry) {
        let Ok(kernel) = axis.kernel(seen.build, seen.arch) else { continue };
        let choice = |column: &Column| Choice::of(layouts, registry, kernel.clone(), Some(&column.structure));
        let target = kernel.target;
        let cell = |(index, column): (usize, &Column)| {
            let place = *places.entry((target, index)).or_insert_with(|| place(layouts, target, column));
            let in_image = |member| shows(registry, axis, seen.build, seen.arch, &column.structure, member);
            place.map(|cell| Cell { in_image: column.member.as_deref().is_some_and(in_image), ..cell })
        };
        let cells = columns.iter().enumerate().map(cell).collect();
        let places = variables.iter().map(|name| address(registry, axis, seen, name)).collect();
        rows.push(Row { seen, choices: columns.iter().map(choice).collect(), cells, variables: places });
    }
    Ok(OffsetTable { columns, variables, rows })
}

fn column(layouts: &Layouts, asked: &str) -> Result<Column, Error> {
    let (structure, member) = asked.split_once('.').map_or((asked, None), |(structure, member)| (structure, Some(member)));
    let structure = name(layouts, Among::Symbols, structure).map_err(|error| {
        let is_unknown = error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.remedy == Remedy::Definition);
        if member.is_some() || !is_unknown {
            return error;
        }
        let variables = layouts.spec.globals.keys().map(String::as_str);
        let known = all(layouts, Among::Symbols).chain(variables);
        let problem = format!("unknown structure or global variable `{asked}`");
        Refusal::unknown(problem, asked, known, Remedy::DefinitionOrVariable).into()
    })?;
    let known = member.and_then(|member| declared_as(layouts, structure, member));
    let column = Column { structure: structure.to_owned(), member: known.or(member.map(str::to_owned)) };
    match member {
        Some(member) if has(layouts, structure).iter().all(|target| place(layouts, target, &column).is_none()) => {
            Err(no_member(layouts, structure, member))
        }
        _ => Ok(column),
    }
}

fn place(layouts: &Layouts, target: TargetId, column: &Column) -> Option<Cell> {
    let layout = layouts.get(target, &column.structure)?;
    let Some(path) = &column.member else {
        return Some(Cell { value: layout.extent().size, bits: None, in_image: false });
    };
    let members = expanded(layouts, &column.structure, target, path.matches('.').count());
    let member = members.into_iter().find(|member| member.path.as_ref() == Some(path))?;
    Some(Cell { value: member.offset, bits: member.bits, in_image: false })
}

/// The examined builds, each with its files once. An entry without a known file is left out if another entry of the build has one.
fn distinct(registry: &Registry) -> Vec<&Seen> {
    let mut list: Vec<&Seen> = Vec::new();
    let mut kernels: BTreeMap<_, Vec<&Seen>> = BTreeMap::new();
    for seen in &registry.kernels {
        kernels.entry((seen.build, seen.arch)).or_default().push(seen);
    }
    for own in kernels.into_values() {
        let is_known = |seen: &&Seen| seen.pdb.is_some() || seen.image.is_some();
        let any = own.iter().any(is_known);
        let mut kept: Vec<&Seen> = Vec::new();
        for seen in own.into_iter().filter(|seen| !any || is_known(seen)) {
            if kept.iter().all(|kept| (&kept.pdb, &kept.image) != (&seen.pdb, &seen.image)) {
                kept.push(seen);
            }
        }
        list.extend(kept);
    }
    list
}
