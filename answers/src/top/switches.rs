//! Context switches: the time that threads run, wait, and are ready.

use super::key::{IDLE, Key, KeyValue, Subject};
use super::sums::{Amounts, Sums, between};
use super::what::What;
use crate::thread_states::{Stopped, Switched, ThreadStates, reason};
use etw_layouts_trace::kernel::TypedEvent;
use etw_layouts_trace::kernel::thread::{CSwitch, ReadyThread};
use etw_layouts_trace::{Error, Event, EventKind, Party};

/// Context switches. Each ends an interval of its processor, in which the old thread ran: the intervals of a processor follow each other without gaps from
/// its first switch to its last one.
pub struct Switches {
    what: What,
    threads: ThreadStates<()>,
}

impl Switches {
    pub fn new(what: What) -> Self {
        Self { what, threads: ThreadStates::default() }
    }

    fn switch<'t>(&mut self, event: &Event<'t>, switch: &CSwitch<'_>, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        let Switched { ran, stopped } = self.threads.switch(event, switch);
        match (self.what, ran, stopped) {
            (What::Run, Some((thread, since)), _) => {
                let time = between(event, since, event.tick());
                let is_same = thread == switch.old_thread_id();
                if !is_same {
                    sums.note("intervals without a thread: it is not the one that a switch before states", 1);
                }
                let party = if is_same { party(event, thread) } else { Party::default() };
                // The idle thread of each processor has the identifier 0.
                let busy = if thread == IDLE && is_same { 0 } else { time };
                sums.add(&Subject::of(event, party), &[1, time, time, busy])?;
            }
            (What::Run, None, _) => sums.note("processors whose time before the first switch is not counted", 1),
            (_, _, Some(stopped)) => self.stopped_until(event, switch.new_thread_id(), &stopped, sums)?,
            _ => {}
        }
        Ok(())
    }

    /// A thread runs again.
    fn stopped_until<'t>(
        &self,
        event: &Event<'t>,
        thread: u32,
        stopped: &Stopped<()>,
        sums: &mut Sums<'t, '_>,
    ) -> Result<(), Error> {
        let subject = Subject::of(event, party(event, thread));
        let stated = stopped.ready.map(|(tick, ())| tick);
        match (self.what, stopped.since.filter(|_| stopped.is_waiting), stated) {
            (What::Wait, Some(since), ready) => {
                let time = between(event, since, ready.unwrap_or(event.tick()));
                if ready.is_none() {
                    sums.note("waits without an event ReadyThread, whose time includes that of being ready", 1);
                }
                let reason = KeyValue::text(reason(stopped.reason));
                sums.add(&subject.with(Key::Reason, reason), &[1, time, time])?;
            }
            (What::Ready, Some(_), None) => {
                sums.note("waits without an event ReadyThread; their time of being ready is not known", 1);
            }
            (What::Ready, _, ready) => {
                // A preempted thread is ready all the time.
                if let Some(since) = ready.or(stopped.since) {
                    let time = between(event, since, event.tick());
                    sums.add(&subject, &[1, time, time])?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl<'t> Amounts<'t> for Switches {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind.0 != CSwitch::CLASS {
            return Ok(());
        }
        if let Some(switch) = event.get::<CSwitch>() {
            sums.count_relevant(event);
            return self.switch(event, &switch, sums);
        }
        if let Some(ready) = event.get::<ReadyThread>() {
            self.threads.ready(event, &ready, ());
        } else if kind.1 == COMPACT {
            sums.note("events CompCS, blocks of context switches in compact form; they are not counted", 1);
        }
        Ok(())
    }

    fn end(&mut self, sums: &mut Sums<'t, '_>) {
        match self.what {
            What::Run => sums.note("processors whose time after the last switch is not counted", self.threads.processors()),
            What::Wait => {
                let waiting = self.threads.unfinished().filter(|stopped| stopped.is_waiting).count();
                sums.note("waits that had not ended at the end of the trace; they are not counted", waiting as u64);
            }
            _ => {}
        }
        if self.what != What::Run {
            let note = "context switches from a thread that neither waits, nor is ready, nor ended; the time until it runs again is not counted";
            sums.note(note, self.threads.other_states());
        }
        sums.note_dropped(self.threads.dropped());
    }
}

const COMPACT: u16 = 37;

fn party(event: &Event<'_>, thread: u32) -> Party {
    let (session, tick) = (event.session(), event.tick());
    let process = session.threads().at(thread, tick);
    let index = process.and_then(|process| session.processes().at(process, tick));
    Party { process, thread: Some(thread), index, ..Party::default() }
}
