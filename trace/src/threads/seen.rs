//! Threads with their processes in the headers of events, merged to runs.

use std::collections::HashMap;

/// Runs by thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    threads: HashMap<u32, Vec<Run>>,
    /// The thread of the last events, and its run, which is not among the others yet: events of a buffer are often of one thread.
    last: Option<(u32, Run)>,
    count: usize,
    is_full: bool,
}

/// A thread in the same process: at both time stamps, and not in another one between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub first: i64,
    pub last: i64,
    pub process: u32,
}

/// Maximum number of runs.
const MAX_RUNS: usize = 1 << 20;

/// Maximum number of runs of a thread: so many times no identifier is reused, and a new run moves those after it.
const MAX_OF_THREAD: usize = 1 << 10;

impl Seen {
    /// Adds a thread and its process in a header. Thread 0 is that of process 0, so nothing is added for it.
    #[inline]
    pub fn add(&mut self, thread: u32, process: u32, tick: i64) {
        if thread == u32::MAX || process == u32::MAX || thread == 0 {
            return;
        }
        match &mut self.last {
            Some((of, run)) if *of == thread && run.process == process => {
                (run.first, run.last) = (run.first.min(tick), run.last.max(tick));
            }
            _ => {
                let last = self.last.replace((thread, Run { first: tick, last: tick, process }));
                last.into_iter().for_each(|(thread, run)| self.keep(thread, run));
            }
        }
    }

    fn keep(&mut self, thread: u32, new: Run) {
        if self.count >= MAX_RUNS && !self.threads.contains_key(&thread) {
            self.is_full = true;
            return;
        }
        let runs = self.threads.entry(thread).or_default();
        // Most threads have one run.
        if let [run] = &mut runs[..]
            && run.process == new.process
        {
            (run.first, run.last) = (run.first.min(new.first), run.last.max(new.last));
            return;
        }
        if runs.len() >= MAX_OF_THREAD || self.count >= MAX_RUNS {
            self.is_full = true;
            return;
        }
        let before = runs.len();
        insert(runs, new.process, new.first);
        insert(runs, new.process, new.last);
        self.count += runs.len() - before;
    }

    /// All runs with their threads.
    pub fn runs(&mut self) -> impl Iterator<Item = (u32, Run)> {
        let last = self.last.take();
        last.into_iter().for_each(|(thread, run)| self.keep(thread, run));
        self.threads.iter().flat_map(|(thread, runs)| runs.iter().map(|run| (*thread, *run)))
    }

    /// Whether runs were dropped.
    pub fn is_full(&self) -> bool {
        self.is_full
    }
}

fn insert(runs: &mut Vec<Run>, process: u32, tick: i64) {
    let new = Run { first: tick, last: tick, process };
    let at = runs.partition_point(|run| run.first <= tick);
    if let Some(before) = at.checked_sub(1).map(|before| &mut runs[before]) {
        if before.process == process {
            before.last = before.last.max(tick);
            return;
        }
        if before.first == tick {
            // Two processes at the same time: the first one stays.
            return;
        }
        if tick <= before.last {
            let after = Run { first: tick.saturating_add(1), ..*before };
            before.last = tick - 1;
            let after = (after.first <= after.last).then_some(after);
            runs.splice(at..at, [Some(new), after].into_iter().flatten());
            return;
        }
    }
    match runs.get_mut(at) {
        Some(after) if after.process == process => after.first = tick,
        _ => runs.insert(at, new),
    }
}
