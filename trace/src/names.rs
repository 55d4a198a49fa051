//! The names of a session: of files, images, their program databases, methods and their modules, with the times at which they are valid.

use crate::name_event::{NameEvent, Range, Step, Subject};
use crate::place::{Place, Position};
use crate::sorted::{Record, Sorter, Table, tick_of_word, word_of_tick};
use etw_layouts_etl::Event;
use std::io;
use std::ops::{ControlFlow, RangeInclusive};

/// The names of a session.
#[derive(Debug)]
pub(crate) struct NameTables {
    files: Table<4>,
    images: Table<6>,
    images_by_time: Table<4>,
    pdbs: Table<5>,
    methods: Table<6>,
    modules: Table<5>,
}

/// What is at an address of a process at a time.
#[derive(Debug)]
pub(crate) struct Found {
    /// The event that states the name.
    pub at: Option<Position>,
    /// The time stamps for which the answer is the same.
    pub ticks: RangeInclusive<i64>,
    /// Whether the address has a name at any time.
    pub is_named: bool,
}

/// Collects the names of a session. Only keys, times and positions are kept; the names are read again.
#[derive(Debug)]
pub(crate) struct NamesBuilder {
    /// File object, tick, step and file, buffer and offset.
    files: Sorter<4>,
    images: Sorter<6>,
    /// Process, tick, file, buffer and offset: the events of `images`.
    images_by_time: Sorter<4>,
    /// Process, address of the image, tick, step and file, buffer and offset.
    pdbs: Sorter<5>,
    /// As `images`: process, start, tick, size with reach, step and file, buffer and offset.
    methods: Sorter<6>,
    /// Process, identifier of the module, tick, step and file, buffer and offset.
    modules: Sorter<5>,
}

/// Maximum number of ranges that are examined for an address, which limits the work for a trace whose ranges overlap.
const MAX_RANGES: usize = 4096;

impl NamesBuilder {
    /// A builder that needs at most `memory` bytes.
    pub fn new(memory: usize) -> Self {
        Self {
            files: Sorter::new(memory / 4),
            images: Sorter::new(memory / 16),
            images_by_time: Sorter::new(memory / 16),
            pdbs: Sorter::new(memory / 16),
            methods: Sorter::new(memory / 2),
            modules: Sorter::new(memory / 16),
        }
    }

    /// Adds an event of a file.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>, tick: i64, file: u32, place: Place) -> io::Result<()> {
        let Some(NameEvent { subject, step, .. }) = NameEvent::read(event) else { return Ok(()) };
        let tick = word_of_tick(tick);
        let end = [(step as u64) << 56 | u64::from(file), place.sequence()];
        let range = |Range { process, start, size }| [process.into(), start, tick, u64::from(size) << 32, end[0], end[1]];
        match subject {
            Subject::File(object) => self.files.push([object, tick, end[0], end[1]]),
            Subject::Image(image) => {
                self.images_by_time.push([image.process.into(), tick, file.into(), end[1]])?;
                self.images.push(range(image))
            }
            Subject::Method(method) => self.methods.push(range(method)),
            Subject::Module { process, id } => self.modules.push([process.into(), id, tick, end[0], end[1]]),
            Subject::Pdb { process, base } => self.pdbs.push([process.into(), base, tick, end[0], end[1]]),
        }
    }

    /// The names.
    pub fn finish(self) -> io::Result<NameTables> {
        let Self { files, images, images_by_time, pdbs, methods, modules } = self;
        Ok(NameTables {
            files: files.table(|_| {})?,
            images: images.table(reach())?,
            images_by_time: images_by_time.table(|_| {})?,
            pdbs: pdbs.table(|_| {})?,
            methods: methods.table(reach())?,
            modules: modules.table(|_| {})?,
        })
    }
}

/// Sets the reach of each record: the number of bytes by which earlier ranges of the same process extend past its start, or 0. A search for
/// an address stops at the first record whose reach does not include the address.
fn reach() -> impl FnMut(&mut Record<6>) {
    let (mut process, mut end) = (u64::MAX, 0);
    move |record| {
        if record[0] != process {
            (process, end) = (record[0], 0);
        }
        let (start, size) = (record[1], record[3] >> 32);
        record[3] |= u64::saturating_sub(end, start).min(u32::MAX.into());
        end = end.max(start.saturating_add(size));
    }
}

impl NameTables {
    /// Size of the temporary files, in bytes.
    pub fn file_size(&self) -> u64 {
        let images = self.images.file_size() + self.images_by_time.file_size();
        self.files.file_size() + images + self.pdbs.file_size() + self.methods.file_size() + self.modules.file_size()
    }

    /// Number of names that are left out: see [`Table::left_out`].
    pub fn left_out(&self) -> u64 {
        self.files.left_out() + self.images.left_out() + self.pdbs.left_out() + self.methods.left_out() + self.modules.left_out()
    }

    pub fn has_methods(&self) -> bool {
        !self.methods.is_empty()
    }

    /// The event that states the name of a file object at a time.
    pub fn file(&self, object: u64, tick: i64) -> io::Result<Option<Position>> {
        let mut valid = Valid::new(tick);
        let after = [object, word_of_tick(tick).saturating_add(1), 0, 0];
        let mut see = |&[of, tick, step, at]: &Record<4>| {
            if of == object {
                valid.add(tick, step, at);
            }
            ControlFlow::Break(())
        };
        self.files.descend(&after, &mut see)?;
        self.files.ascend(&after, see)?;
        Ok(valid.found().at)
    }

    /// The event that states the program database of the image at an address of a process at a time. An event about another image at the same address,
    /// which was loaded before or later, is none.
    pub fn pdb(&self, process: u32, base: u64, tick: i64) -> io::Result<Option<Position>> {
        let life = self.life(process, base, tick)?;
        valid_at(&self.pdbs, (process, base), tick, |tick| life.contains(&tick))
    }

    /// The event that states the module of .NET with an identifier in a process at a time.
    pub fn module(&self, process: u32, id: u64, tick: i64) -> io::Result<Option<Position>> {
        valid_at(&self.modules, (process, id), tick, |_| true)
    }

    /// Whether any event states a method of a process.
    pub fn has_methods_of(&self, process: u32) -> io::Result<bool> {
        has(&self.methods, process)
    }

    /// The time stamps between which an image is at the start of its addresses: from the event that begins it to the event that ends it, or to
    /// the begin of another image.
    fn life(&self, process: u32, base: u64, tick: i64) -> io::Result<RangeInclusive<i64>> {
        let (mut from, mut until) = (i64::MIN, i64::MAX);
        let is_of = |record: &Record<6>| (record[0], record[1]) == (process.into(), base);
        let after = [process.into(), base, word_of_tick(tick).saturating_add(1), 0, 0, 0];
        let mut left = MAX_RANGES;
        self.images.descend(&after, |record| {
            if !is_of(record) || left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            let at = tick_of_word(record[2]);
            match record[4] >> 56 {
                step if step == Step::Begin as u64 => from = at,
                step if step == Step::End as u64 => from = at.saturating_add(1),
                _ => return ControlFlow::Continue(()),
            }
            ControlFlow::Break(())
        })?;
        left = MAX_RANGES;
        self.images.ascend(&after, |record| {
            if !is_of(record) || left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            let at = tick_of_word(record[2]);
            match record[4] >> 56 {
                step if step == Step::Begin as u64 => until = at.saturating_sub(1),
                step if step == Step::End as u64 => until = at,
                _ => return ControlFlow::Continue(()),
            }
            ControlFlow::Break(())
        })?;
        Ok(from..=until)
    }

    /// Whether any event states an image of a process.
    pub fn has_images(&self, process: u32) -> io::Result<bool> {
        has(&self.images, process)
    }

    /// The image at an address of a process at a time.
    pub fn image(&self, process: u32, address: u64, tick: i64) -> io::Result<Found> {
        at(&self.images, process, address, tick)
    }

    /// The tick and the position of each event about an image of a process between two ticks, in the order of time.
    pub fn images(&self, process: u32, ticks: RangeInclusive<i64>) -> io::Result<Vec<(i64, Position)>> {
        let (mut found, end) = (Vec::new(), word_of_tick(*ticks.end()));
        self.images_by_time.ascend(&[process.into(), word_of_tick(*ticks.start()), 0, 0], |&[of, tick, file, at]| {
            if of != u64::from(process) || tick > end {
                return ControlFlow::Break(());
            }
            found.push((tick_of_word(tick), Position::new(file as u32, at)));
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// The method at an address of a process at a time.
    pub fn method(&self, process: u32, address: u64, tick: i64) -> io::Result<Found> {
        at(&self.methods, process, address, tick)
    }
}

/// Whether a table has a record of a process.
fn has(table: &Table<6>, process: u32) -> io::Result<bool> {
    let mut has = false;
    table.ascend(&[process.into(), 0, 0, 0, 0, 0], |record| {
        has = record[0] == u64::from(process);
        ControlFlow::Break(())
    })?;
    Ok(has)
}

/// The event about a key of a process that is valid at a time. `is_about` tests the ticks of the events before it and after it.
fn valid_at(table: &Table<5>, key: (u32, u64), tick: i64, is_about: impl Fn(i64) -> bool) -> io::Result<Option<Position>> {
    let (mut valid, (process, id)) = (Valid::new(tick), key);
    let after = [process.into(), id, word_of_tick(tick).saturating_add(1), 0, 0];
    let mut see = |&[of, own, tick, step, at]: &Record<5>| {
        if (of, own) == (process.into(), id) && is_about(tick_of_word(tick)) {
            valid.add(tick, step, at);
        }
        ControlFlow::Break(())
    };
    table.descend(&after, &mut see)?;
    table.ascend(&after, see)?;
    Ok(valid.found().at)
}

fn at(table: &Table<6>, process: u32, address: u64, tick: i64) -> io::Result<Found> {
    let (mut valid, mut left) = (Valid::new(tick), MAX_RANGES);
    table.descend(&[process.into(), address, u64::MAX, u64::MAX, u64::MAX, u64::MAX], |record| {
        let &[of, start, tick, sizes, step, at] = record;
        if of != u64::from(process) || left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        let distance = address - start;
        if distance < sizes >> 32 {
            valid.add(tick, step, at);
        }
        // Other events of the same range are next to this one.
        if distance < u64::from(sizes as u32) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(valid.found())
}

/// Selects the name that is valid at a time: the name in the last event before it, unless that event ends the name; otherwise the name in
/// the next event, unless that event begins the name.
struct Valid {
    tick: u64,
    /// Tick, step and file, buffer and offset of the last event at or before the time, and of the first one after it.
    before: Option<(u64, u64, u64)>,
    after: Option<(u64, u64, u64)>,
}

impl Valid {
    fn new(tick: i64) -> Self {
        Self { tick: word_of_tick(tick), before: None, after: None }
    }

    fn add(&mut self, tick: u64, step: u64, at: u64) {
        let new = (tick, step, at);
        if tick <= self.tick {
            self.before = self.before.max(Some(new));
        } else if self.after.is_none_or(|after| new < after) {
            self.after = Some(new);
        }
    }

    fn found(&self) -> Found {
        let is = |step: u64, wanted: Step| step >> 56 == wanted as u64;
        let before = self.before.filter(|(_, step, _)| !is(*step, Step::End));
        let valid = before.or(self.after.filter(|(_, step, _)| !is(*step, Step::Begin)));
        let from = self.before.map_or(i64::MIN, |(tick, ..)| tick_of_word(tick));
        let until = self.after.map_or(i64::MAX, |(tick, ..)| tick_of_word(tick).saturating_sub(1));
        Found {
            at: valid.map(|(_, step, at)| Position::new(step as u32, at)),
            ticks: from..=until,
            is_named: self.before.or(self.after).is_some(),
        }
    }
}
