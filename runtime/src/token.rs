//! Tokens: members by what they are, not where they are. Generated, one for each member that a structure has in any layout.

use crate::meta::{Layout, Member, Members};
use crate::value::Value;
use crate::view::View;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

/// A member of the structure `S`, wherever a layout has it. It gives `K`: a [`Value`], or a structure of its own if `K` is [`Nested`].
pub struct Token<S, K = Any> {
    index: u16,
    of: PhantomData<fn() -> (S, K)>,
}

/// A structure that has tokens.
pub trait Tokens: 'static {
    /// The members that it has in any layout.
    const MEMBERS: &'static Members;
}

/// A layout of the structure `S`: what its tokens find members in.
pub struct LayoutOf<S> {
    layout: &'static Layout,
    of: PhantomData<fn() -> S>,
}

/// What a token gives.
pub trait Kind {
    /// What it gives.
    type Value<'a>;

    /// A value as that; `None` if it is something else in this layout.
    fn of(value: Value<'_>) -> Option<Self::Value<'_>>;
}

/// Whatever the layout has there.
#[derive(Debug)]
pub enum Any {}

/// The structure `T`. Layouts that have something else in its place have no such member; where there are such layouts, another token, whose name
/// ends in `_VALUE`, gives what is there.
#[derive(Debug)]
pub enum Nested<T> {
    #[doc(hidden)]
    Never(core::convert::Infallible, PhantomData<T>),
}

impl<S: Tokens, K> Token<S, K> {
    /// The member that is `S::MEMBERS.names[index]`.
    pub const fn new(index: u16) -> Self {
        Self { index, of: PhantomData }
    }

    /// Microsoft's name of the member.
    pub fn name(&self) -> &'static str {
        S::MEMBERS.names.get(usize::from(self.index)).copied().unwrap_or_default()
    }
}

impl<S> LayoutOf<S> {
    /// A layout that is known to be one of `S`; of another structure's layout it finds no member.
    #[doc(hidden)]
    pub const fn known(layout: &'static Layout) -> Self {
        Self { layout, of: PhantomData }
    }

    /// The layout itself, of any structure.
    pub const fn layout(self) -> &'static Layout {
        self.layout
    }
}

impl<S: Tokens> LayoutOf<S> {
    /// The member of a token; `None` if this layout does not have it.
    #[inline]
    pub fn find<K>(self, token: Token<S, K>) -> Option<&'static Member> {
        if !core::ptr::eq(self.layout.of, S::MEMBERS) {
            return None;
        }
        let place = *self.layout.places.get(usize::from(token.index))?;
        self.layout.members.get(usize::from(place).wrapping_sub(1))
    }
}

impl Layout {
    /// The same as a layout of `S`; `None` if it is one of another structure.
    pub fn of<S: Tokens>(&'static self) -> Option<LayoutOf<S>> {
        core::ptr::eq(self.of, S::MEMBERS).then_some(LayoutOf::known(self))
    }
}

impl From<&'static Layout> for LayoutOf<()> {
    fn from(layout: &'static Layout) -> Self {
        Self::known(layout)
    }
}

impl<S> Deref for LayoutOf<S> {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        self.layout
    }
}

impl Kind for Any {
    type Value<'a> = Value<'a>;

    #[inline]
    fn of(value: Value<'_>) -> Option<Value<'_>> {
        Some(value)
    }
}

impl<T: Tokens> Kind for Nested<T> {
    type Value<'a> = View<'a, T>;

    #[inline]
    fn of(value: Value<'_>) -> Option<View<'_, T>> {
        value.view()?.of()
    }
}

impl<S, K> Clone for Token<S, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, K> Copy for Token<S, K> {}

impl<S: Tokens, K> fmt::Debug for Token<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", S::MEMBERS.name, self.name())
    }
}

impl<S> Clone for LayoutOf<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for LayoutOf<S> {}

impl<S> fmt::Debug for LayoutOf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.fmt(f)
    }
}

/// Defines the tokens of a structure: the [`Members`] that it has in any layout, and a module of constants, one a member:
/// `NAME CONSTANT, "WHERE";`, with `: STRUCTURE` behind the constant if the member is a structure that has tokens. Where some layouts have
/// something else in its place, `or CONSTANT, "WHERE"` names the token that gives whatever is there.
///
/// ```
/// use etw_layouts_runtime::tokens;
///
/// tokens! {
///     LINK {
///         next NEXT, "all versions";
///     }
/// }
///
/// tokens! {
///     REQUESTS {
///         count COUNT, "all versions";
///         first FIRST: LINK, "version 1" or FIRST_VALUE, "all versions";
///     }
/// }
///
/// fn main() {
///     assert_eq!(REQUESTS::COUNT.name(), "count");
///     assert_eq!(REQUESTS.names, ["count", "first"]);
/// }
/// ```
#[macro_export]
macro_rules! tokens {
    ($structure:ident { $(
        $name:ident $constant:ident $(: $nested:ident)?, $doc:literal $(or $value:ident, $value_doc:literal)?;
    )* }) => {
        #[doc(inline)]
        #[allow(non_upper_case_globals, unused_imports)]
        pub use $structure::All as $structure;

        #[doc = $crate::core::concat!("Tokens for the members of `", $crate::core::stringify!($structure), "`.")]
        #[allow(non_snake_case)]
        pub mod $structure {
            #[doc = $crate::core::concat!("The members of `", $crate::core::stringify!($structure), "` in any layout.")]
            // Spelled as no token is.
            #[allow(non_upper_case_globals)]
            pub static All: $crate::meta::Members = $crate::generated::members(
                $crate::core::stringify!($structure),
                &[$($crate::plain($crate::core::stringify!($name))),*],
            );

            #[doc = $crate::core::concat!("`", $crate::core::stringify!($structure), "`, for views and layouts whose tokens these are.")]
            #[derive(Debug)]
            pub enum Type {}

            impl $crate::token::Tokens for Type {
                const MEMBERS: &'static $crate::meta::Members = &All;
            }

            /// The compiler numbers the members.
            #[doc(hidden)]
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            pub enum Index { $($name),* }

            $(
                #[doc = $crate::core::concat!("`", $crate::core::stringify!($name), "`, in ", $doc, ".")]
                pub const $constant: $crate::Token<Type $(, $crate::token::Nested<super::$nested::Type>)?> =
                    $crate::Token::new(Index::$name as u16);
                $(
                    #[doc = $crate::core::concat!("`", $crate::core::stringify!($name), "`, whatever it is, in ", $value_doc, ".")]
                    pub const $value: $crate::Token<Type> = $crate::Token::new(Index::$name as u16);
                )?
            )*
        }
    };
}
