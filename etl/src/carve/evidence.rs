//! The events at the start of a buffer that may be followed by other bytes.

use super::content::Content;
use crate::diagnostic::DiagnosticKind;
use crate::event::time_stamp;
use crate::header_type::HeaderType;
use crate::walk::Events;
use crate::wire::Generation;

/// Events from the start of a buffer.
pub(super) struct Walked {
    pub events: u32,
    /// Offset of the last event.
    pub last: usize,
    /// End of the last event, without padding.
    pub end: usize,
    /// End of the first bytes that are not those of an event, as far as they were examined.
    pub examined: usize,
    /// Whether the header of another event follows, whose end is missing.
    pub is_followed: bool,
    pub is_64_bit: Option<bool>,
    /// Whether any event has a time stamp.
    pub has_times: bool,
    has_fault: bool,
}

impl Walked {
    /// Whether events follow each other up to an offset.
    pub fn reaches(&self, end: usize) -> bool {
        !self.has_fault && self.end.next_multiple_of(8) >= end
    }
}

/// Limit of the difference of time stamps in a buffer, in ticks of any clock: 17 days of a processor with 3 GHz. Other bytes read as a time stamp
/// differ by more in all but one of 2,000 cases.
const GREATEST_DIFFERENCE: u64 = 1 << 52;

/// Length of an event header up to the end of its time stamp.
const TIME_END: usize = 24;

/// The same for a message with a sequence number and a GUID.
const MESSAGE_TIME_END: usize = 36;

/// Walks over the events of a buffer that end at most at `limit`. If `is_strict`, each event needs evidence that it is one: a known type of
/// header and a time stamp near that of the first; events without a time stamp count if an event with evidence, or the end of the buffer,
/// follows. `None` if there is no event, or the first has an unknown type of header.
pub(super) fn walk(content: &Content<'_>, generation: Generation, is_strict: bool, limit: usize) -> Option<Walked> {
    let buffer = content.plain();
    let mut walked = Walked {
        events: 0,
        last: 0,
        end: 0,
        examined: buffer.len(),
        is_followed: false,
        is_64_bit: None,
        has_times: false,
        has_fault: false,
    };
    // The events so far, the last of them, and its end.
    let (mut events, mut last, mut end) = (0, 0, 0);
    let mut times = Times { first: None, latest: None, is_ordered: content.format().is_some() };
    let mut before: Option<&[u8]> = None;
    for event in Events::in_memory(buffer, generation) {
        let event = match event {
            Ok(event) => event,
            Err(fault) => {
                let at = fault.offset as usize;
                let rest = buffer.get(at..).unwrap_or(&[]);
                walked.examined = match (fault.kind, rest) {
                    // Extended items can extend to the end of the event.
                    (DiagnosticKind::Items, [low, high, ..]) => at + usize::from(u16::from_le_bytes([*low, *high])),
                    // The event ends in the buffer, but after the bytes that are left of it.
                    (DiagnosticKind::Long { length, .. }, _) if at + length as usize <= content.valid_end() => {
                        walked.is_followed = is_header(rest, &times);
                        if walked.is_followed { buffer.len() } else { at + TIME_END }
                    }
                    _ => at + size_of::<u64>(),
                };
                walked.has_fault = true;
                break;
            }
        };
        let (at, length, time) = (event.offset() as usize, event.bytes().len(), event.time_stamp());
        let is_copy = times.is_ordered && before.replace(event.bytes()) == Some(event.bytes());
        let is_wrong = !event.header_type().is_known() || !times.can_have(time) || is_copy;
        if at + length > limit || is_wrong && (is_strict || events == 0) {
            walked.examined = at + if event.header_type() == HeaderType::Message { MESSAGE_TIME_END } else { TIME_END };
            walked.has_fault = true;
            break;
        }
        (events, last, end) = (events + 1, at, at + length);
        if time.is_some() || times.first.is_none() || !is_strict {
            (walked.events, walked.last, walked.end) = (events, last, end);
        }
        times.first = times.first.or(time);
        times.latest = time.or(times.latest);
        walked.is_64_bit = walked.is_64_bit.or(event.header_type().is_64_bit());
    }
    if !walked.has_fault && end.next_multiple_of(8) >= buffer.len() {
        (walked.events, walked.last, walked.end) = (events, last, end);
    }
    walked.has_times = times.first.is_some();
    (walked.events > 0).then_some(walked)
}

/// The time stamps in a buffer.
struct Times {
    first: Option<i64>,
    latest: Option<i64>,
    /// Whether a time stamp cannot be before the one before it: where a compressed stream ends in other bytes, these copy earlier events.
    is_ordered: bool,
}

impl Times {
    fn can_have(&self, time: Option<i64>) -> bool {
        let is_near = time.zip(self.first).is_none_or(|(time, first)| time.abs_diff(first) < GREATEST_DIFFERENCE);
        is_near && (!self.is_ordered || time.zip(self.latest).is_none_or(|(time, latest)| time >= latest))
    }
}

/// Whether the bytes begin with the header of an event whose end is missing.
fn is_header(bytes: &[u8], times: &Times) -> bool {
    let header_type = match bytes.first_chunk() {
        Some([_, _, ty, 0xC0]) => HeaderType::from_type(*ty),
        Some([.., 0x90]) => HeaderType::Message,
        _ => return false,
    };
    let time = time_stamp(header_type, bytes);
    header_type.is_known() && time.is_some() && times.can_have(time)
}
