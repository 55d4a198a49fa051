//! Tokens: members by what they are, not where they are. Generated, one for each member that a structure has in any layout.

use crate::meta::{Layout, Member, Members};
use crate::value::{Choice, Value};
use core::marker::PhantomData;

/// A member of a structure, wherever a layout has it.
#[derive(Debug)]
pub struct Token<K> {
    members: &'static Members,
    index: u16,
    kind: PhantomData<fn() -> K>,
}

/// What a member is in every layout that has it, and so what a view gives.
pub trait Kind {
    /// What a view gives.
    type Value<'a>;

    /// The value of this kind.
    fn value(value: Value<'_>) -> Self::Value<'_>;
}

/// A kind that is a number, and so can be set.
pub trait Integer: Kind {
    /// What a view takes.
    type Number: Copy;

    /// Whether a number has no more bits.
    fn fits(value: Self::Number, bits: u32) -> bool;

    /// Its bits.
    fn bits(value: Self::Number) -> u64;
}

/// An integer without sign.
#[derive(Debug)]
pub enum Unsigned {}

/// An integer with sign.
#[derive(Debug)]
pub enum Signed {}

/// A pointer: the address, of 4 or 8 bytes.
#[derive(Debug)]
pub enum Address {}

/// One of named values, or flags.
#[derive(Debug)]
pub enum Named {}

/// A structure or union of its own.
#[derive(Debug)]
pub enum Nested {}

/// Anything else: arrays, and what differs between layouts.
#[derive(Debug)]
pub enum Any {}

impl<K> Token<K> {
    /// The member that is `members.names[index]`.
    pub const fn new(members: &'static Members, index: u16) -> Self {
        Self { members, index, kind: PhantomData }
    }

    /// Microsoft's name of the member.
    pub fn name(&self) -> &'static str {
        self.members.names.get(usize::from(self.index)).copied().unwrap_or_default()
    }
}

impl<K> Clone for Token<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Token<K> {}

impl Layout {
    /// The member of a token; `None` if this layout does not have it, or if it is one of another structure.
    #[inline]
    pub fn find<K>(&self, token: Token<K>) -> Option<&'static Member> {
        if !core::ptr::eq(self.of, token.members) {
            return None;
        }
        let place = *self.places.get(usize::from(token.index))?;
        self.members.get(usize::from(place).wrapping_sub(1))
    }
}

impl Kind for Unsigned {
    type Value<'a> = u64;

    #[inline]
    fn value(value: Value<'_>) -> u64 {
        value.unsigned()
    }
}

impl Kind for Signed {
    type Value<'a> = i64;

    #[inline]
    fn value(value: Value<'_>) -> i64 {
        value.signed()
    }
}

impl Kind for Address {
    type Value<'a> = u64;

    #[inline]
    fn value(value: Value<'_>) -> u64 {
        value.unsigned()
    }
}

impl Kind for Named {
    type Value<'a> = Choice;

    #[inline]
    fn value(value: Value<'_>) -> Choice {
        Choice::of(value)
    }
}

impl Kind for Any {
    type Value<'a> = Value<'a>;

    #[inline]
    fn value(value: Value<'_>) -> Value<'_> {
        value
    }
}

macro_rules! integer {
    ($($kind:ident $number:ident)+) => { $(
        impl Integer for $kind {
            type Number = $number;

            fn fits(value: $number, bits: u32) -> bool {
                let unused = 64 - bits.clamp(1, 64);
                value << unused >> unused == value
            }

            fn bits(value: $number) -> u64 {
                value as u64
            }
        }
    )+ };
}

integer!(Unsigned u64 Address u64 Signed i64);

impl Integer for Named {
    type Number = i64;

    /// Flags have no sign, named values may have one.
    fn fits(value: i64, bits: u32) -> bool {
        Signed::fits(value, bits) || Unsigned::fits(value as u64, bits)
    }

    fn bits(value: i64) -> u64 {
        value as u64
    }
}

/// Defines the tokens of a structure: the [`Members`] that it has in any layout, and a module of constants, one a member:
/// `NAME CONSTANT: KIND, "WHERE";`.
///
/// ```
/// use etw_layouts_runtime::tokens;
///
/// tokens! {
///     REQUESTS {
///         count COUNT: Unsigned, "all versions";
///         next NEXT: Address, "version 2";
///     }
/// }
///
/// assert_eq!(REQUESTS::COUNT.name(), "count");
/// assert_eq!(REQUESTS.names, ["count", "next"]);
/// ```
#[macro_export]
macro_rules! tokens {
    ($structure:ident { $($name:ident $constant:ident: $kind:ident, $doc:literal;)* }) => {
        #[doc(inline)]
        #[allow(non_upper_case_globals, unused_imports)]
        pub use $structure::All as $structure;

        #[doc = $crate::core::concat!("Tokens for the members of `", $crate::core::stringify!($structure), "`.")]
        #[allow(non_snake_case)]
        pub mod $structure {
            #[doc = $crate::core::concat!("The members of `", $crate::core::stringify!($structure), "` in any layout.")]
            // Spelled as no token is.
            #[allow(non_upper_case_globals)]
            pub static All: $crate::meta::Members = $crate::meta::Members {
                name: $crate::core::stringify!($structure),
                names: &[$($crate::plain($crate::core::stringify!($name))),*],
            };

            /// The compiler numbers the members.
            #[doc(hidden)]
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            pub enum Index { $($name),* }

            $(
                #[doc = $crate::core::concat!("`", $crate::core::stringify!($name), "`, in ", $doc, ".")]
                pub const $constant: $crate::Token<$crate::token::$kind> =
                    $crate::Token::new(&All, Index::$name as u16);
            )*
        }
    };
}
