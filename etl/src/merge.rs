//! The events of several traces, merged by time.

use crate::diagnostic::Diagnostic;
use crate::order::{ByTime, OrderedEvent};
use crate::records::EventRecord;
use crate::trace::Trace;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Merges the events of several traces by system time: see [`Merged`].
///
/// ```no_run
/// use etw_layouts_etl::{Trace, merge};
///
/// let traces = [Trace::open("a.etl")?, Trace::open("b.etl")?];
/// for (trace, event) in merge(&traces) {
///     println!("{trace} {:?}", event?.time());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn merge<'t>(traces: impl IntoIterator<Item = &'t Trace<'t>>) -> Merged<'t> {
    let sources: Vec<_> = traces.into_iter().map(|trace| (trace, None)).collect();
    let starts = sources.iter().enumerate().map(|(index, (trace, _))| Reverse((trace.log_file().start_time, index)));
    Merged { next: starts.collect(), current: None, sources }
}

/// The events of several traces sorted by system time, each with the index of its trace. Events with equal times keep the order of the
/// traces. A trace uses memory only between its first and its last event, so consecutive traces do not use memory at the same time.
#[derive(Debug)]
pub struct Merged<'t> {
    sources: Vec<(&'t Trace<'t>, Option<ByTime<'t>>)>,
    /// The times of the next events of all traces except the current one.
    next: BinaryHeap<Reverse<(i64, usize)>>,
    current: Option<usize>,
}

impl<'t> Merged<'t> {
    /// The next event, borrowed as from [`ByTime::next_event`], and the index of its trace. `None` at the end.
    pub fn next_event(&mut self) -> Option<(usize, Result<OrderedEvent<'_>, Diagnostic>)> {
        match self.advance()? {
            (index, Some(diagnostic)) => Some((index, Err(diagnostic))),
            (index, None) => Some((index, self.sources[index].1.as_mut()?.next_event()?)),
        }
    }

    /// Finds the trace of the next event, or of a diagnostic before it.
    fn advance(&mut self) -> Option<(usize, Option<Diagnostic>)> {
        loop {
            let index = match self.current {
                Some(index) => index,
                None => self.next.pop()?.0.1,
            };
            self.current = Some(index);
            let (trace, order) = &mut self.sources[index];
            let order = order.get_or_insert_with(|| trace.by_time());
            match order.next_stamp() {
                Some(Ok(stamp)) => match self.next.peek() {
                    Some(Reverse(other)) if *other < (trace.clock().system_time(stamp), index) => {
                        self.next.push(Reverse((trace.clock().system_time(stamp), index)));
                        self.current = None;
                    }
                    _ => return Some((index, None)),
                },
                Some(Err(diagnostic)) => return Some((index, Some(diagnostic))),
                None => (self.sources[index].1, self.current) = (None, None),
            }
        }
    }
}

impl<'t> Iterator for Merged<'t> {
    type Item = (usize, Result<EventRecord<'t>, Diagnostic>);

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance()? {
            (index, Some(diagnostic)) => Some((index, Err(diagnostic))),
            (index, None) => Some((index, self.sources[index].1.as_mut()?.next()?)),
        }
    }
}
