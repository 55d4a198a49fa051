//! Functions for generated code and macros only. Metadata types have no other constructors, so that fields can be added to them.

use crate::meta::{
    Arch, Axis, Build, Change, Image, Kernel, Layout, Member, Members, Pdb, Registry, Seen, Structure, Update, Values,
};
use crate::meta::{Witness, WitnessKind};
use core::marker::PhantomData;
use uuid::Uuid;

/// Version of the generated code, increased when the functions below change.
pub const VERSION: u32 = 2;

/// Rejects code of another generator version.
#[track_caller]
pub const fn version(generated: u32) {
    assert!(generated == VERSION, "code generated for another version of etw-layouts-runtime: generate it again");
}

macro_rules! constructors {
    ($($function:ident: $ty:ident { $($field:ident: $field_ty:ty),* })*) => { $(
        /// Creates a value from all its fields.
        #[allow(clippy::too_many_arguments)]
        pub const fn $function($($field: $field_ty),*) -> $ty {
            $ty { $($field),* }
        }
    )* };
}

constructors! {
    axis: Axis { kernels: &'static [Kernel], updates: &'static [Update<'static>] }
    kernel: Kernel { build: Build, label: &'static str, architectures: &'static [Arch], same: &'static [Build] }
    registry: Registry {
        kernels: &'static [Seen], pdbs: &'static [u32], images: &'static [u32], witnesses: &'static [Witness]
    }
    seen: Seen {
        build: Build, arch: Arch, pdb: Option<Pdb>, image: Option<Image>, globals: &'static [(&'static str, u64)],
        witness: u32
    }
    values: Values { name: &'static str, flags: bool, signed: bool, constants: &'static [(&'static str, i64)] }
    witness: Witness { name: &'static str, kind: WitnessKind }
}

/// A layout of the structure with these members.
pub const fn layout(
    of: &'static Members,
    size: usize,
    align: usize,
    members: &'static [Member],
    places: &'static [u16],
) -> Layout {
    Layout { name: of.name, size, align, members, of, places }
}

/// The members of a structure in all its layouts. Tokens and layouts number them with 16 bits.
#[track_caller]
pub const fn members(name: &'static str, names: &'static [&'static str]) -> Members {
    assert!(names.len() < 1 << 16, "more than 65535 members in all layouts: split the structure");
    Members { name, names }
}

/// An update of the axis.
pub const fn update<'a>(name: &'a str, kernels: &'a [Build], without: &'a [[u32; 3]], architectures: &'a [Arch]) -> Update<'a> {
    Update { name, kernels, without, architectures }
}

/// A known symbol file.
pub const fn pdb(guid: u128, age: u32) -> Option<Pdb> {
    Some(Pdb { guid: Uuid::from_u128(guid), age })
}

/// A structure with all its layouts.
pub const fn structure<S>(
    name: &'static str,
    axis: &'static Axis,
    registry: &'static Registry,
    held: &'static [u64],
    changes: &'static [Change],
) -> Structure<S> {
    Structure { name, axis, registry, held, changes, of: PhantomData }
}
