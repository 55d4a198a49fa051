//! The processes of a session.

use crate::process::{Process, ProcessIndex};
use std::ops::RangeInclusive;

/// The processes of a session, in the order of their start. Those that started before the trace come first, in the order of their first events: a
/// rundown has them in the order of their start.
#[derive(Clone, Debug, Default)]
pub struct ProcessTable {
    processes: Vec<Process>,
    owners: Owners,
    /// Parents and children, in order.
    children: Vec<(ProcessIndex, ProcessIndex)>,
    is_complete: bool,
}

/// A process that has an identifier from a time stamp on, until the next one has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub id: u32,
    pub from: i64,
    pub index: u32,
}

/// The processes that have each identifier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners {
    /// By identifier and time.
    sorted: Vec<Owner>,
    /// Where each process is in `sorted`.
    positions: Vec<u32>,
}

impl Owners {
    /// `owners` has each process once.
    pub fn new(mut owners: Vec<Owner>) -> Self {
        owners.sort_by_key(|owner| (owner.id, owner.from));
        let mut positions = vec![0; owners.len()];
        for (owner, position) in owners.iter().zip(0..) {
            positions[owner.index as usize] = position;
        }
        Self { sorted: owners, positions }
    }

    /// The process that has an identifier at a time stamp.
    #[inline]
    pub fn at(&self, id: u32, tick: i64) -> Option<ProcessIndex> {
        let after = self.sorted.partition_point(|owner| (owner.id, owner.from) <= (id, tick));
        let owner = self.sorted.get(after.checked_sub(1)?)?;
        (owner.id == id).then_some(ProcessIndex(owner.index))
    }

    /// The time stamps at which a process has an identifier.
    fn interval(&self, index: ProcessIndex) -> Option<RangeInclusive<i64>> {
        let at = *self.positions.get(index.0 as usize)? as usize;
        let own = self.sorted.get(at)?;
        let next = self.sorted.get(at + 1).filter(|next| next.id == own.id);
        Some(own.from..=next.map_or(i64::MAX, |next| next.from.saturating_sub(1)))
    }
}

impl ProcessTable {
    pub(crate) fn new(processes: Vec<Process>, owners: Owners, is_complete: bool) -> Self {
        let child = |(index, process): (usize, &Process)| Some((process.parent?, ProcessIndex(index as u32)));
        let mut children: Vec<_> = processes.iter().enumerate().filter_map(child).collect();
        children.sort_unstable();
        Self { processes, owners, children, is_complete }
    }

    /// The process that has an identifier at a time stamp. A process that ended has its identifier until another process starts with it: events
    /// about it can follow its end.
    #[inline]
    #[must_use]
    pub fn at(&self, id: u32, tick: i64) -> Option<ProcessIndex> {
        self.owners.at(id, tick)
    }

    /// A process.
    #[inline]
    #[must_use]
    pub fn get(&self, index: ProcessIndex) -> Option<&Process> {
        self.processes.get(index.0 as usize)
    }

    /// The identifier of a process, and the time stamps at which [`at`](Self::at) returns the process for it.
    pub(crate) fn interval(&self, index: ProcessIndex) -> Option<(u32, RangeInclusive<i64>)> {
        let id = self.get(index)?.id;
        Some((id, self.owners.interval(index)?))
    }

    /// All processes with their indices, in the order of their start.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ProcessIndex, &Process)> {
        self.processes.iter().enumerate().map(|(index, process)| (ProcessIndex(index as u32), process))
    }

    /// Number of processes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.processes.len()
    }

    /// Whether there are no processes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    /// The processes that a process created, in the order of their start.
    pub fn children(&self, parent: ProcessIndex) -> impl Iterator<Item = ProcessIndex> {
        let first = self.children.partition_point(|(of, _)| *of < parent);
        self.children[first..].iter().take_while(move |(of, _)| *of == parent).map(|(_, child)| *child)
    }

    /// Whether all processes are in the table. If not, limits of memory were reached.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}
