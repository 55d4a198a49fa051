//! Suspensions of .NET programs.

use super::key::{Key, KeyValue, Subject};
use super::sums::{Amounts, Kind, Pending, Sums, between, number};
use etw_layouts_trace::providers::RUNTIME;
use etw_layouts_trace::{Error, Event, Party};

/// Suspensions, from GCSuspendEEBegin to GCRestartEEEnd of the same process and runtime.
pub struct Pauses {
    /// By session, process and instance of the runtime.
    begun: Pending<(usize, Option<u32>, u64), Pause>,
}

struct Pause {
    tick: i64,
    party: Party,
    reason: KeyValue,
    /// Of the first garbage collection that began in the suspension.
    collection: Option<(KeyValue, KeyValue)>,
}

const START: u16 = 1;
const RESTART_END: u16 = 3;
const SUSPEND_BEGIN: u16 = 9;

impl Pauses {
    pub fn new() -> Self {
        Self { begun: Pending::new() }
    }
}

const WITHOUT_RESTART: &str = "suspensions without a restart; they are not counted";

impl<'t> Amounts<'t> for Pauses {
    fn add(&mut self, event: &Event<'t>, kind: Kind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind.0 != RUNTIME || !matches!(kind.1, START | RESTART_END | SUSPEND_BEGIN) {
            return Ok(());
        }
        let Some(decoded) = event.decode() else { return Ok(()) };
        let party = event.who().by;
        let runtime = (event.session_index(), party.process, number(&decoded, &["ClrInstanceID"]).unwrap_or_default());
        let text = |name: &str| decoded.get(name).map_or(KeyValue::Unknown, |value| KeyValue::text(value.to_string()));
        match kind.1 {
            SUSPEND_BEGIN => {
                sums.count_relevant();
                let pause = Pause { tick: event.tick(), party, reason: text("Reason"), collection: None };
                if self.begun.insert(runtime, pause, sums).is_some() {
                    sums.note(WITHOUT_RESTART, 1);
                }
            }
            START => {
                if let Some(pause) = self.begun.get_mut(&runtime) {
                    pause.collection.get_or_insert_with(|| (text("Depth"), text("Reason")));
                }
            }
            _ => match self.begun.remove(&runtime) {
                Some(Pause { tick, party, reason, collection }) => {
                    let (generation, cause) = collection.unwrap_or((KeyValue::Unknown, KeyValue::Unknown));
                    let subject = Subject::of(event, party).with(Key::Reason, reason);
                    let subject = subject.with(Key::Generation, generation).with(Key::Cause, cause);
                    let time = between(event, tick, event.tick());
                    sums.add(&subject, &[1, time, time])?;
                }
                None => sums.note("restarts without a suspension, which began before the trace", 1),
            },
        }
        Ok(())
    }

    fn end(&mut self, sums: &mut Sums<'t, '_>) {
        sums.note(WITHOUT_RESTART, self.begun.len() as u64);
    }
}
