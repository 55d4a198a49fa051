//! Where members and global variables are at every kernel that was seen.

use crate::Choice;
use crate::Error;
use crate::evidence::shows;
use crate::evidence::{Address, address};
use crate::members::{expanded, has};
use crate::names::{Among, name, no_member};
use etw_layouts_codegen::layouts::{Bits, Layouts};
use etw_layouts_codegen::nearest;
use etw_layouts_codegen::registry::{Registry, Seen};
use std::collections::BTreeMap;

/// A table of offsets: a row a kernel.
pub struct Table<'a> {
    /// What is asked for.
    pub columns: Vec<Column>,
    /// The global variables that are asked for.
    pub variables: Vec<String>,
    /// By build, then by architecture.
    pub rows: Vec<Row<'a>>,
}

/// What is asked for of each kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The structure.
    pub structure: String,
    /// The member, with those that enclose it, as in `u.LowPart`; without one it is the structure's size.
    pub member: Option<String>,
}

/// A kernel that was seen.
pub struct Row<'a> {
    /// Its build and architecture, and by what its files are known.
    pub seen: &'a Seen,
    /// For each column, how sure the structure's layout is.
    pub choices: Vec<Choice>,
    /// For each column, what it has.
    pub cells: Vec<Option<Cell>>,
    /// For each variable, its address.
    pub variables: Vec<Option<Address>>,
}

/// What a kernel has of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Bytes from the start of the structure; of the structure, its size.
    pub value: u64,
    /// Which bits of the unit there.
    pub bits: Option<Bits>,
    /// Whether an image of this very kernel shows it.
    pub in_image: bool,
}

/// The table of what is asked for, as `STRUCTURE.MEMBER`, `STRUCTURE`, or a global variable by its name.
///
/// # Errors
///
/// There is no such structure, member or variable in any kernel.
pub fn of<'a>(layouts: &Layouts, registry: &'a Registry, asked: &[String]) -> Result<Table<'a>, Error> {
    let axis = &layouts.spec.axis;
    // As debuggers write a variable, too.
    let asked = asked.iter().map(|asked| match asked.strip_prefix("nt!") {
        Some(name) if layouts.spec.globals.contains_key(name) => name.to_owned(),
        _ => asked.clone(),
    });
    let (variables, asked): (Vec<_>, Vec<_>) = asked.partition(|asked| layouts.spec.globals.contains_key(asked));
    let columns = asked.iter().map(|asked| column(layouts, asked)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    let mut places: BTreeMap<(usize, usize), Option<Cell>> = BTreeMap::new();
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
    Ok(Table { columns, variables, rows })
}

fn column(layouts: &Layouts, asked: &str) -> Result<Column, Error> {
    let (structure, member) = asked.split_once('.').map_or((asked, None), |(structure, member)| (structure, Some(member)));
    let structure = name(layouts, Among::Symbols, structure).map_err(|error| {
        let variables = || layouts.spec.globals.keys().map(String::as_str);
        match member.is_none().then(|| nearest(asked, variables())).flatten() {
            Some(near) => format!("there is no global variable `{asked}`; did you mean `{near}`?").into(),
            None => error,
        }
    })?;
    let column = Column { structure: structure.to_owned(), member: member.map(str::to_owned) };
    match member {
        Some(member) if has(layouts, structure).iter().all(|target| place(layouts, target, &column).is_none()) => {
            Err(no_member(layouts, structure, member))
        }
        _ => Ok(column),
    }
}

fn place(layouts: &Layouts, target: usize, column: &Column) -> Option<Cell> {
    let layout = layouts.get(target, &column.structure)?;
    let Some(path) = &column.member else {
        return Some(Cell { value: layout.extent().size, bits: None, in_image: false });
    };
    let members = expanded(layouts, &column.structure, target, path.matches('.').count());
    let member = members.into_iter().find(|member| member.path.as_ref() == Some(path))?;
    Some(Cell { value: member.offset, bits: member.bits, in_image: false })
}

/// The kernels, each with its files once. One without a known file is left out where another of its build and revision has one.
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
