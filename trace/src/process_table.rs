//! The processes of a session.

use crate::process::{Process, ProcessIndex};

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
pub(crate) struct Owners(Vec<Owner>);

impl Owners {
    pub fn new(mut owners: Vec<Owner>) -> Self {
        owners.sort_by_key(|owner| (owner.id, owner.from));
        Self(owners)
    }

    /// The process that has an identifier at a time stamp.
    #[inline]
    pub fn at(&self, id: u32, tick: i64) -> Option<ProcessIndex> {
        let after = self.0.partition_point(|owner| (owner.id, owner.from) <= (id, tick));
        let owner = self.0.get(after.checked_sub(1)?)?;
        (owner.id == id).then_some(ProcessIndex(owner.index))
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

    /// Whether all processes and images are in the table. If not, limits of memory were reached.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}
