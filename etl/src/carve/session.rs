//! Groups of buffers: those of one session.

use super::examine::{Completeness, Found};
use crate::buffer_header::{KIB, LARGEST};
use crate::common::{Span, least};
use crate::logfile::LogFile;
use crate::wire::{Generation, LOG_FILE_MODE};
use std::collections::BTreeMap;

/// The buffers of a session.
#[derive(Clone, Debug)]
pub struct Session {
    /// The log file header, if its buffer was found. It is then the first of `buffers`. Otherwise the clock is unknown.
    pub log_file: Option<LogFile>,
    /// Number of the session, from the buffer headers. Without a log file header, sessions that used the same number one after another are
    /// one group.
    pub logger: u16,
    /// The form of the headers.
    pub generation: Generation,
    /// Size of the session's buffers, in bytes; the largest found if they are compressed.
    pub buffer_size: u32,
    /// Whether buffers are compressed.
    pub compressed: bool,
    /// The header buffer, then the others by time stamp, sequence number and processor.
    pub buffers: Vec<Entry>,
}

/// Maximum number of log file headers before or after a buffer that are compared with it.
const HEADERS: usize = 1000;

/// A buffer of a session.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Index of the source.
    pub source: usize,
    /// The buffer.
    pub found: Found,
    /// The buffer of which this is a copy, which is not written; `None` for a buffer to write.
    pub copy: Option<Copy>,
}

/// A reference to the buffer of which another is a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Index of its source.
    pub source: usize,
    /// Its offset, in bytes.
    pub offset: u64,
    /// Whether the events of both are the same bytes. Otherwise only sequence number, processor and time stamp are the same, and the other
    /// has more events or is more complete.
    pub is_same: bool,
}

/// Groups buffers, each with the index of its source, in the order in which they were found. A buffer belongs to the nearest log file
/// header before it, or else to the first one after it, with the same session number, form of headers, buffer size and time span. Of the log file
/// headers with its session number, the nearest 1,000 are compared.
pub fn sessions(found: Vec<(usize, Found)>) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut spans = Vec::new();
    // By session number, the sessions in the order of their headers; copies of a header count.
    let mut headers: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    let mut known: BTreeMap<(u64, u32), usize> = BTreeMap::new();
    let (mut copies, mut others) = (Vec::new(), Vec::new());
    for (source, found) in found {
        let before = headers.entry(found.header.logger).or_default();
        let Some(log) = &found.log_file else {
            others.push((before.len(), source, found));
            continue;
        };
        let session = *known.entry((found.hash, found.end)).or_insert(sessions.len());
        before.push(session);
        if session < sessions.len() {
            copies.push((session, source, found));
            continue;
        }
        spans.push(Span::new(log));
        sessions.push(Session {
            log_file: Some((**log).clone()),
            logger: found.header.logger,
            generation: found.generation,
            buffer_size: log.buffer_size,
            compressed: log.mode & LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 != 0,
            buffers: vec![Entry { source, found, copy: None }],
        });
    }
    let mut unknown: BTreeMap<(u16, Generation, u32), Session> = BTreeMap::new();
    for (before, source, mut found) in others {
        let (earlier, later) = headers[&found.header.logger].split_at(before);
        let mut near = earlier.iter().rev().take(HEADERS).chain(later.iter().take(HEADERS));
        let session = match near.find(|index| has(&sessions[**index], &spans[**index], &found)) {
            Some(owner) => {
                found.generation = sessions[*owner].generation;
                &mut sessions[*owner]
            }
            None => {
                let (header, compressed) = (&found.header, found.format.is_some());
                let key = (header.logger, found.generation, if compressed { 0 } else { header.size });
                unknown.entry(key).or_insert_with(|| Session {
                    log_file: None,
                    logger: header.logger,
                    generation: found.generation,
                    buffer_size: 0,
                    compressed,
                    buffers: Vec::new(),
                })
            }
        };
        if session.log_file.is_none() {
            let size = found.header.size.max(found.header.offset).next_multiple_of(KIB).min(LARGEST);
            session.buffer_size = session.buffer_size.max(if session.compressed { size } else { found.header.size });
        }
        session.buffers.push(Entry { source, found, copy: None });
    }
    sessions.extend(unknown.into_values());
    for session in &mut sessions {
        mark(&mut session.buffers);
    }
    for (session, source, found) in copies {
        let buffers = &mut sessions[session].buffers;
        let copy = Some(Copy { source: buffers[0].source, offset: buffers[0].found.offset, is_same: true });
        buffers.push(Entry { source, found, copy });
    }
    sessions
}

/// Whether a buffer can belong to the session of a log file header.
fn has(session: &Session, span: &Span, found: &Found) -> bool {
    let Some(log) = &session.log_file else { return false };
    // Buffers before 6.0 can look like later ones.
    let is_form = session.generation < Generation::V6_0 || found.generation == Generation::V6_1;
    let header = &found.header;
    let is_size = session.compressed || header.size == log.buffer_size;
    let is_processor = log.processors == 0 || u32::from(header.processor()) < log.processors;
    is_form && is_size && is_processor && span.has(header.time_stamp)
}

/// Sorts buffers and marks copies: the most complete buffer of each remains. Two buffers are copies if they have the same sequence number, processor and
/// time stamp, or the same events with time stamps.
fn mark(buffers: &mut [Entry]) {
    let rest = usize::from(buffers.first().is_some_and(|first| first.found.log_file.is_some()));
    let buffers = &mut buffers[rest..];
    buffers.sort_by_key(|Entry { source, found, .. }| {
        let header = &found.header;
        (header.time_stamp, sequence(found), header.processor(), *source, found.offset)
    });
    // The first buffer of the same number or events; the groups of two are joined by their first buffers.
    let mut first: Vec<usize> = (0..buffers.len()).collect();
    let (mut numbers, mut events) = (BTreeMap::new(), BTreeMap::new());
    for (index, Entry { found, .. }) in buffers.iter().enumerate() {
        let number = (found.header.time_stamp, found.header.processor(), sequence(found));
        let by_number = (sequence(found) > 0).then(|| *numbers.entry(number).or_insert(index));
        let by_events = found.has_times.then(|| *events.entry((found.hash, found.end)).or_insert(index));
        for other in by_number.into_iter().chain(by_events) {
            let (one, other) = (root(&mut first, index), root(&mut first, other));
            first[one.max(other)] = one.min(other);
        }
    }
    let rank = |entry: &Entry| (entry.found.events, entry.found.completeness, !entry.found.in_use);
    let mut best: BTreeMap<usize, usize> = BTreeMap::new();
    for index in 0..buffers.len() {
        let best = best.entry(root(&mut first, index)).or_insert(index);
        if rank(&buffers[index]) > rank(&buffers[*best]) {
            *best = index;
        }
    }
    let copy = |index: usize| {
        let kept = best[&root(&mut first, index)];
        let (Entry { source, found, .. }, own) = (&buffers[kept], &buffers[index].found);
        let is_same = (found.hash, found.end) == (own.hash, own.end);
        (kept != index).then_some(Copy { source: *source, offset: found.offset, is_same })
    };
    let copies: Vec<_> = (0..buffers.len()).map(copy).collect();
    for (entry, copy) in buffers.iter_mut().zip(copies) {
        entry.copy = copy;
    }
}

/// The first buffer of a group. Shortens the way to it.
fn root(first: &mut [usize], mut index: usize) -> usize {
    while first[index] != index {
        first[index] = first[first[index]];
        index = first[index];
    }
    index
}

/// The sequence number; 0 if the version has none.
fn sequence(found: &Found) -> i64 {
    if found.generation < Generation::V6_0 { 0 } else { found.header.sequence }
}

impl Session {
    /// The least number of buffers that the log file header states; `None` if it states none, as that of a file that was not closed.
    pub fn stated_buffers(&self) -> Option<u32> {
        let log = self.log_file.as_ref().filter(|log| log.end_time > 0)?;
        Some(least(log, self.buffer_size)).filter(|stated| *stated > 0)
    }

    /// Numbers of buffers and events to write, without copies and without the log file header.
    pub fn counts(&self) -> (usize, u64) {
        let kept = || self.buffers.iter().filter(|entry| entry.copy.is_none());
        let events = kept().map(|entry| u64::from(entry.found.events)).sum::<u64>();
        (kept().count(), events - u64::from(self.log_file.is_some()))
    }

    /// Number of buffers with this completeness, without copies.
    pub fn with(&self, completeness: Completeness) -> usize {
        self.buffers.iter().filter(|entry| entry.copy.is_none() && entry.found.completeness == completeness).count()
    }
}
