//! Which events are wanted, by what their headers tell.

use crate::clock::Clock;
use crate::event::Event;
use crate::guid::Guid;
use crate::wire::EVENT_TRACE_GROUP;

/// Asks events for what their headers tell. What is asked for several times may be any of it; an event must have all that is asked
/// for, and one whose header does not tell does not have it. Only what is asked for is decoded.
///
/// ```
/// # use etw_layouts_etl::{Filter, names};
/// let processes = names::provider_named("process").unwrap();
/// let filter = Filter::new().provider(processes).opcode(1).opcode(2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filter {
    providers: Vec<Guid>,
    /// A bit for each group of kernel events whose GUID is among the providers.
    groups: [u64; 4],
    names: Vec<String>,
    /// Whether a provider is asked for, in any of these ways.
    of_provider: bool,
    ids: Vec<u16>,
    opcodes: Vec<u8>,
    levels: Vec<u8>,
    keywords: Vec<u64>,
    processes: Vec<u32>,
    threads: Vec<u32>,
    processors: Vec<u16>,
    from: Option<i64>,
    to: Option<i64>,
    /// Whether anything but providers is asked for.
    more: bool,
}

macro_rules! asks {
    ($($(#[$doc:meta])* $name:ident: $list:ident, $ty:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $ty) -> Self {
            self.$list.push($name);
            self.more = true;
            self
        }
    )*};
}

impl Filter {
    /// Asks for nothing: takes all events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a provider; of a kernel event, the GUID of its group.
    #[must_use]
    pub fn provider(mut self, provider: Guid) -> Self {
        self.of_provider = true;
        self.providers.push(provider);
        for group in (0..=u8::MAX).filter(|group| EVENT_TRACE_GROUP(u16::from(*group) << 8).guid() == Some(provider.0)) {
            self.groups[usize::from(group >> 6)] |= 1 << (group & 63);
        }
        self
    }

    /// Asks for a provider by the name in its traits, in any case: [`Event::traits`].
    #[must_use]
    pub fn provider_name(mut self, name: &str) -> Self {
        self.of_provider = true;
        self.names.push(name.to_lowercase());
        self
    }

    /// Asks for a group of kernel events, the high byte of their hook identifiers.
    #[must_use]
    pub fn group(mut self, group: u8) -> Self {
        self.of_provider = true;
        self.groups[usize::from(group >> 6)] |= 1 << (group & 63);
        self
    }

    asks! {
        /// Asks for what identifies an event within its provider: [`Event::id`].
        id: ids, u16;
        /// Asks for what was done.
        opcode: opcodes, u8;
        /// Asks for a level, and no other than this.
        level: levels, u8;
        /// Asks for one of these bits at least; 0 asks for no bit at all.
        keyword: keywords, u64;
        /// Asks for a process.
        process: processes, u32;
        /// Asks for a thread.
        thread: threads, u32;
        /// Asks for a processor.
        processor: processors, u16;
    }

    /// Asks for this time or a later one, in units of 100 ns since 1601.
    #[must_use]
    pub fn from(self, time: i64) -> Self {
        Self { from: Some(time), more: true, ..self }
    }

    /// Asks for this time or an earlier one, in units of 100 ns since 1601.
    #[must_use]
    pub fn to(self, time: i64) -> Self {
        Self { to: Some(time), more: true, ..self }
    }

    /// Whether an event of a processor has what is asked for.
    #[inline]
    pub fn takes(&self, event: &Event<'_>, processor: u16, clock: &Clock) -> bool {
        (!self.of_provider || self.is_of_provider(event)) && (!self.more || self.takes_rest(event, processor, clock))
    }

    #[inline]
    fn is_of_provider(&self, event: &Event<'_>) -> bool {
        match event.hook() {
            Some(hook) => self.groups[usize::from(hook >> 14)] >> (hook >> 8 & 63) & 1 != 0,
            None => event.provider().is_some_and(|provider| self.providers.contains(&provider)) || self.is_named(event),
        }
    }

    fn is_named(&self, event: &Event<'_>) -> bool {
        let is = |traits: &str| self.names.iter().any(|name| traits.chars().flat_map(char::to_lowercase).eq(name.chars()));
        !self.names.is_empty() && matches!(event.traits(), Some(Ok(traits)) if is(traits.name))
    }

    fn takes_rest(&self, event: &Event<'_>, processor: u16, clock: &Clock) -> bool {
        any(&self.processors, || Some(processor))
            && any(&self.ids, || event.id())
            && any(&self.opcodes, || event.opcode())
            && any(&self.levels, || event.level())
            && any(&self.processes, || event.process())
            && any(&self.threads, || event.thread())
            && self.has_keyword(event)
            && self.is_in_time(event, clock)
    }

    fn has_keyword(&self, event: &Event<'_>) -> bool {
        let has = |keyword: u64| self.keywords.iter().any(|mask| if *mask == 0 { keyword == 0 } else { keyword & mask != 0 });
        self.keywords.is_empty() || event.keyword().is_some_and(has)
    }

    fn is_in_time(&self, event: &Event<'_>, clock: &Clock) -> bool {
        if self.from.is_none() && self.to.is_none() {
            return true;
        }
        let time = event.time_stamp().map(|stamp| clock.system_time(stamp));
        time.is_some_and(|time| self.from.is_none_or(|from| time >= from) && self.to.is_none_or(|to| time <= to))
    }
}

/// Whether the value is one of those that are asked for.
fn any<T: PartialEq>(asked: &[T], value: impl FnOnce() -> Option<T>) -> bool {
    asked.is_empty() || value().is_some_and(|value| asked.contains(&value))
}
