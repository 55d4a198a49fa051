//! Selection of events by their headers and values.

use crate::clock::Clock;
use crate::event::Event;
use crate::names;
use crate::schemas::{Schemas, is_same};
use crate::search::{self, TextTest};
use crate::wire::EVENT_TRACE_GROUP;
use etw_layouts::events;
use etw_layouts_payload::Uuid;
use std::sync::Arc;

/// Selects events by the properties in their headers, and by their values. A property can be given several times: an event matches if it has any of
/// the given values. Different properties must all match. An event without a given property does not match. Only the given
/// properties are decoded.
///
/// ```
/// # use etw_layouts_etl::{Filter, names};
/// let processes = names::provider_named("process").unwrap();
/// let filter = Filter::new().provider(processes).opcode(1).opcode(2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filter {
    providers: Vec<Uuid>,
    /// One bit for each group of kernel events, set if the GUID of the group is among the providers.
    groups: [u64; 4],
    /// Hook identifiers of the selected classes that are in the group of another class, such as Image/Load in the process group.
    hooks: Vec<u16>,
    names: Vec<String>,
    /// Names of events.
    events: Vec<EventName>,
    /// Whether a provider is given, in any of these ways.
    of_provider: bool,
    ids: Vec<u16>,
    opcodes: Vec<u8>,
    opcode_names: Vec<String>,
    levels: Vec<u8>,
    keywords: Vec<u64>,
    keyword_names: Vec<String>,
    schemas: Option<Schemas>,
    processes: Vec<u32>,
    threads: Vec<u32>,
    processors: Vec<u16>,
    from: Option<i64>,
    to: Option<i64>,
    texts: Vec<TextTest>,
    /// Whether any property other than the provider is given.
    more: bool,
}

macro_rules! accepts {
    ($($(#[$doc:meta])* $name:ident($value:ident: $ty:ty): $list:ident, $kept:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $value: $ty) -> Self {
            self.$list.push($kept);
            self.more = true;
            self
        }
    )*};
}

impl Filter {
    /// A filter that accepts all events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts events of a provider; kernel events have the GUID of their group.
    #[must_use]
    pub fn provider(mut self, provider: Uuid) -> Self {
        self.of_provider = true;
        self.providers.push(provider);
        for group in (0..=u8::MAX).filter(|group| EVENT_TRACE_GROUP(u16::from(*group) << 8).guid() == Some(provider)) {
            self.groups[usize::from(group >> 6)] |= 1 << (group & 63);
        }
        self
    }

    /// Accepts events of a provider by the name in its traits, ignoring case: [`Event::traits`].
    #[must_use]
    pub fn provider_name(mut self, name: &str) -> Self {
        self.of_provider = true;
        self.names.push(name.to_lowercase());
        self
    }

    /// Accepts events with this name, ignoring case: `Process/Start`, or `Process/*` or `Process` for all events of a class or provider.
    /// Events of TraceLogging and of manifests have names such as `PROVIDER/EVENT`, and also `PROVIDER/ID`. An event without a known name
    /// matches the text of [`names::identity`].
    #[must_use]
    pub fn event(mut self, name: &str) -> Self {
        let (provider, event) = name.split_once('/').unwrap_or((name, "*"));
        self.events.push(EventName { name: name.to_owned(), provider: provider.to_owned(), event: event.to_owned() });
        self.more = true;
        self
    }

    /// Sets the schemas by which providers, events, opcodes and keywords are matched by name. Call it after the other methods.
    #[must_use]
    pub fn with_schemas(mut self, schemas: &Schemas) -> Self {
        let named: Vec<_> = self.names.iter().flat_map(|name| schemas.providers_named(name)).collect();
        self.schemas = Some(schemas.clone());
        named.into_iter().fold(self, Self::provider)
    }

    /// Accepts a class of kernel events by its provider, including events with a hook identifier in the group of another class.
    #[must_use]
    pub fn class(mut self, provider: Uuid) -> Self {
        let classes: Vec<_> = events::all().filter(|(guid, ..)| *guid == provider).map(|(.., schema)| schema.provider).collect();
        let is_other = |hook: &u16| {
            EVENT_TRACE_GROUP(hook & 0xFF00).guid() != Some(provider)
                && Schemas::kernel_schema(*hook).is_some_and(|schema| classes.contains(&schema.provider))
        };
        if !classes.is_empty() {
            self.hooks.extend((0..=u16::MAX).filter(is_other));
        }
        self.provider(provider)
    }

    /// Accepts a group of kernel events: the high byte of their hook identifiers.
    #[must_use]
    pub fn group(mut self, group: u8) -> Self {
        self.of_provider = true;
        self.groups[usize::from(group >> 6)] |= 1 << (group & 63);
        self
    }

    accepts! {
        /// Accepts an identifier within the provider: [`Event::id`].
        id(id: u16): ids, id;
        /// Accepts an opcode: [`Event::opcode`].
        opcode(opcode: u8): opcodes, opcode;
        /// Accepts events with an opcode of this name, ignoring case: the name in a schema of [`with_schemas`](Self::with_schemas), or one
        /// that is the same for all providers ([`names::opcode`]).
        opcode_name(name: &str): opcode_names, name.to_owned();
        /// Accepts exactly this level: [`Event::level`].
        level(level: u8): levels, level;
        /// Accepts events with at least one of these keyword bits; 0 accepts events with a keyword of 0.
        keyword(keyword: u64): keywords, keyword;
        /// Accepts events with a keyword of this name, ignoring case, by the schemas of [`with_schemas`](Self::with_schemas).
        keyword_name(name: &str): keyword_names, name.to_owned();
        /// Accepts a process.
        process(process: u32): processes, process;
        /// Accepts a thread.
        thread(thread: u32): threads, thread;
        /// Accepts a processor.
        processor(processor: u16): processors, processor;
    }

    /// Accepts events with a text that meets a condition. Texts are the displayed values, by the schemas of
    /// [`with_schemas`](Self::with_schemas). Bytes that are undecoded or have no type are also searched: as single bytes and as UTF-16,
    /// divided at control characters. Several conditions must all be met, not necessarily by the same text.
    #[must_use]
    pub fn text(mut self, test: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.texts.push(TextTest(Arc::new(test)));
        self.more = true;
        self
    }

    /// Accepts this time and later ones, in units of 100 ns since 1601.
    #[must_use]
    pub fn from(self, time: i64) -> Self {
        Self { from: Some(time), more: true, ..self }
    }

    /// Accepts this time and earlier ones, in units of 100 ns since 1601.
    #[must_use]
    pub fn to(self, time: i64) -> Self {
        Self { to: Some(time), more: true, ..self }
    }

    /// Whether an event of a processor matches the filter, with the process and the thread in its header.
    #[inline]
    pub fn matches(&self, event: &Event<'_>, processor: u16, clock: &Clock) -> bool {
        self.matches_without_ids(event, processor, clock)
            && (!self.asks_who() || self.is_of(&[event.process()], &[event.thread()]))
    }

    /// Whether an event of a processor matches all properties of the filter except processes and threads.
    #[inline]
    pub fn matches_without_ids(&self, event: &Event<'_>, processor: u16, clock: &Clock) -> bool {
        (!self.of_provider || self.is_of_provider(event)) && (!self.more || self.matches_rest(event, processor, clock))
    }

    /// Whether the filter has processes or threads.
    #[inline]
    pub fn asks_who(&self) -> bool {
        !self.processes.is_empty() || !self.threads.is_empty()
    }

    /// Whether the filter accepts one of `processes` and one of `threads`. A filter without processes accepts every process; the same
    /// applies to threads.
    pub fn is_of(&self, processes: &[Option<u32>], threads: &[Option<u32>]) -> bool {
        let is =
            |accepted: &[u32], own: &[Option<u32>]| accepted.is_empty() || own.iter().flatten().any(|own| accepted.contains(own));
        is(&self.processes, processes) && is(&self.threads, threads)
    }

    /// Whether a time is within the limits of the filter, in units of 100 ns since 1601.
    #[inline]
    pub fn has_time(&self, time: i64) -> bool {
        self.from.is_none_or(|from| time >= from) && self.to.is_none_or(|to| time <= to)
    }

    #[inline]
    fn is_of_provider(&self, event: &Event<'_>) -> bool {
        match event.hook() {
            Some(hook) => self.groups[usize::from(hook >> 14)] >> (hook >> 8 & 63) & 1 != 0 || self.hooks.contains(&hook),
            None => event.provider().is_some_and(|provider| self.providers.contains(&provider)) || self.is_named(event),
        }
    }

    fn is_named(&self, event: &Event<'_>) -> bool {
        let is = |traits: &str| self.names.iter().any(|name| traits.chars().flat_map(char::to_lowercase).eq(name.chars()));
        !self.names.is_empty() && matches!(event.traits(), Some(Ok(traits)) if is(traits.name))
    }

    fn matches_rest(&self, event: &Event<'_>, processor: u16, clock: &Clock) -> bool {
        any(&self.processors, || Some(processor))
            && (self.events.is_empty() || self.events.iter().any(|name| name.is_of(event, self.schemas())))
            && any(&self.ids, || event.id())
            && self.has_opcode(event)
            && any(&self.levels, || event.level())
            && self.has_keyword(event)
            && self.is_in_time(event, clock)
            && (self.texts.is_empty() || search::meets(&self.texts, event, self.schemas(), clock))
    }

    fn schemas(&self) -> &Schemas {
        self.schemas.as_ref().unwrap_or(Schemas::BUILT_IN)
    }

    fn has_opcode(&self, event: &Event<'_>) -> bool {
        if self.opcode_names.is_empty() {
            return any(&self.opcodes, || event.opcode());
        }
        let Some(opcode) = event.opcode() else { return false };
        let is = |name: &str| self.opcode_names.iter().any(|wanted| is_same(name, wanted));
        self.opcodes.contains(&opcode)
            || names::opcode(event.header_type(), opcode).is_some_and(is)
            || self.schemas().variant(event).is_some_and(|variant| is(variant.opcode().name))
    }

    fn has_keyword(&self, event: &Event<'_>) -> bool {
        let has = |keyword: u64| self.keywords.iter().any(|mask| if *mask == 0 { keyword == 0 } else { keyword & mask != 0 });
        self.keywords.is_empty() && self.keyword_names.is_empty()
            || event.keyword().is_some_and(has)
            || self.has_keyword_name(event)
    }

    /// Whether a keyword bit of the event, or a keyword in its schema, has one of the names.
    fn has_keyword_name(&self, event: &Event<'_>) -> bool {
        if self.keyword_names.is_empty() {
            return false;
        }
        let is = |name: &str| self.keyword_names.iter().any(|wanted| is_same(name, wanted));
        let Some(keyword) = event.keyword() else { return false };
        let schemas = self.schemas();
        let by_mask =
            schemas.keywords(event.provider()).any(|(mask, name)| mask.is_some_and(|mask| keyword & mask != 0) && is(name));
        by_mask || schemas.variant(event).is_some_and(|variant| variant.keywords().any(|(_, name)| is(name)))
    }

    fn is_in_time(&self, event: &Event<'_>, clock: &Clock) -> bool {
        if self.from.is_none() && self.to.is_none() {
            return true;
        }
        event.time_stamp().and_then(|stamp| clock.time(stamp)).is_some_and(|time| self.has_time(time.0))
    }
}

/// A name that selects events: provider and event.
#[derive(Clone, Debug)]
struct EventName {
    /// The whole name.
    name: String,
    provider: String,
    event: String,
}

impl EventName {
    fn is_of(&self, event: &Event<'_>, schemas: &Schemas) -> bool {
        let is = |own: &str, name: &str| name == "*" || !own.is_empty() && is_same(own, name);
        if let Some(variant) = schemas.variant(event) {
            let is_event = is(variant.name(), &self.event) || self.event.parse() == Ok(variant.id());
            return is_event && is(variant.provider().name(), &self.provider);
        }
        let Some(decoded) = event.decode(schemas) else {
            return names::identity(event, schemas).eq_ignore_ascii_case(&self.name);
        };
        let provider = match decoded.schema.provider {
            "" => event.traits().and_then(Result::ok).map_or("", |traits| traits.name),
            provider => provider,
        };
        is(decoded.schema.event, &self.event) && is(provider, &self.provider)
    }
}

/// Whether no values are given, or the value is one of them.
fn any<T: PartialEq>(accepted: &[T], value: impl FnOnce() -> Option<T>) -> bool {
    accepted.is_empty() || value().is_some_and(|value| accepted.contains(&value))
}
