//! The processes of a session.

use crate::process::{Moment, Process, ProcessIndex};

/// The processes of a session, in the order of their start; those that started before the trace come first.
#[derive(Clone, Debug, Default)]
pub struct ProcessTable {
    processes: Vec<Process>,
    /// In the order of identifiers and time.
    owners: Vec<Owner>,
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

impl ProcessTable {
    pub(crate) fn new(processes: Vec<Process>, mut owners: Vec<Owner>, is_complete: bool) -> Self {
        owners.sort_by_key(|owner| (owner.id, owner.from));
        let mut table = Self { processes, owners, children: Vec::new(), is_complete };
        let parents: Vec<_> = (0..table.processes.len()).map(|index| table.parent_of(index)).collect();
        for (index, parent) in parents.into_iter().enumerate() {
            table.processes[index].parent = parent;
            table.children.extend(parent.map(|parent| (parent, ProcessIndex(index as u32))));
        }
        table.children.sort_unstable();
        table
    }

    /// The process that has an identifier at a time stamp. A process that ended has its identifier until another process starts with it: events
    /// about it can follow its end.
    #[inline]
    #[must_use]
    pub fn at(&self, id: u32, tick: i64) -> Option<ProcessIndex> {
        let after = self.owners.partition_point(|owner| (owner.id, owner.from) <= (id, tick));
        let owner = self.owners.get(after.checked_sub(1)?)?;
        (owner.id == id).then_some(ProcessIndex(owner.index))
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

    /// The process that had the identifier of the parent when a process started. A process that is known to have started later is not its parent.
    fn parent_of(&self, index: usize) -> Option<ProcessIndex> {
        let process = &self.processes[index];
        let (id, start) = (process.parent_id.as_ref()?.value, process.start.as_ref()?.value);
        let parent = match start {
            Moment::At { tick, .. } => self.at(id, tick)?,
            // It started before the trace: its parent was the first with its identifier, or is not in the trace.
            Moment::Stated(_) | Moment::Earlier => self.at(id, i64::MIN)?,
        };
        let is_later = match (self.get(parent)?.start.as_ref()?.value.time(), start.time()) {
            (Some(parent), Some(child)) => parent > child,
            _ => false,
        };
        (!is_later && parent.0 as usize != index).then_some(parent)
    }
}
