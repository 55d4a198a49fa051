//! Suspensions of .NET programs.

use super::key::{Key, KeyValue, Subject};
use super::sums::{Amounts, Sums, between};
use crate::collections::{Collections, Ended, SUSPEND_BEGIN, Suspension};
use etw_layouts_trace::{Error, Event, EventKind};

/// Suspensions, each with the garbage collection that began in it.
#[derive(Default)]
pub struct Pauses(Collections);

impl<'t> Amounts<'t> for Pauses {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind == SUSPEND_BEGIN {
            sums.count_relevant(event);
        }
        match self.0.add(event, kind) {
            Some(Ended::Suspension(Suspension { start, party, reason, collection })) => {
                let (generation, cause) = collection.map(|collection| (collection.generation, collection.cause)).unzip();
                let value = |text: Option<String>| text.map_or(KeyValue::Unknown, KeyValue::text);
                let subject = Subject::of(event, party).with(Key::Reason, value(reason));
                let subject = subject.with(Key::Generation, value(generation.flatten()));
                let subject = subject.with(Key::Cause, value(cause.flatten()));
                let time = between(event, start, event.tick());
                sums.add(&subject, &[1, time, time])?;
            }
            Some(Ended::Unknown) => sums.note("restarts without a suspension, which began before the trace", 1),
            Some(Ended::Collection(_)) | None => {}
        }
        Ok(())
    }

    fn end(&mut self, sums: &mut Sums<'t, '_>) {
        sums.note("suspensions without a restart; they are not counted", self.0.without_restart());
        sums.note_dropped(self.0.dropped());
    }
}
