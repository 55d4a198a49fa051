//! The parts of each type, in the order in which they are stored. A part that is missing here does not compile.

use super::bytes::{Reader, Stored, Writer};
use crate::axis::{Arch, Axis, Build, PerTarget, Release, Revision, SharedRelease, Target, Unimported, Update};
use crate::ctype::{CType, Length};
use crate::event::{self, Class, Event, EventType, InType, OutType, Party, Provider, ProviderEvent, Size, Versions};
use crate::layouts::{self, Bits, Enumeration, Extent, Field, Form, Info, Layout, Type};
use crate::registry::{ExaminedBuild, FactsFile, FactsKind, Image, Pdb};
use crate::source::At;
use crate::spec::{
    self, Body, Constant, Definition, Erratum, ErratumKind, ErratumValue, Global, Kind, Member, Piece, Piecewise, Provenance,
    Scalar, Shape, Unknown, Values, ValuesKind,
};
use etw_layouts_runtime::Uuid;

/// Structures with their members.
macro_rules! structures {
    ($($ty:ty { $($member:ident),* $(,)? })*) => {$(
        impl Stored for $ty {
            fn write(&self, out: &mut Writer) {
                let Self { $($member),* } = self;
                $($member.write(out);)*
            }

            fn read(from: &mut Reader<'_>) -> Option<Self> {
                Some(Self { $($member: Stored::read(from)?),* })
            }
        }
    )*};
}

/// Enumerations with the number of each variant, and its members: each with a name, after its index if it has no name.
macro_rules! enumerations {
    ($($ty:ty { $($number:literal $variant:ident { $($key:tt $name:ident),* })* })*) => {$(
        impl Stored for $ty {
            fn write(&self, out: &mut Writer) {
                match self {
                    $(Self::$variant { $($key: $name),* } => {
                        out.number($number);
                        $($name.write(out);)*
                    })*
                }
            }

            fn read(from: &mut Reader<'_>) -> Option<Self> {
                Some(match from.number()? {
                    $($number => Self::$variant { $($key: Stored::read(from)?),* },)*
                    _ => return None,
                })
            }
        }
    )*};
}

structures! {
    Axis {
        releases, revisions, targets, ranges, documented, kbs, updates, unimported, architectures, documented_range, comments,
        is_standard,
    }
    Release { labels, name, unverifiable, architectures }
    Revision { build, service_pack, module, release, architectures, shared, of_update, added, span }
    Target { revision, arch }
    Update { name, revisions, without, architectures, doc, span }
    Unimported { build, labels, name, module, shared }
    SharedRelease { build, labels, name }
    Build { number, revision }
    Scalar { size, signed, c, span }
    Definition { name, scope, source, unverifiable, feature, doc, errata, body, comments, end }
    spec::Aggregate { kind, size, align, pack, members }
    Member {
        name, scope, shape, bits, mask, offset, align, values, leads_to, source, unknown, doc, errata, comments, span,
    }
    Global { name, scope, ty, source, doc }
    Values { kind, ty, constants }
    Constant { name, value, scope, guid, source, doc, errata, comments }
    Erratum { what, scope, checked, document, actual, evidence, note, span }
    Class { name, group, guid, source, doc, events }
    Event { types, versions, by, about, unsettled, doc, fields, errata, span }
    EventType { name, number, versions, group }
    Party { process, thread }
    Provider { name, guid, source, doc, events }
    ProviderEvent { ids, versions, by, about }
    Versions { first, last }
    event::Field {
        name, ty, count, length, out, values, versions, pointer, optional, unsettled, doc, fields,
    }
    event::Erratum { field, source, versions, states, actual, doc, span }
    Layout { name, targets, form }
    layouts::Aggregate { kind, extent, pack, align, fields }
    Extent { size, align, required }
    Field { name, offset, size, ty, ctype, bits, align, values, info }
    Bits { position, width }
    Info { doc, scope, source, documented, covered, unknown, leads_to, errata, span }
    Enumeration { size, signed, c, constants }
    ExaminedBuild { build, arch, pdb, image, globals, facts_file }
    Pdb { name, guid, age }
    Image { name, time_stamp, size }
    FactsFile { name, kind, holds, shows }
}

enumerations! {
    Arch { 0 X86 {} 1 X64 {} 2 Arm64 {} }
    Kind { 0 Struct {} 1 Union {} }
    Provenance { 0 Document {} 1 Symbols {} 2 Inferred {} }
    Unknown { 0 Name {} 1 Type {} 2 NameAndType {} 3 Use {} }
    ValuesKind { 0 Enum {} 1 Flags {} 2 Constants {} }
    Body { 0 Aggregate { 0 aggregate } 1 Values { 0 values } }
    Shape { 0 Type { 0 types } 1 Inline { 0 kind, 1 members } }
    ErratumKind { 0 Offset {} 1 Size {} 2 Type {} 3 Name {} 4 Value {} 5 Mask {} 6 Bits {} 7 In {} 8 Text {} }
    ErratumValue { 0 Number { 0 number } 1 Text { 0 text } }
    spec::Evidence { 0 Symbols {} 1 Abi {} 2 Document {} }
    CType {
        0 Name { name name, volatile volatile }
        1 Pointer { to to, volatile volatile }
        2 Function { returns returns, parameters parameters }
        3 Array { of of, length length }
    }
    Length { 0 Count { 0 count } 1 AnySize {} 2 Flexible {} }
    Size { 0 Number { 0 number } 1 Field { 0 name } 2 Rest {} }
    Form { 0 Aggregate { 0 aggregate } 1 Enumeration { 0 enumeration } }
    Type {
        0 Scalar { size size, signed signed, c c }
        1 Pointer { size size, to to }
        2 Array { of of, count count }
        3 Layout { 0 id }
        4 Inline { 0 aggregate }
        5 Void {}
        6 Function {}
        7 Named { 0 name }
    }
}

impl<T: Stored> Stored for At<T> {
    fn write(&self, out: &mut Writer) {
        let Self { value, span } = self;
        value.write(out);
        span.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { value: T::read(from)?, span: Stored::read(from)? })
    }
}

impl<T: Stored> Stored for Piecewise<T> {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Stored::read(from).map(Self)
    }
}

impl<T: Stored> Stored for Piece<T> {
    fn write(&self, out: &mut Writer) {
        let Self { targets, value, span } = self;
        targets.write(out);
        value.write(out);
        span.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { targets: Stored::read(from)?, value: T::read(from)?, span: Stored::read(from)? })
    }
}

impl<T: Stored> Stored for PerTarget<T> {
    fn write(&self, out: &mut Writer) {
        out.number(self.len() as u64);
        self.values().for_each(|value| value.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Vec::read(from).map(Self::from_iter)
    }
}

impl Stored for &'static InType {
    fn write(&self, out: &mut Writer) {
        self.name.to_owned().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.text().and_then(InType::named)
    }
}

impl Stored for &'static OutType {
    fn write(&self, out: &mut Writer) {
        self.name.to_owned().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.text().and_then(OutType::named)
    }
}

// Its enumeration can get more variants, so the compiler does not find one that is missing here: then nothing is read.
impl Stored for FactsKind {
    fn write(&self, out: &mut Writer) {
        out.number(*self as u64);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let number = from.number()?;
        [Self::Symbols, Self::Converted, Self::Images].into_iter().find(|kind| *kind as u64 == number)
    }
}

impl Stored for Uuid {
    fn write(&self, out: &mut Writer) {
        let (high, low) = self.as_u64_pair();
        (high, low).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (high, low) = Stored::read(from)?;
        Some(Self::from_u64_pair(high, low))
    }
}
