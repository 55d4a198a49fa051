//! Context switches: the time that threads run, wait, and are ready.

use super::key::{Key, KeyValue, Subject};
use super::sums::{Amounts, Kind, Pending, Sums, between};
use super::what::What;
use etw_layouts_trace::kernel::TypedEvent;
use etw_layouts_trace::kernel::thread::{CSwitch, ReadyThread};
use etw_layouts_trace::{Error, Event, Party};

/// Context switches. Each ends an interval of its processor, in which the old thread ran: the intervals of a processor follow each other without gaps from
/// its first switch to its last one.
pub struct Switches {
    what: What,
    /// The thread that runs on each processor of a session, and since which tick.
    running: Pending<(usize, u16), (u32, i64)>,
    /// Threads that do not run, by session.
    stopped: Pending<(usize, u32), Stopped>,
}

/// A thread that does not run.
struct Stopped {
    /// The tick at which it began to wait, and the reason; `None` if it was ready all the time, or began to wait before the trace.
    waits: Option<(i64, KeyValue)>,
    /// The tick since which it is ready; `None` while it waits, and if the trace has no event ReadyThread.
    ready: Option<i64>,
}

/// States of `KTHREAD_STATE`.
const READY: i8 = 1;
const STANDBY: i8 = 3;
const WAITING: i8 = 5;
const GATE_WAIT: i8 = 8;
const WAITING_FOR_PROCESS_IN_SWAP: i8 = 9;
const DEFERRED_READY: i8 = 7;

/// The thread that runs on each processor that has nothing to do.
const IDLE: u32 = 0;

impl Switches {
    pub fn new(what: What) -> Self {
        Self { what, running: Pending::new(), stopped: Pending::new() }
    }

    /// The old thread stops to run, and the new one begins.
    fn switch<'t>(&mut self, event: &Event<'t>, switch: &CSwitch<'_>, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        let (session, tick) = (event.session_index(), event.tick());
        let (old, new) = (switch.old_thread_id(), switch.new_thread_id());
        match self.running.insert((session, event.processor()), (new, tick), sums) {
            Some((thread, since)) if self.what == What::Run => {
                let time = between(event, since, tick);
                let is_same = thread == old;
                if !is_same {
                    sums.note("intervals without a thread: it is not the one that a switch before states", 1);
                }
                let party = if is_same { party(event, thread) } else { Party::default() };
                sums.add(&Subject::of(event, party), &[1, time, time])?;
            }
            None if self.what == What::Run => {
                sums.note("processors whose time before the first switch is not counted", 1);
            }
            _ => {}
        }
        if new != IDLE
            && let Some(Stopped { waits, ready }) = self.stopped.remove(&(session, new))
        {
            self.stopped_until(event, new, waits, ready, sums)?;
        }
        if old != IDLE {
            let stopped = match switch.old_thread_state() {
                WAITING | GATE_WAIT | WAITING_FOR_PROCESS_IN_SWAP => {
                    Stopped { waits: Some((tick, reason(event, sums))), ready: None }
                }
                READY | STANDBY | DEFERRED_READY => Stopped { waits: None, ready: Some(tick) },
                // It ended; its identifier can be that of another thread later.
                _ => {
                    self.stopped.remove(&(session, old));
                    return Ok(());
                }
            };
            self.stopped.insert((session, old), stopped, sums);
        }
        Ok(())
    }

    /// A thread runs again.
    fn stopped_until<'t>(
        &self,
        event: &Event<'t>,
        thread: u32,
        waits: Option<(i64, KeyValue)>,
        ready: Option<i64>,
        sums: &mut Sums<'t, '_>,
    ) -> Result<(), Error> {
        let subject = Subject::of(event, party(event, thread));
        match (self.what, waits, ready) {
            (What::Wait, Some((since, reason)), ready) => {
                let time = between(event, since, ready.unwrap_or(event.tick()));
                if ready.is_none() {
                    sums.note("waits without an event ReadyThread, whose time includes that of being ready", 1);
                }
                sums.add(&subject.with(Key::Reason, reason), &[1, time, time])?;
            }
            (What::Ready, _, Some(since)) => {
                let time = between(event, since, event.tick());
                sums.add(&subject, &[1, time, time])?;
            }
            (What::Ready, Some(_), None) => {
                sums.note("waits without an event ReadyThread; their time of being ready is not known", 1)
            }
            _ => {}
        }
        Ok(())
    }
}

impl<'t> Amounts<'t> for Switches {
    fn add(&mut self, event: &Event<'t>, kind: Kind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind.0 != CSwitch::CLASS {
            return Ok(());
        }
        if let Some(switch) = event.get::<CSwitch>() {
            sums.count_relevant();
            return self.switch(event, &switch, sums);
        }
        if let Some(ready) = event.get::<ReadyThread>() {
            let key = (event.session_index(), ready.t_thread_id());
            match self.stopped.get_mut(&key) {
                Some(stopped) => _ = stopped.ready.get_or_insert(event.tick()),
                // It began to wait before the trace.
                None => _ = self.stopped.insert(key, Stopped { waits: None, ready: Some(event.tick()) }, sums),
            }
        } else if kind.1 == COMPACT {
            sums.note("events CompCS, blocks of context switches in compact form; they are not counted", 1);
        }
        Ok(())
    }

    fn end(&mut self, sums: &mut Sums<'t, '_>) {
        match self.what {
            What::Run => sums.note("processors whose time after the last switch is not counted", self.running.len() as u64),
            What::Wait => {
                let waiting = self.stopped.values().filter(|stopped| stopped.waits.is_some());
                sums.note("waits that had not ended at the end of the trace; they are not counted", waiting.count() as u64);
            }
            _ => {}
        }
    }
}

const COMPACT: u16 = 37;

fn party(event: &Event<'_>, thread: u32) -> Party {
    let (session, tick) = (event.session(), event.tick());
    let process = session.threads().at(thread, tick);
    let index = process.and_then(|process| session.processes().at(process, tick));
    Party { process, thread: Some(thread), index, ..Party::default() }
}

/// The reason for which the old thread waits, if it is asked for.
fn reason(event: &Event<'_>, sums: &Sums<'_, '_>) -> KeyValue {
    let decoded = if sums.has(Key::Reason) { event.decode() } else { None };
    let value = decoded.as_ref().and_then(|decoded| decoded.get("OldThreadWaitReason"));
    value.map_or(KeyValue::Unknown, |value| KeyValue::text(value.to_string()))
}
