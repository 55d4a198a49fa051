//! The first events of each kind, as text.

use crate::text::{digits, json_size, shortened_to};
use etw_layouts_answers::top::Slots;
use etw_layouts_trace::Event;
use etw_layouts_trace::etl::payload::Source;
use etw_layouts_trace::etl::text::{Style, fields, put};
use serde::Serialize;

/// An event as text.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Sample {
    /// Its time since the start, in units of 100 ns, if it has one.
    pub time: Option<i64>,
    /// The process and the thread that did it, if they are known.
    pub process: Option<u32>,
    /// The thread.
    pub thread: Option<u32>,
    /// Its fields, as `etw etl events --payload fields` prints them, or its payload in hexadecimal digits. A long text is cut.
    pub text: String,
}

/// Maximum number of events of a kind.
const MAX_SAMPLES: usize = 3;

/// Maximum length of a text, in bytes of JSON.
const MAX_TEXT: usize = 400;

/// Limit of the texts of all events in a report, in bytes of JSON.
const MAX_SIZE: usize = 192 << 10;

/// Limit of the texts while events are read, in bytes.
const MAX_KEPT: usize = 8 << 20;

/// Makes samples, up to a limit of memory.
pub(crate) struct Samples {
    slots: Slots,
    size: usize,
}

impl Samples {
    pub fn new(slots: Slots) -> Self {
        Self { slots, size: 0 }
    }

    /// Adds an event to the samples of its kind, if they need another.
    pub fn add(&mut self, samples: &mut Vec<Sample>, event: &Event<'_>) {
        if samples.len() >= MAX_SAMPLES || self.size > MAX_KEPT {
            return;
        }
        let by = event.who().by;
        let time = event.relative_time().map(|time| time.0.saturating_sub(self.slots.start.0));
        let sample = Sample { time, process: by.process, thread: by.thread, text: text(event) };
        self.size += sample.size();
        samples.push(sample);
    }
}

impl Sample {
    /// Its size in bytes of JSON.
    fn size(&self) -> usize {
        let numbers = [
            self.time.unwrap_or_default().unsigned_abs(),
            self.process.unwrap_or_default().into(),
            self.thread.unwrap_or_default().into(),
        ];
        50 + json_size(&self.text) + numbers.iter().map(|number| digits(*number)).sum::<usize>()
    }
}

/// Removes samples until the rest fits in a report: the first event of each kind has priority. Returns the number of kinds without one.
pub(crate) fn limit(kinds: &mut [&mut Vec<Sample>]) -> u64 {
    let mut left = MAX_SIZE;
    let mut kept = vec![0; kinds.len()];
    for number in 0..MAX_SAMPLES {
        for (samples, kept) in kinds.iter().zip(&mut kept) {
            if let Some(sample) = samples.get(number).filter(|sample| *kept == number && sample.size() <= left) {
                left -= sample.size();
                *kept += 1;
            }
        }
    }
    kinds.iter_mut().zip(&kept).for_each(|(samples, kept)| samples.truncate(*kept));
    kept.iter().filter(|kept| **kept == 0).count() as u64
}

fn text(event: &Event<'_>) -> String {
    let mut out = Vec::new();
    match event.decode().filter(|decoded| decoded.source() != Source::Header) {
        Some(decoded) => _ = fields::fields(&decoded.fields, Some(event.file().clock()), Style::Text, &mut out),
        None => {
            let header = event.header();
            let payload = header.payload();
            put::hex(&mut out, &payload[..payload.len().min(MAX_TEXT / 2)]);
            if payload.len() > MAX_TEXT / 2 {
                out.extend_from_slice(format!("… ({} bytes)", payload.len()).as_bytes());
            }
        }
    }
    shortened_to(&String::from_utf8_lossy(&out), MAX_TEXT)
}
