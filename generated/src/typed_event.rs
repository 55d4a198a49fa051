//! Kernel events as types, with a getter for each field.

use crate::event_table::Event;
use core::fmt;
use core::marker::PhantomData;
pub use core::net::{Ipv4Addr, Ipv6Addr};
pub use etw_layouts_payload::{Data, Field, FieldValues, FileTime, PointerSize, Schema, Sid, Text, Uuid, Value};

/// A kernel event of one type, in all versions of the specs. The method `get` of events returns it.
///
/// A field that all versions have at a fixed place is a plain value; [`new`](Self::new) returns `None` for a payload that ends before the last of
/// them. The getter of another field returns `None` if the version of the event does not have the field, if the payload ends before it, or if its
/// bytes are invalid; that of an array then returns an iterator without elements. Arrays of structures have no getters. An event of a version later than those of the specs is read
/// as the last known version.
///
/// Integers have the width of the widest version, pointers and sizes 64 bits, identifiers of processes and threads 32 bits.
pub trait TypedEvent<'a>: Sized {
    /// GUID of the event class.
    const CLASS: Uuid;
    /// Hook identifier: the group (high byte) and the event type (low byte); `None` for a class without a group.
    const HOOK: Option<u16>;
    /// Event type, which classic events state as their opcode.
    const TYPE: u8;

    /// Reads the payload of an event of this type. `None` if it ends before a field that all versions have, or if the specs have only later
    /// versions.
    fn new(payload: &'a [u8], version: u8, pointers: PointerSize) -> Option<Self>;
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub struct Elements<'a, T> {
    /// `None` if the version of the event does not have the array.
    values: Option<FieldValues<'a>>,
    element: PhantomData<T>,
}

impl<'a, T: Read<'a>> Iterator for Elements<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        T::read(self.values.as_mut()?.next()?)
    }
}

/// Defines the types of a class. Event types that share their fields are a struct for the first, and aliases for the others. The getters of plain
/// values come first, then the others.
macro_rules! events {
    ($(
        $(#[$doc:meta])*
        $first:ident<$a:lifetime>: $class:literal, $first_type:literal $(, $name:ident = $type:literal)*
        { $($plain:ident: $plain_type:ty = $plain_field:literal, $plain_doc:literal;)* }
        { $($other:ident: $other_type:ty = $other_field:literal, $other_doc:literal;)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $first<$a, const TYPE: u8 = $first_type>($crate::typed_event::Payload<$a>);

        $(
            #[doc = concat!("An event of type ", $type, ", with the fields of [`", stringify!($first), "`].")]
            pub type $name<$a> = $first<$a, $type>;
        )*

        const _: () = {
            #[allow(unused_imports)]
            use $crate::typed_event::{Class, Getter, Payload, PointerSize, TypedEvent, Version, versions};
            const FIELDS: &[&str] = &[$($plain_field,)* $($other_field,)*];
            const PLAIN: &[&str] = &[$($plain_field,)*];
            const EVENT: Class = Class::new($class, $first_type);
            static VERSIONS: [Version<{ FIELDS.len() }>; EVENT.versions()] = versions(EVENT, FIELDS, PLAIN.len());

            #[allow(dead_code)]
            enum At { $($plain,)* $($other,)* }

            impl<$a, const TYPE: u8> $first<$a, TYPE> {
                $(
                    #[doc = $plain_doc]
                    pub fn $plain(&self) -> $plain_type { self.0.plain(At::$plain as usize) }
                )*
                $(
                    #[doc = $other_doc]
                    pub fn $other(&self) -> $other_type { Getter::get(&self.0, At::$other as usize) }
                )*
            }

            impl<const TYPE: u8> core::fmt::Debug for $first<'_, TYPE> {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result { self.0.fmt(f) }
            }

            $crate::typed_event::events! { @types $first $class, $first_type $(, $type)* }
        };
    )*};
    (@types $first:ident $class:literal, $($type:literal),*) => {
        $(impl<'a> TypedEvent<'a> for $first<'a, $type> {
            const CLASS: $crate::runtime::Uuid = $crate::runtime::Uuid::from_u128($class);
            const HOOK: Option<u16> = Class::new($class, $type).hook();
            const TYPE: u8 = $type;

            fn new(payload: &'a [u8], version: u8, pointers: PointerSize) -> Option<Self> {
                Payload::new(payload, version, pointers, &VERSIONS).map(Self)
            }
        })*
    };
}
pub(crate) use events;

/// A payload with the places of its fields.
#[derive(Clone, Copy)]
pub struct Payload<'a> {
    bytes: &'a [u8],
    pointers: PointerSize,
    schema: &'static Schema<'static>,
    fields: &'static [Field<'static>],
    /// The place of each getter's field.
    places: &'static [Place],
}

/// A version of an event.
#[derive(Clone, Copy)]
pub struct Version<const GETTERS: usize> {
    schema: &'static Schema<'static>,
    fields: &'static [Field<'static>],
    /// The size of a payload with all plain values, with pointers of 4 and of 8 bytes.
    minimum: [u16; 2],
    places: [Place; GETTERS],
}

/// The place of a field.
#[derive(Clone, Copy)]
pub struct Place {
    /// Its position in the list of fields; `u16::MAX` if the version does not have it.
    position: u16,
    /// Its offset, with pointers of 4 and of 8 bytes; `u16::MAX` if it varies.
    offset: [u16; 2],
    /// Its size; meaningless if the offset varies.
    size: [u16; 2],
}

/// An event type of the table.
#[derive(Clone, Copy)]
pub struct Class(&'static Event);

impl<'a> Payload<'a> {
    /// `None` if the payload ends before a plain value, or if only later versions are known.
    pub fn new<const N: usize>(bytes: &'a [u8], version: u8, pointers: PointerSize, all: &'static [Version<N>]) -> Option<Self> {
        let known = all.iter().rfind(|known| known.schema.version <= version)?;
        let is_long_enough = bytes.len() >= known.minimum[usize::from(pointers == PointerSize::Bits64)].into();
        let Version { schema, fields, ref places, .. } = *known;
        is_long_enough.then_some(Self { bytes, pointers, schema, fields, places })
    }

    /// A plain value.
    #[inline]
    pub fn plain<T: Plain<'a>>(&self, getter: usize) -> T {
        // Payloads that end before plain values have no type, so the default is never returned.
        self.value(getter).and_then(T::read).unwrap_or(T::DEFAULT)
    }

    #[inline]
    fn value(&self, getter: usize) -> Option<Value<'a>> {
        let Place { position, offset, size } = *self.places.get(getter)?;
        let field = self.fields.get(usize::from(position))?;
        let side = usize::from(self.pointers == PointerSize::Bits64);
        if offset[side] == u16::MAX {
            return self.values(position).next();
        }
        let bytes = self.bytes.get(offset[side].into()..)?.get(..size[side].into())?;
        Some(field.value(bytes))
    }

    fn values(&self, position: u16) -> FieldValues<'a> {
        self.schema.decode(self.bytes, self.pointers).of_field(position.into())
    }
}

/// Displays all values by the names of their fields.
impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.schema.decode(self.bytes, self.pointers);
        let mut text = f.debug_struct(self.schema.event);
        fields.iter().for_each(|value| _ = text.field(value.name(), &format_args!("{value}")));
        text.finish()
    }
}

/// The type that a getter returns.
pub trait Getter<'a> {
    /// The value of a getter.
    fn get(payload: &Payload<'a>, getter: usize) -> Self;
}

impl<'a, T: Read<'a>> Getter<'a> for Option<T> {
    #[inline]
    fn get(payload: &Payload<'a>, getter: usize) -> Self {
        T::read(payload.value(getter)?)
    }
}

impl<'a, T> Getter<'a> for Elements<'a, T> {
    fn get(payload: &Payload<'a>, getter: usize) -> Self {
        let place = payload.places.get(getter).filter(|place| place.position != u16::MAX);
        Self { values: place.map(|place| payload.values(place.position)), element: PhantomData }
    }
}

/// A type of values.
pub trait Read<'a>: Sized {
    /// `None` if the bytes are invalid.
    fn read(value: Value<'a>) -> Option<Self>;
}

/// A type of values that all bytes are valid for.
pub trait Plain<'a>: Read<'a> {
    const DEFAULT: Self;
}

macro_rules! read {
    ($($type:ty: $value:ident => $read:expr, $default:expr;)*) => {$(
        impl<'a> Read<'a> for $type {
            #[inline]
            fn read($value: Value<'a>) -> Option<Self> { $read }
        }

        impl Plain<'_> for $type {
            const DEFAULT: Self = $default;
        }
    )*};
}

read! {
    u8: value => value.number().map(|number| number as Self), 0;
    u16: value => value.number().map(|number| number as Self), 0;
    u32: value => value.number().map(|number| number as Self), 0;
    u64: value => value.number(), 0;
    i8: value => signed(&value).map(|number| number as Self), 0;
    i16: value => signed(&value).map(|number| number as Self), 0;
    i32: value => signed(&value).map(|number| number as Self), 0;
    i64: value => signed(&value), 0;
    bool: value => value.number().map(|number| number != 0), false;
    FileTime: value => value.number().map(|number| Self(number as i64)), Self(0);
    Uuid: value => if let Data::Guid(guid) = value.data() { Some(guid) } else { None }, Self::nil();
    Ipv4Addr: value => if let Data::Ipv4(address) = value.data() { Some(address) } else { None }, Self::UNSPECIFIED;
    Ipv6Addr: value => if let Data::Ipv6(address) = value.data() { Some(address) } else { None }, Self::UNSPECIFIED;
}

/// The integer, with its sign.
fn signed(value: &Value<'_>) -> Option<i64> {
    let unused = 64 - 8 * value.bytes.len() as u32;
    value.number().map(|number| (number << unused) as i64 >> unused)
}

impl<'a> Read<'a> for Text<'a> {
    fn read(value: Value<'a>) -> Option<Self> {
        value.text()
    }
}

impl<'a> Read<'a> for Sid<'a> {
    fn read(value: Value<'a>) -> Option<Self> {
        if let Data::Sid(sid) = value.data() { Some(sid) } else { None }
    }
}

impl<'a> Read<'a> for &'a [u8] {
    fn read(value: Value<'a>) -> Option<Self> {
        Some(value.bytes)
    }
}

impl<'a> Read<'a> for Value<'a> {
    fn read(value: Value<'a>) -> Option<Self> {
        Some(value)
    }
}

impl Class {
    /// The event type of a class.
    pub const fn new(class: u128, ty: u8) -> Self {
        Self(Event::of(class, ty))
    }

    /// The hook identifier.
    pub const fn hook(self) -> Option<u16> {
        self.0.hook()
    }

    /// Number of versions.
    pub const fn versions(self) -> usize {
        self.0.schemas().len()
    }
}

/// All versions with the places of fields. The first `plain` fields are plain values.
pub const fn versions<const N: usize, const V: usize>(class: Class, names: &[&str], plain: usize) -> [Version<N>; V] {
    let schemas = class.0.schemas();
    let none = Place { position: u16::MAX, offset: [u16::MAX; 2], size: [0; 2] };
    let mut all = [Version { schema: &schemas[0], fields: &[], minimum: [0; 2], places: [none; N] }; V];
    let mut number = 0;
    while number < V {
        let version = &mut all[number];
        version.schema = &schemas[number];
        version.fields = version.schema.fields_of_table();
        place(version, names);
        let mut getter = 0;
        while getter < plain {
            version.minimum = last(version.minimum, version.places[getter]);
            getter += 1;
        }
        number += 1;
    }
    all
}

/// Finds the places of fields outside structures.
const fn place<const N: usize>(version: &mut Version<N>, names: &[&str]) {
    let (mut position, mut offset) = (0, [Some(0), Some(0)]);
    while position < version.fields.len() {
        let field = &version.fields[position];
        let size = [field.fixed_size(PointerSize::Bits32), field.fixed_size(PointerSize::Bits64)];
        let mut place = Place { position: position as u16, offset: [u16::MAX; 2], size: [0; 2] };
        let mut side = 0;
        while side < 2 {
            offset[side] = match (offset[side], size[side]) {
                (Some(start), Some(size)) => {
                    (place.offset[side], place.size[side]) = (start as u16, size as u16);
                    Some(start + size)
                }
                _ => None,
            };
            side += 1;
        }
        let mut getter = 0;
        while getter < N {
            if is_same(names[getter], field.name) {
                version.places[getter] = place;
            }
            getter += 1;
        }
        position = after(version.fields, position);
    }
}

/// The position after a field and its members.
const fn after(fields: &[Field<'_>], field: usize) -> usize {
    let (mut position, mut left) = (field, 1);
    while left > 0 && position < fields.len() {
        left += fields[position].members.count as usize;
        (position, left) = (position + 1, left - 1);
    }
    position
}

/// The end of a place if it is later.
const fn last(end: [u16; 2], place: Place) -> [u16; 2] {
    let mut ends = end;
    let mut side = 0;
    while side < 2 {
        assert!(place.offset[side] != u16::MAX, "a plain value is at a fixed place in all versions");
        let own = place.offset[side] + place.size[side];
        if own > ends[side] {
            ends[side] = own;
        }
        side += 1;
    }
    ends
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
