//! Typed events against the same values by name. This module includes the generated files with another definition of their macro, so that each
//! getter of each type is called.

pub use etw_layouts::events::Elements;
pub use etw_layouts_etl::payload::{FileTime, Sid, Text, Uuid, Value};
pub use std::net::{Ipv4Addr, Ipv6Addr};

use crate::real;
use etw_layouts::events::{TypedEvent, all};
use etw_layouts_etl::payload::{Data, Fields, PointerSize, Source};
use etw_layouts_etl::{Event, Schemas};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;

/// An event of a trace, or a payload with its class, type and version.
enum Input<'a> {
    Event(Event<'a>, &'a Schemas),
    Payload(Uuid, u8, u8, Fields<'a>),
}

impl<'a> Input<'a> {
    fn get<T: TypedEvent<'a>>(&self) -> Option<T> {
        match self {
            Self::Event(event, schemas) => event.get(schemas),
            Self::Payload(class, ty, version, fields) if (T::CLASS, T::TYPE) == (*class, *ty) => {
                T::new(fields.payload, *version, fields.pointers)
            }
            Self::Payload(..) => None,
        }
    }
}

/// What was compared.
#[derive(Default)]
struct Compared {
    /// By class: events with a type, values, and getters without a value.
    classes: BTreeMap<String, [u64; 3]>,
    wrong: Vec<String>,
}

impl Compared {
    fn compare<'a>(&mut self, fields: &Fields<'a>, field: &str, value: &(impl Same<'a> + Debug)) {
        let counts = self.classes.entry(fields.schema.provider.to_owned()).or_default();
        let named: Vec<_> = fields.all(field).collect();
        counts[if named.is_empty() { 2 } else { 1 }] += 1;
        if !value.is_same(&named) {
            let fields = &fields.schema;
            let named: Vec<_> = named.iter().map(ToString::to_string).collect();
            self.wrong.push(format!("{fields} version {} {field}: {value:?}, by name {named:?}", fields.version));
        }
    }

    fn show(&self, what: &str) {
        for (class, [events, values, absent]) in &self.classes {
            eprintln!("{what} {class}: {events} events, {values} values, {absent} absent");
        }
        assert!(self.wrong.is_empty(), "{} of {what}, such as {:#?}", self.wrong.len(), &self.wrong[..self.wrong.len().min(8)]);
    }
}

/// The value of a getter, compared with the values by the name of the field.
trait Same<'a> {
    fn is_same(&self, named: &[Value<'a>]) -> bool;
}

macro_rules! same {
    ($($type:ty: $own:ident, $value:ident => $is:expr;)*) => {$(
        impl<'a> Same<'a> for $type {
            fn is_same(&self, named: &[Value<'a>]) -> bool {
                let ($own, [$value]) = (self, named) else { return false };
                $is
            }
        }
    )*};
}

same! {
    u8: own, value => value.number() == Some((*own).into());
    u16: own, value => value.number() == Some((*own).into());
    u32: own, value => value.number().map(|number| number as u32) == Some(*own);
    u64: own, value => value.number() == Some(*own);
    i8: own, value => value.number() == Some((*own as u8).into());
    i16: own, value => value.number() == Some((*own as u16).into());
    i32: own, value => value.number() == Some((*own as u32).into());
    i64: own, value => value.number() == Some(*own as u64);
    bool: own, value => value.number().map(|number| number != 0) == Some(*own);
    FileTime: own, value => value.data() == Data::FileTime(own.0);
    Uuid: own, value => value.data() == Data::Guid(*own);
    Ipv4Addr: own, value => value.data() == Data::Ipv4(*own);
    Ipv6Addr: own, value => value.data() == Data::Ipv6(*own);
    &[u8]: own, value => value.bytes == *own;
    Text<'a>: own, value => value.to_string() == own.to_string() && matches!(value.data(), Data::Text(_));
    Sid<'a>: own, value => value.data() == Data::Sid(*own);
    Value<'a>: own, value => value == own;
}

/// A getter without a value: the payload has none, or it is invalid.
impl<'a, T: Same<'a>> Same<'a> for Option<T> {
    fn is_same(&self, named: &[Value<'a>]) -> bool {
        match (self, named) {
            (Some(value), _) => value.is_same(named),
            (None, []) => true,
            (None, [value]) => matches!(value.data(), Data::Absent | Data::Binary(_)),
            _ => false,
        }
    }
}

impl<'a, T: Same<'a>> Same<'a> for Elements<'a, T>
where
    Self: Iterator<Item = T> + Clone,
{
    fn is_same(&self, named: &[Value<'a>]) -> bool {
        let own: Vec<_> = self.clone().collect();
        // An invalid text ends the iteration.
        let invalid = named.iter().position(|value| matches!(value.data(), Data::Binary(_))).filter(|at| own.len() == *at);
        let named = &named[..invalid.unwrap_or(named.len())];
        own.len() == named.len() && own.iter().zip(named).all(|(own, named)| own.is_same(std::slice::from_ref(named)))
    }
}

macro_rules! events {
    ($(
        $(#[$doc:meta])*
        $first:ident<$a:lifetime>: $class:literal, $first_type:literal $(, $name:ident = $type:literal)*
        { $($plain:ident: $plain_type:ty = $plain_field:literal, $plain_doc:literal;)* }
        { $($other:ident: $other_type:ty = $other_field:literal, $other_doc:literal;)* }
    )*) => {
        /// Compares the values of an event. Returns the number of types of this class that it has.
        pub(super) fn compare(input: &super::Input<'_>, fields: &super::Fields<'_>, compared: &mut super::Compared) -> usize {
            let mut count = 0;
            $({
                fn getters<'a, const TYPE: u8>(
                    typed: &class::$first<'a, TYPE>, fields: &super::Fields<'a>, compared: &mut super::Compared,
                ) {
                    $({
                        let value: $plain_type = typed.$plain();
                        compared.compare(fields, $plain_field, &value);
                    })*
                    $(compared.compare(fields, $other_field, &typed.$other());)*
                    let _ = (typed, fields, compared);
                }
                if let Some(typed) = input.get::<class::$first>() {
                    count += 1;
                    getters(&typed, fields, compared);
                }
                $(if let Some(typed) = input.get::<class::$name>() {
                    count += 1;
                    getters(&typed, fields, compared);
                })*
            })*
            let _ = (input, fields, compared);
            count
        }
    };
}
pub(crate) use events;

macro_rules! classes {
    ($($module:ident)*) => {
        $(#[allow(unused_imports)]
        mod $module {
            use etw_layouts::events::$module as class;
            include!(concat!("../../generated/src/events/typed/", stringify!($module), ".rs"));
        })*

        type Compare = fn(&Input<'_>, &Fields<'_>, &mut Compared) -> usize;
        const CLASSES: &[(&str, Compare)] = &[$((stringify!($module), $module::compare)),*];
    };
}

classes! {
    alpc cc critsectrace debugger diskio eventtraceevent fileio heaptrace image imageid job lbr lost_event metadata mmcsstrace obtrace pagefault
    perfinfo pooltrace powerevents process registry splitio stackwalk sysconfig systemconfig tcpip thread threadpooltrace udpip umsevent
    winsat wnftrace
}

/// Compares an event. Returns whether it has a type.
fn compare(input: &Input<'_>, fields: &Fields<'_>, compared: &mut Compared) -> bool {
    let module = fields.schema.provider.to_ascii_lowercase();
    let mut count = 0;
    for (class, of_class) in CLASSES {
        // Events of one class have no type of another.
        let own = of_class(input, fields, compared);
        assert!(own == 0 || *class == module, "{} has a type of {class}", fields.schema);
        count += own;
    }
    assert!(count <= 1, "{} has {count} types", fields.schema);
    if count == 1 {
        compared.classes.entry(fields.schema.provider.to_owned()).or_default()[0] += 1;
    }
    count == 1
}

/// Payloads of random bytes, for each version of each event type and both sizes of pointers. Small numbers are frequent, so that counts are.
#[test]
fn getters_return_the_values_by_name_in_made_payloads() {
    let mut random = fastrand::Rng::with_seed(38);
    let mut compared = Compared::default();
    let mut untyped = Vec::new();
    for (class, _, ty, schema) in all() {
        let mut has_type = false;
        for round in 0..48 {
            let length = if round % 3 == 0 { random.usize(..64) } else { 4096 };
            let byte = |_| if random.bool() { random.u8(..4) } else { random.u8(..) };
            let payload: Vec<u8> = (0..length).map(byte).collect();
            let pointers = if round % 2 == 0 { PointerSize::Bits32 } else { PointerSize::Bits64 };
            let fields = schema.decode(&payload, pointers);
            has_type |= compare(&Input::Payload(class, ty, schema.version, fields), &fields, &mut compared);
        }
        if !has_type {
            untyped.push(format!("{schema} version {}", schema.version));
        }
    }
    compared.show("made");
    assert!(untyped.is_empty(), "without a type: {untyped:?}");
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../generated/src/events/typed")).expect("the generated files");
    assert_eq!(CLASSES.len() + 1, files.count(), "each class is compared");
}

/// All events of all real traces: those with a schema of the specs have a type, unless their payload is truncated.
#[test]
fn getters_return_the_values_by_name_in_real_traces() {
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from);
    let folders = [folder("ETW_LAYOUTS_ETL"), folder("ETW_LAYOUTS_CASES").map(|cases| cases.join("traces"))];
    let entries = folders.into_iter().flatten().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut traces: Vec<_> = entries
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "etl"))
        .filter_map(|entry| fs::read(entry.path()).ok())
        .collect();
    traces.extend(real::read("microsoft__net.4.5.x86.etl"));
    let mut compared = Compared::default();
    let (mut specified, mut truncated) = (0_u64, BTreeMap::<String, u64>::new());
    for bytes in &traces {
        let trace = real::open(&[("trace", bytes)]);
        for event in trace.events().map(|event| event.expect("an event")) {
            let header = event.header();
            let Some(decoded) = header.decode(event.schemas()).filter(|decoded| decoded.source() == Source::Specs) else {
                continue;
            };
            specified += 1;
            if !compare(&Input::Event(header, event.schemas()), &decoded.fields, &mut compared) {
                *truncated.entry(decoded.to_string()).or_default() += 1;
                assert!(decoded.fields.check().is_err(), "{decoded} has no type");
            }
        }
    }
    eprintln!("{} traces, {specified} events of the specs; truncated, and so without a type: {truncated:?}", traces.len());
    compared.show("real");
}
