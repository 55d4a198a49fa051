//! Groups of buffers: those of one session.

use super::examine::{Completeness, Found};
use crate::buffer_header::LARGEST;
use crate::common::Span;
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
/// header before it, or else to the first one, with the same session number, form of headers, buffer size and time span.
pub fn sessions(found: Vec<(usize, Found)>) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut spans = Vec::new();
    let mut others = Vec::new();
    for (source, found) in found {
        match &found.log_file {
            None => others.push((sessions.len(), source, found)),
            Some(log) => {
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
        }
    }
    let headers = sessions.len();
    let mut unknown: BTreeMap<(u16, Generation, u32), Session> = BTreeMap::new();
    for (before, source, mut found) in others {
        let mut near = (0..before).rev().chain(before..headers);
        let owner = near.find(|index| has(&sessions[*index], &spans[*index], &found));
        let session = match owner {
            Some(owner) => {
                found.generation = sessions[owner].generation;
                &mut sessions[owner]
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
            let size = found.header.size.max(found.header.offset).next_multiple_of(1 << 10).min(LARGEST);
            session.buffer_size = session.buffer_size.max(if session.compressed { size } else { found.header.size });
        }
        session.buffers.push(Entry { source, found, copy: None });
    }
    sessions.extend(unknown.into_values());
    for session in &mut sessions {
        mark(&mut session.buffers);
    }
    merge(&mut sessions);
    sessions
}

/// Whether a buffer can belong to the session of a log file header.
fn has(session: &Session, span: &Span, found: &Found) -> bool {
    let Some(log) = &session.log_file else { return false };
    // Buffers before 6.0 can look like later ones.
    let is_form = session.generation < Generation::V6_0 || found.generation == Generation::V6_1;
    let header = &found.header;
    let is_size = if session.compressed { header.offset <= LARGEST } else { header.size == log.buffer_size };
    let is_processor = log.processors == 0 || u32::from(header.processor()) < log.processors.max(1);
    is_form && is_size && is_processor && header.logger == session.logger && span.has(header.time_stamp)
}

/// Sorts buffers and marks copies: the most complete buffer of each remains.
fn mark(buffers: &mut [Entry]) {
    let rest = usize::from(buffers.first().is_some_and(|first| first.found.log_file.is_some()));
    let buffers = &mut buffers[rest..];
    buffers.sort_by_key(|Entry { source, found, .. }| {
        let header = &found.header;
        (header.time_stamp, sequence(found), header.processor(), *source, found.offset)
    });
    let mut best: BTreeMap<_, usize> = BTreeMap::new();
    let mut hashes: BTreeMap<(u64, u32), usize> = BTreeMap::new();
    for index in 0..buffers.len() {
        let found = &buffers[index].found;
        let (hash, header) = ((found.hash, found.end), &found.header);
        let number = (header.time_stamp, header.processor(), sequence(found));
        let known = hashes.get(&hash).copied();
        let numbered = best.get(&number).copied().filter(|_| sequence(found) > 0);
        let rank = |entry: &Entry| (entry.found.events, entry.found.completeness, !entry.found.in_use);
        let (first, is_same) = match (known, numbered) {
            (Some(known), _) => (known, true),
            (None, Some(numbered)) => (numbered, false),
            (None, None) => {
                hashes.insert(hash, index);
                best.insert(number, index);
                continue;
            }
        };
        let is_better = rank(&buffers[index]) > rank(&buffers[first]);
        let (kept, other) = if is_better { (index, first) } else { (first, index) };
        buffers[other].copy = Some(Copy { source: buffers[kept].source, offset: buffers[kept].found.offset, is_same });
        hashes.insert(hash, kept);
        best.insert(number, kept);
    }
}

/// The sequence number; 0 if the version has none.
fn sequence(found: &Found) -> i64 {
    if found.generation < Generation::V6_0 { 0 } else { found.header.sequence }
}

/// Joins sessions with the same log file header: copies of one file.
fn merge(sessions: &mut Vec<Session>) {
    let mut known: BTreeMap<(u64, u32), usize> = BTreeMap::new();
    let mut merged: Vec<Session> = Vec::new();
    for session in sessions.drain(..) {
        let key = session.log_file.is_some().then(|| session.buffers.first().map(|first| (first.found.hash, first.found.end)));
        let same = key.flatten().and_then(|key| known.get(&key).copied());
        let Some(same) = same else {
            if let Some(key) = key.flatten() {
                known.insert(key, merged.len());
            }
            merged.push(session);
            continue;
        };
        let first = &mut merged[same];
        let (source, offset) = (first.buffers[0].source, first.buffers[0].found.offset);
        first.buffers.extend(session.buffers.into_iter().map(|mut entry| {
            if entry.found.log_file.is_some() {
                entry.copy = Some(Copy { source, offset, is_same: true });
            }
            entry
        }));
        let copies = first.buffers.split_off(1);
        let (headers, mut data): (Vec<_>, Vec<_>) = copies.into_iter().partition(|entry| entry.found.log_file.is_some());
        data.iter_mut().for_each(|entry| entry.copy = None);
        mark(&mut data);
        first.buffers.extend(data);
        first.buffers.extend(headers);
    }
    *sessions = merged;
}

impl Session {
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
