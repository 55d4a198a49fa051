//! The check of a table: after it, every index leads to a record, every search finds what is there, and every walk ends.

use super::Layouts;
use super::error::{Error, Problem};
use super::format::{
    Build, Change, Constant, DEPTH, DIMENSIONS, ExaminedBuild, FactsFile, Global, HEADER, Holding, Image, Layout, MAGIC, Member,
    NONE, Name, Number, OFFSETS, Pdb, REVISIONS, Record, Revision, Section, Shape, Structure, Text, Type, Update, VERSION,
    Values, Variable,
};
use super::registry::{arch, facts_kind};

/// Checks a table.
///
/// # Errors
///
/// See [`Layouts::from_bytes`].
pub(super) fn check(table: Layouts) -> Result<(), Error> {
    header(table)?;
    names(table)?;
    builds(table)?;
    registry(table)?;
    structures(table)?;
    members(table)
}

fn header(table: Layouts) -> Result<(), Error> {
    let bytes = table.bytes();
    let number =
        |offset: usize| bytes.get(offset..).and_then(|rest| rest.first_chunk()).map(|number| u32::from_le_bytes(*number));
    let (Some(found), Some(stated)) = (number(8).filter(|_| bytes.starts_with(&MAGIC)), number(12)) else {
        return Err(Error::NoTable);
    };
    if found != VERSION {
        return Err(Error::Version { found });
    }
    if stated as usize != bytes.len() || bytes.len() < HEADER {
        return Err(Error::Length { stated, found: bytes.len() });
    }
    let first = number(OFFSETS).map_or(0, |offset| offset as usize);
    for &section in Section::ALL {
        let [start, end] = table.section(section);
        let is_whole = end.checked_sub(start).is_some_and(|length| length.is_multiple_of(section.size()));
        let is_last = section as usize + 1 == Section::ALL.len();
        if first != HEADER || !is_whole || end > bytes.len() || is_last && end != bytes.len() {
            return Err(Error::Section(section));
        }
    }
    Ok(())
}

fn names(table: Layouts) -> Result<(), Error> {
    let count = table.count::<Name>();
    let length = table.count::<Text>();
    let starts = || table.all::<Name>().map(|name| name.start as usize);
    if count >= usize::from(NONE) {
        return wrong::<Name>(usize::from(NONE), Problem::Index);
    }
    if starts().next().unwrap_or(0) != 0 || count == 0 && length > 0 {
        return wrong::<Name>(0, Problem::Order);
    }
    let ends = starts().skip(1).chain([length]);
    let mut before: &[u8] = &[];
    for (index, (start, end)) in starts().zip(ends).enumerate() {
        if start > end || end > length {
            return wrong::<Name>(index, Problem::Index);
        }
        let text = table.text_bytes(index as u16);
        if core::str::from_utf8(text).is_err() {
            return wrong::<Name>(index, Problem::Text);
        }
        if index > 0 && before >= text {
            return wrong::<Name>(index, Problem::Order);
        }
        before = text;
    }
    Ok(())
}

fn builds(table: Layouts) -> Result<(), Error> {
    let is_mask = |mask: u8| if mask < 8 { Ok(()) } else { Err(Problem::Value) };
    sorted(table, |it: Number| (it.major, it.minor, it.build))?;
    each(table, |_, it: Build| within::<Number>(table, it.number))?;
    sorted(table, |it: Revision| (it.number, it.revision))?;
    each(table, |_, it: Revision| {
        within::<Number>(table, it.number)?;
        within::<Name>(table, it.label)?;
        range::<Build>(table, it.shared, it.shared_count)?;
        is_mask(it.architectures)
    })?;
    each(table, |_, it: Update| {
        within::<Name>(table, it.name)?;
        range::<Build>(table, it.revisions, u16::from(it.revision_count) + u16::from(it.without_count))?;
        is_mask(it.architectures)
    })?;
    if table.count::<Revision>() <= REVISIONS { Ok(()) } else { wrong::<Revision>(REVISIONS, Problem::Index) }
}

fn registry(table: Layouts) -> Result<(), Error> {
    each(table, |_, it: FactsFile| {
        within::<Name>(table, it.name)?;
        facts_kind(it.kind).map(|_| ()).ok_or(Problem::Value)
    })?;
    each(table, |_, it: Global| within::<Name>(table, it.name))?;
    each(table, |_, it: Variable| within::<Name>(table, it.name))?;
    few::<Pdb>(table)?;
    few::<Image>(table)?;
    few::<ExaminedBuild>(table)?;
    let mut before = None;
    each(table, |_, it: ExaminedBuild| {
        within::<Number>(table, it.number)?;
        within::<FactsFile>(table, it.facts_file)?;
        arch(it.arch).ok_or(Problem::Value)?;
        range::<Global>(table, it.globals, it.global_count)?;
        unless_none::<Pdb>(table, it.pdb)?;
        unless_none::<Image>(table, it.image)?;
        in_order(&mut before, (it.number, it.revision, it.arch), false)
    })?;
    let mut before = None;
    each(table, |_, it: Pdb| {
        within::<ExaminedBuild>(table, it.seen)?;
        in_order(&mut before, (it.guid, it.age), false)
    })?;
    let mut before = None;
    each(table, |_, it: Image| {
        within::<ExaminedBuild>(table, it.seen)?;
        in_order(&mut before, (it.time_stamp, it.size), false)
    })
}

fn structures(table: Layouts) -> Result<(), Error> {
    few::<Layout>(table)?;
    each(table, |_, it: Change| {
        within::<Revision>(table, it.revision)?;
        unless_none::<Layout>(table, it.layout)?;
        arch(it.arch).map(|_| ()).ok_or(Problem::Value)
    })?;
    sorted(table, |it: Structure| it.name)?;
    let mut end = 0;
    each(table, |_, it: Structure| {
        within::<Name>(table, it.name)?;
        end = after(end, it.changes, it.change_count)?;
        range::<Change>(table, it.changes, it.change_count)?;
        let mut before = None;
        for change in table.records::<Change>(it.changes, it.change_count.into()) {
            in_order(&mut before, (change.revision, change.arch), true)?;
            let is_own = |layout: Layout| layout.name == it.name;
            if change.layout != NONE && !table.record(change.layout.into()).is_some_and(is_own) {
                return Err(Problem::Value);
            }
        }
        Ok(())
    })?;
    let holdings = table.count::<Structure>().saturating_mul(table.count::<FactsFile>().div_ceil(8));
    if table.count::<Holding>() == holdings { Ok(()) } else { Err(Error::Section(Section::Holding)) }
}

fn members(table: Layouts) -> Result<(), Error> {
    each(table, |_, it: Constant| within::<Name>(table, it.name))?;
    each(table, |_, it: Values| {
        within::<Name>(table, it.name)?;
        range::<Constant>(table, it.constants, it.constant_count)?;
        if it.kind < 4 { Ok(()) } else { Err(Problem::Value) }
    })?;
    each(table, |index, it: Type| match it.kind {
        0..=2 => Ok(()),
        3 => within::<Values>(table, it.of),
        4 => within::<Layout>(table, it.of),
        5 if usize::from(it.of) < index => nested(table, it).map(|_| ()),
        5 => Err(Problem::Depth),
        _ => Err(Problem::Value),
    })?;
    each(table, |_, it: Shape| {
        within::<Name>(table, it.name)?;
        within::<Name>(table, it.c)?;
        within::<Type>(table, it.ty)?;
        let fits = u64::from(it.bit) + u64::from(it.bits) <= u64::from(it.size) * 8 && it.size <= 8;
        if it.bits == 0 || fits { Ok(()) } else { Err(Problem::Extent) }
    })?;
    each(table, |_, it: Member| within::<Shape>(table, it.shape))?;
    let mut end = 0;
    each(table, |_, it: Layout| {
        within::<Name>(table, it.name)?;
        end = after(end, it.members, it.member_count)?;
        range::<Member>(table, it.members, it.member_count)?;
        if !it.align.is_power_of_two() {
            return Err(Problem::Value);
        }
        if it.depth > DEPTH {
            return Err(Problem::Depth);
        }
        for member in table.records::<Member>(it.members, it.member_count.into()) {
            let shape = table.record::<Shape>(member.shape.into()).ok_or(Problem::Index)?;
            if u64::from(member.offset) + u64::from(shape.size) > u64::from(it.size) {
                return Err(Problem::Extent);
            }
            let ty = table.record::<Type>(shape.ty.into()).ok_or(Problem::Index)?;
            let inner = nested(table, ty)?;
            let inner = if inner.kind == 4 { table.record::<Layout>(inner.of.into()) } else { None };
            if inner.is_some_and(|inner| inner.depth >= it.depth) {
                return Err(Problem::Depth);
            }
        }
        Ok(())
    })
}

/// The type of the elements of an array of any number of dimensions, or the type itself.
fn nested(table: Layouts, mut ty: Type) -> Result<Type, Problem> {
    for _ in 0..=DIMENSIONS {
        if ty.kind != 5 {
            return Ok(ty);
        }
        ty = table.record(ty.of.into()).ok_or(Problem::Index)?;
    }
    Err(Problem::Depth)
}

/// Checks each record of a section with its index.
fn each<R: Record>(table: Layouts, mut check: impl FnMut(usize, R) -> Result<(), Problem>) -> Result<(), Error> {
    for (index, record) in table.all::<R>().enumerate() {
        if let Err(problem) = check(index, record) {
            return wrong::<R>(index, problem);
        }
    }
    Ok(())
}

/// Checks that each key is greater than the one before it.
fn sorted<R: Record, K: Ord>(table: Layouts, key: impl Fn(R) -> K) -> Result<(), Error> {
    let mut before = None;
    each(table, |_, record| in_order(&mut before, key(record), true))
}

fn in_order<K: Ord>(before: &mut Option<K>, key: K, is_strict: bool) -> Result<(), Problem> {
    let is_after = before.as_ref().is_none_or(|before| *before < key || !is_strict && *before == key);
    *before = Some(key);
    if is_after { Ok(()) } else { Err(Problem::Order) }
}

/// Checks that 16 bits number all records, and that none has the number that stands for none.
fn few<R: Record>(table: Layouts) -> Result<(), Error> {
    if table.count::<R>() <= usize::from(NONE) { Ok(()) } else { wrong::<R>(usize::from(NONE), Problem::Index) }
}

fn within<R: Record>(table: Layouts, index: u16) -> Result<(), Problem> {
    if usize::from(index) < table.count::<R>() { Ok(()) } else { Err(Problem::Index) }
}

fn unless_none<R: Record>(table: Layouts, index: u16) -> Result<(), Problem> {
    if index == NONE { Ok(()) } else { within::<R>(table, index) }
}

fn range<R: Record>(table: Layouts, start: u32, count: impl Into<u64>) -> Result<(), Problem> {
    if u64::from(start) + count.into() <= table.count::<R>() as u64 { Ok(()) } else { Err(Problem::Index) }
}

/// The end of a range that must begin where the one before it ends. Otherwise, small files could refer to the same records many times.
fn after(end: u32, start: u32, count: u16) -> Result<u32, Problem> {
    if start == end { start.checked_add(count.into()).ok_or(Problem::Index) } else { Err(Problem::Order) }
}

fn wrong<R: Record>(index: usize, problem: Problem) -> Result<(), Error> {
    Err(Error::Record { section: R::SECTION, index, problem })
}
