//! Schemas of events, and decoding with them.

mod choice;
mod chunk;
mod found;
#[cfg(test)]
mod tests;
mod versions;

use crate::event::Event;
use crate::header_type::HeaderType;
use crate::wire::EVENT_HEADER_FLAG;
use chunk::{MANIFEST_CHUNK, is_manifest_chunk};
use etw_layouts::events::{self, TypedEvent};
use etw_layouts_payload::packed::{EventKey, Library, LibraryError, Variant};
use etw_layouts_payload::{Field, Fields, InType, PointerSize, Schema, Source, Uuid, Value, Values};
use found::{Found, FoundEvents};
use std::fmt;
use std::sync::Arc;

/// Sources of schemas, used in this order:
///
/// 1. the event itself (a flag that its payload is a text, or TraceLogging);
/// 2. libraries, in the order in which they were added: add the library of the trace first, then the libraries that a user names;
/// 3. for kernel events, the specs, if they have the version of the event;
/// 4. libraries that are part of the program ([`with_static_library`](Self::with_static_library)): a catalogue;
/// 5. for kernel events, the specs of the latest earlier version. [`Decoded::is_exact`] is then `false`.
///
/// The first source that states the fields of the event has priority. If others state fields of other sizes, or if other sources state other
/// names, the event is [disputed](Decoded::is_disputed), and the first schema that decodes the payload to its last byte is used.
///
/// ```no_run
/// use etw_layouts_etl::{Schemas, Trace};
///
/// let schemas = Schemas::built_in();
/// let trace = Trace::from_bytes(std::fs::read("boot.etl")?)?;
/// for event in trace.events() {
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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Schemas {
    /// The pointer size of events with a header that does not state it.
    pointers: PointerSize,
    /// Build of the Windows that wrote the trace; `None` for the newest.
    build: Option<u32>,
    libraries: Vec<Bytes>,
    /// Whether a library has priority over the specs for some classic events.
    has_classic: bool,
    /// Events that were found in the libraries; `None` without libraries.
    found: Option<Arc<FoundEvents>>,
}

/// An event with its schema: the name of the event, and its fields.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The schema. [`Schema::source`] states its source.
    pub schema: Schema<'a>,
    /// Whether the schema has the version of the event. If not, it is the latest known earlier version; later versions usually append
    /// fields.
    pub is_exact: bool,
    /// Whether sources disagree: about the sizes of the fields, or about their names in sources that are not versions of one source. The
    /// schema is then the first that decodes the payload to its last byte, or the first if none does.
    pub is_disputed: bool,
    /// The event in a library, with its task, keywords, message and more; `None` if the schema is not from a library.
    pub variant: Option<Variant<'a>>,
    /// The payload with the schema.
    pub fields: Fields<'a>,
}

impl Schemas {
    /// The schemas that this version of the crate contains: those of kernel events.
    pub const BUILT_IN: &'static Self = &Self::built_in();

    /// The schemas that this version of the crate contains: those of kernel events.
    pub const fn built_in() -> Self {
        Self { pointers: PointerSize::Bits64, build: None, libraries: Vec::new(), has_classic: false, found: None }
    }

    /// Sets the pointer size of the trace, for events with a header that does not state it.
    #[must_use]
    pub fn with_pointers(self, pointers: PointerSize) -> Self {
        Self { pointers, ..self }
    }

    /// Sets the build of the Windows that wrote the trace. If a library has schemas of several builds, those of the nearest build at or
    /// before it are used.
    #[must_use]
    pub fn with_build(self, build: u32) -> Self {
        let found = self.found.is_some().then(Arc::default);
        Self { build: Some(build), found, ..self }
    }

    /// Adds a library of schemas. It is searched after the libraries that were added before it.
    ///
    /// # Errors
    ///
    /// The bytes are not a library, or are in another format.
    pub fn with_library(self, library: impl Into<Arc<[u8]>>) -> Result<Self, LibraryError> {
        let library = library.into();
        let has_classic = self.has_classic || has_classic(Library::read(&library)?);
        Ok(Self { has_classic, ..self.with(Bytes::Shared(library)) })
    }

    /// Adds a library of schemas that is searched before all others: that of the trace itself.
    ///
    /// # Errors
    ///
    /// The bytes are not a library, or are in another format.
    pub fn with_first_library(mut self, library: impl Into<Arc<[u8]>>) -> Result<Self, LibraryError> {
        let library = library.into();
        self.has_classic |= has_classic(Library::read(&library)?);
        self.libraries.insert(0, Bytes::Shared(library));
        self.found = Some(Arc::default());
        Ok(self)
    }

    /// Adds a library of schemas that is part of the program. It is searched after the libraries that were added before it.
    #[must_use]
    pub fn with_static_library(self, library: Library<'static>) -> Self {
        self.with(Bytes::Static(library))
    }

    fn with(mut self, library: Bytes) -> Self {
        self.libraries.push(library);
        self.found = Some(Arc::default());
        self
    }

    /// The libraries, in the order in which they are searched.
    pub fn libraries(&self) -> impl Iterator<Item = Library<'_>> {
        self.libraries.iter().map(Bytes::library)
    }

    /// The name of a provider in the first library that has one.
    pub fn provider_name(&self, provider: Uuid) -> Option<&str> {
        self.libraries()
            .filter_map(|library| library.provider(provider))
            .map(|provider| provider.name())
            .find(|name| !name.is_empty())
    }

    /// The providers with this name, ignoring case.
    pub fn providers_named(&self, name: &str) -> impl Iterator<Item = Uuid> {
        let providers = self.libraries().flat_map(Library::providers);
        providers.filter(move |provider| is_same(provider.name(), name)).map(|provider| provider.guid())
    }

    /// Keywords of a provider with their masks, of all libraries.
    pub fn keywords(&self, provider: Option<Uuid>) -> impl Iterator<Item = (Option<u64>, &str)> {
        let providers = self.libraries().filter_map(move |library| library.provider(provider?));
        providers.flat_map(|provider| provider.keywords())
    }

    /// The event in the libraries, even if they do not state its fields: names, keywords, message. If there are several variants, the
    /// one that [`Event::decode`] tries first. `None` for an event in the specs.
    pub fn variant(&self, event: &Event<'_>) -> Option<Variant<'_>> {
        let is_exact = in_specs(event).is_some_and(|found| found.is_exact);
        if is_exact && !self.has_classic {
            return None;
        }
        let (provider, key) = event_key(event)?;
        let found = self.found(provider, key).filter(|found| !is_exact || found.has_priority(self))?;
        found.variant(self)
    }

    /// The event with this key in the libraries, even if they do not state its fields; `None` if no library has it. Of several variants,
    /// the one that [`Event::decode`] tries first.
    pub fn known(&self, provider: Uuid, key: EventKey) -> Option<Variant<'_>> {
        self.found(provider, key)?.variant(self)
    }

    /// The newest version of the event with this ID, from the first library that has the ID; `None` if no library has it. The library can
    /// lack its fields.
    pub fn known_in_any_version(&self, provider: Uuid, id: u16) -> Option<Variant<'_>> {
        let providers = self.libraries().filter_map(|library| library.provider(provider));
        let of = |provider: etw_layouts_payload::packed::Provider<'_>| {
            provider
                .events()
                .filter_map(|variants| variants.first())
                .map(|variant| variant.key())
                .filter(|key| !key.is_classic() && key.id() == id)
                .last()
        };
        let key = providers.filter_map(of).next()?;
        self.known(provider, key)
    }

    /// The latest schema of a kernel event, by its hook ID.
    pub fn kernel_schema(hook: u16) -> Option<&'static Schema<'static>> {
        events::find((hook >> 8) as u8, hook as u8, u8::MAX).map(|found| found.schema)
    }

    /// The latest schema of a kernel event, by its provider and its event type.
    pub fn kernel_schema_by_type(provider: Uuid, opcode: u8) -> Option<&'static Schema<'static>> {
        events::find_guid(provider, opcode, u8::MAX).map(|found| found.schema)
    }

    fn found(&self, provider: Uuid, key: EventKey) -> Option<Found> {
        let found = self.found.as_ref()?;
        found.get(provider, key, || choice::choose(self, provider, key))
    }

    /// The size of pointers in the payload of an event.
    #[inline]
    pub fn pointer_size(&self, event: &Event<'_>) -> PointerSize {
        event.pointer_size().unwrap_or(self.pointers)
    }

    /// Decodes an event with the schema that is tried first.
    fn decode_other<'a>(&'a self, event: &Event<'a>) -> Option<Decoded<'a>> {
        let pointers = self.pointer_size(event);
        let decoded = |schema: Schema<'a>, is_exact| {
            let fields = schema.decode(event.payload(), pointers);
            Decoded { schema, is_exact, is_disputed: false, variant: None, fields }
        };
        if event.flags().is_some_and(|flags| flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_STRING_ONLY)) {
            return Some(decoded(STRING_ONLY, true));
        }
        if let Some(logging) = event.trace_logging() {
            return logging.schema.ok().map(|schema| decoded(schema, true));
        }
        let by_specs = in_specs(event).map(|found| decoded(*found.schema, found.is_exact));
        let is_exact = by_specs.is_some_and(|decoded| decoded.is_exact);
        if is_exact && !self.has_classic {
            return by_specs;
        }
        let (provider, key) = event_key(event)?;
        let found = self.found(provider, key).filter(|found| !is_exact || found.has_priority(self));
        let in_library = found.and_then(|found| choice::first(self, found, event.payload(), pointers));
        let manifest = || is_manifest_chunk(event).then(|| decoded(MANIFEST_CHUNK, true));
        in_library.or(by_specs).or_else(manifest)
    }
}

/// The schema of an event that is only a text, as EventWriteString writes it.
const STRING_ONLY: Schema<'static> = {
    const FIELDS: &[Field<'_>] = &[Field::new("Message", InType::UNICODESTRING)];
    let mut schema = Schema::specified("", "", 0, FIELDS);
    schema.source = Source::Header;
    schema
};

/// A library of schemas.
#[derive(Clone, Debug)]
enum Bytes {
    Static(Library<'static>),
    Shared(Arc<[u8]>),
}

impl Bytes {
    #[inline]
    fn library(&self) -> Library<'_> {
        match self {
            Self::Static(library) => *library,
            Self::Shared(bytes) => Library::read(bytes).unwrap_or_default(),
        }
    }
}

impl Default for Schemas {
    fn default() -> Self {
        Self::built_in()
    }
}

/// Whether the event is identified by its event type, like the events of WMI classes.
pub(crate) fn is_classic(event: &Event<'_>) -> bool {
    match event.header_type() {
        HeaderType::Event32 | HeaderType::Event64 => {
            event.flags().is_some_and(|flags| flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_CLASSIC_HEADER))
        }
        _ => true,
    }
}

/// The provider of an event, and its key within the provider. Those of a kernel event are its class and its event type.
fn event_key(event: &Event<'_>) -> Option<(Uuid, EventKey)> {
    // An event of WPP has the number of its message, and no version.
    if event.header_type() == HeaderType::Message {
        return Some((event.provider()?, EventKey::from_id(event.id()?, 0)));
    }
    let version = u8::try_from(event.version()?).ok()?;
    if let Some(hook) = event.hook() {
        let class = events::find((hook >> 8) as u8, hook as u8, u8::MAX).map(|found| found.class);
        return Some((class.or(event.provider())?, EventKey::from_opcode(hook as u8, version)));
    }
    let key = match is_classic(event) {
        true => EventKey::from_opcode(event.opcode()?, version),
        false => EventKey::from_id(event.id()?, version),
    };
    Some((event.provider()?, key))
}

/// The schema of an event in the specs.
#[inline]
fn in_specs(event: &Event<'_>) -> Option<events::Found> {
    if let Some(hook) = event.hook() {
        return events::find((hook >> 8) as u8, hook as u8, u8::try_from(event.version()?).ok()?);
    }
    let (provider, key) = event_key(event)?;
    in_specs_by_key(provider, key)
}

/// The schema of a classic event in the specs.
fn in_specs_by_key(provider: Uuid, key: EventKey) -> Option<events::Found> {
    if key.is_classic() { events::find_guid(provider, key.id() as u8, key.version()) } else { None }
}

/// Whether a library has a classic event.
fn has_classic(library: Library<'_>) -> bool {
    library.providers().flat_map(|provider| provider.events()).flatten().any(|variant| variant.key().is_classic())
}

/// Whether names are the same, ignoring case.
pub(crate) fn is_same(own: &str, name: &str) -> bool {
    own.eq_ignore_ascii_case(name) || own.chars().flat_map(char::to_lowercase).eq(name.chars().flat_map(char::to_lowercase))
}

impl<'a> Event<'a> {
    /// The event with its schema; `None` if no schema is known.
    #[inline]
    pub fn decode(&self, schemas: &'a Schemas) -> Option<Decoded<'a>> {
        let first = self.decode_first(schemas)?;
        if !first.is_disputed || first.fields.check().is_ok() {
            return Some(first);
        }
        choice::other(schemas, &first).or(Some(first))
    }

    /// The event with the schema that is tried first, which is the same for all events of a kind. [`decode`](Self::decode) tries the other
    /// schemas if sources disagree. `None` if no schema is known.
    #[inline]
    pub fn decode_first(&self, schemas: &'a Schemas) -> Option<Decoded<'a>> {
        // Most kernel events have a schema of their version in the specs, and no other.
        match self.hook().filter(|_| !schemas.has_classic).and_then(|_| in_specs(self)) {
            Some(found) if found.is_exact => {
                let fields = found.schema.decode(self.payload(), schemas.pointer_size(self));
                Some(Decoded { schema: *found.schema, is_exact: true, is_disputed: false, variant: None, fields })
            }
            _ => schemas.decode_other(self),
        }
    }
}

impl<'a> Event<'a> {
    /// The event as a type of [`etw_layouts::events`], such as [`process::Start`](etw_layouts::events::process::Start); `None` if it is another
    /// event, or if its payload is truncated (see [`TypedEvent`]). `schemas` are asked only for the pointer size of the trace.
    pub fn get<T: TypedEvent<'a>>(&self, schemas: &Schemas) -> Option<T> {
        let is_of_type = match self.hook() {
            Some(hook) => T::HOOK == Some(hook),
            None => {
                self.header_type() != HeaderType::Message
                    && self.opcode() == Some(T::TYPE)
                    && self.provider() == Some(T::CLASS)
                    && is_classic(self)
            }
        };
        if !is_of_type {
            return None;
        }
        T::new(self.payload(), u8::try_from(self.version()?).ok()?, schemas.pointer_size(self))
    }
}

impl<'a> Decoded<'a> {
    /// The source of the schema.
    pub fn source(&self) -> Source {
        self.schema.source
    }

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

/// Displays the name, such as `Process/Start`; without the provider if the schema does not contain it, and with the event ID in place of the name if
/// the event has none.
impl fmt::Display for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.schema.provider, self.schema.event, self.variant) {
            (_, "", Some(variant)) if variant.key().is_classic() => {
                write!(f, "{}/opcode {}", variant.provider().name(), variant.id())
            }
            (_, "", Some(variant)) => write!(f, "{}/{}", variant.provider().name(), variant.id()),
            ("", event, _) => f.write_str(event),
            _ => self.schema.fmt(f),
        }
    }
}
