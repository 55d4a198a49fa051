//! The time that sessions cover.

use etw_layouts_trace::etl::Filter;
use etw_layouts_trace::{Event, Trace};

/// The first and the last event of each session while it was recorded, within the time limits of a filter. A merge adds events about running processes
/// after the end of the recording, which would make rates too low.
pub(super) struct Spans<'f> {
    filters: &'f [Filter],
    of_sessions: Vec<Option<(i64, i64)>>,
}

impl<'f> Spans<'f> {
    pub fn new(trace: &Trace, filters: &'f [Filter]) -> Self {
        Self { filters, of_sessions: vec![None; trace.sessions().len()] }
    }

    pub fn add(&mut self, event: &Event<'_>) {
        let (Some(time), end) = (event.relative_time().map(|time| time.0), event.file().log_file().end_time) else { return };
        let is_recorded = end == 0 || time <= end;
        if is_recorded && self.filters.get(event.file_index()).is_none_or(|filter| filter.has_time(time)) {
            let span = &mut self.of_sessions[event.session_index()];
            let (first, last) = span.unwrap_or((time, time));
            *span = Some((first.min(time), last.max(time)));
        }
    }

    /// The number of sessions that begin before an earlier one ends, unless they are known to be of different computers. Sessions of unknown computers
    /// are compared with each other.
    pub fn overlapping(&self, trace: &Trace) -> u64 {
        let sessions = trace.sessions().iter().zip(&self.of_sessions);
        let mut spans: Vec<_> = sessions.filter_map(|(session, span)| Some((session.host(), (*span)?))).collect();
        spans.sort_unstable();
        let (mut count, mut before) = (0, None);
        for (host, (first, last)) in spans {
            let end = before.filter(|(of, _)| *of == host).map(|(_, end): (Option<&str>, i64)| end);
            count += u64::from(end.is_some_and(|end| first < end));
            before = Some((host, end.map_or(last, |end| end.max(last))));
        }
        count
    }

    /// The length of all spans together, in units of 100 ns. Time that several sessions cover counts once.
    pub fn duration(self) -> u64 {
        let mut spans: Vec<_> = self.of_sessions.into_iter().flatten().collect();
        spans.sort_unstable();
        let (mut duration, mut end) = (0u64, i64::MIN);
        for (first, last) in spans {
            let first = first.max(end);
            if last > first {
                duration = duration.saturating_add(last.abs_diff(first));
                end = last;
            }
        }
        duration
    }
}
