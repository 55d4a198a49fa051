//! Real-time consumers of a session, each an ETW_REALTIME_CONSUMER.

use crate::address::Address;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::object::Object;
use crate::session::Session;
use crate::walk::Walk;
use alloc::vec::Vec;
use etw_layouts::members::WMI_LOGGER_CONTEXT as LOGGER;

/// A consumer that is connected to a session.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// Address of the EPROCESS of the consuming process. `None` in 6.0.
    pub process: Option<Address>,
    /// ID of that process. `None` in 6.1 and later.
    pub process_id: Option<u32>,
    /// Number of the session that the consumer states. `None` in 6.0.
    pub session: Option<u64>,
    /// Number of buffers that the consumer did not take in time.
    pub buffers_lost: Option<u64>,
    /// Whether it is being connected or disconnected.
    pub is_in_transition: bool,
    /// The ETW_REALTIME_CONSUMER structure.
    pub record: Object,
}

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The consumers of a session, in list order. Kernels before 6.0 have none.
    pub fn consumers(&mut self, session: &Session) -> Vec<Consumer> {
        let context = &session.context;
        let place = MemberLocation { structure: context.layout().name, address: context.address(), member: "Consumers" };
        // Every kernel that has consumers has a layout of them.
        let layout = self.kernel().named("ETW_REALTIME_CONSUMER");
        let Some((head, layout)) = context.place(LOGGER::CONSUMERS).zip(layout) else { return Vec::new() };
        let offset = layout.member("Links").map_or(0, |links| links.offset as u64);
        let links = self.double(place, head);
        if let Some(stated) = session.consumers.filter(|stated| *stated as usize != links.len()) {
            self.report(
                MemberLocation { member: "NumConsumers", ..place },
                FindingKind::Count { stated: stated.into(), found: links.len() as u64 },
            );
        }
        let mut found: Vec<_> = links.into_iter().filter_map(|link| Some((link.minus(offset)?, false))).collect();
        let transition = context.unsigned(LOGGER::TRANSITION_CONSUMER).map(|at| self.kernel().address(at));
        if let Some(at) = transition.filter(|at| !at.is_null()) {
            match found.iter_mut().find(|(known, _)| *known == at) {
                Some((_, is_in_transition)) => *is_in_transition = true,
                None => found.push((at, true)),
            }
        }
        let consumers = found.into_iter().filter_map(|(at, is_in_transition)| {
            let record = self.object_of(layout, at)?;
            let number = |name| record.member(name).map(|value| value.unsigned());
            let process = number("ProcessObject").map(|at| self.kernel().address(at)).filter(|at| !at.is_null());
            let process_id = number("ProcessId").map(|number| number as u32);
            let stated = number("LoggerId");
            if let Some(stated) = stated.filter(|stated| *stated != u64::from(session.number)) {
                let place = MemberLocation { structure: layout.name, address: at, member: "LoggerId" };
                self.report(place, FindingKind::Owner { session: session.number, stated });
            }
            let buffers_lost = number("BuffersLost");
            Some(Consumer { process, process_id, session: stated, buffers_lost, is_in_transition, record })
        });
        consumers.collect()
    }
}
