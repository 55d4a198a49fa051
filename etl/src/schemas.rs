//! Schemas of events, and decoding with them.

use crate::event::Event;
use crate::header_type::HeaderType;
use crate::wire::EVENT_HEADER_FLAG;
use etw_layouts::events;
use etw_layouts_payload::{Fields, PointerSize, Schema, Uuid, Value, Values};
use std::fmt;

/// Sources of schemas, used in this order: the event itself (TraceLogging), then the specs of kernel events.
///
/// ```no_run
/// use etw_layouts_etl::{Schemas, Trace};
///
/// let schemas = Schemas::built_in();
/// for event in Trace::open("boot.etl")?.events() {
///     let event = event?;
///     if let Some(decoded) = event.event().decode(&schemas) {
///         println!("{decoded}"); // Process/Start
///         if let Some(command_line) = decoded.get("CommandLine") {
///             println!("{command_line}");
///         }
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Schemas {
    /// The pointer size of events whose header does not state it.
    pointers: PointerSize,
}

/// An event with its schema: the name of the event, and its fields.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The schema.
    pub schema: Schema<'a>,
    /// Whether the schema has the version of the event. If not, it is the latest known earlier version; later versions usually append
    /// fields.
    pub is_exact: bool,
    /// The payload with the schema.
    pub fields: Fields<'a>,
}

impl Schemas {
    /// The schemas that this version of the crate contains.
    pub const fn built_in() -> Self {
        Self { pointers: PointerSize::Bits64 }
    }

    /// As [`built_in`](Self::built_in), with the pointer size of the trace for events whose header does not state one.
    pub const fn with_pointers(self, pointers: PointerSize) -> Self {
        Self { pointers }
    }

    /// The latest schema of a kernel event, by its hook ID.
    pub fn of_hook(hook: u16) -> Option<&'static Schema<'static>> {
        events::find((hook >> 8) as u8, hook as u8, u8::MAX).map(|found| found.schema)
    }

    /// The latest schema of a kernel event, by its provider and its event type.
    pub fn of_type(provider: Uuid, opcode: u8) -> Option<&'static Schema<'static>> {
        events::find_guid(provider.as_u128(), opcode, u8::MAX).map(|found| found.schema)
    }

    /// The schema of an event without a hook ID, and whether it has the version of the event.
    fn find<'a>(&self, event: &Event<'a>) -> Option<(Schema<'a>, bool)> {
        if let Some(logging) = event.trace_logging() {
            return logging.schema.ok().map(|schema| (schema, true));
        }
        let (opcode, version) = (event.opcode()?, u8::try_from(event.version()?).ok()?);
        let found = if is_classic(event) { events::find_guid(event.provider()?.as_u128(), opcode, version) } else { None };
        found.map(|found| (*found.schema, found.is_exact))
    }
}

impl Default for Schemas {
    fn default() -> Self {
        Self::built_in()
    }
}

/// Whether the events of the provider are identified by event types, as those of WMI classes are.
pub(crate) fn is_classic(event: &Event<'_>) -> bool {
    match event.header_type() {
        HeaderType::Event32 | HeaderType::Event64 => {
            event.flags().is_some_and(|flags| flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_CLASSIC_HEADER))
        }
        _ => true,
    }
}

impl<'a> Event<'a> {
    /// The event with its schema; `None` if no schema is known.
    #[inline]
    pub fn decode(&self, schemas: &Schemas) -> Option<Decoded<'a>> {
        let Some(hook) = self.hook() else { return self.decode_other(schemas) };
        let found = events::find((hook >> 8) as u8, hook as u8, u8::try_from(self.version()?).ok()?)?;
        let pointers = self.pointer_size().unwrap_or(schemas.pointers);
        Some(Decoded { schema: *found.schema, is_exact: found.is_exact, fields: found.schema.decode(self.payload(), pointers) })
    }

    #[inline(never)]
    fn decode_other(&self, schemas: &Schemas) -> Option<Decoded<'a>> {
        let (schema, is_exact) = schemas.find(self)?;
        let pointers = self.pointer_size().unwrap_or(schemas.pointers);
        Some(Decoded { schema, is_exact, fields: schema.decode(self.payload(), pointers) })
    }
}

impl<'a> Decoded<'a> {
    /// The first value of the first field with this name.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.fields.get(name)
    }

    /// All values in the order of the payload.
    #[inline]
    pub fn iter(&self) -> Values<'a> {
        self.fields.iter()
    }
}

/// Displays the name, such as `Process/Start`; without the provider if the schema does not contain it.
impl fmt::Display for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.schema.provider {
            "" => f.write_str(self.schema.event),
            _ => self.schema.fmt(f),
        }
    }
}
