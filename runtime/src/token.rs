//! Tokens, which denote members independent of the layout. One is generated for each member of a structure in any layout.

use crate::meta::{Layout, Member, Members};
use crate::value::Value;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

/// A member of the structure `S`, independent of the layout. Its value has the type `K`: a [`Value`], or a nested structure if
/// `K` is [`Nested`].
pub struct Token<S, K = Any> {
    index: u16,
    of: PhantomData<fn() -> (S, K)>,
}

/// A structure that has tokens.
pub trait Tokens: 'static {
    /// The members of the structure in all its layouts.
    const MEMBERS: &'static Members;
}

/// A layout of the structure `S`, which accepts its tokens.
pub struct LayoutOf<S> {
    layout: &'static Layout,
    of: PhantomData<fn() -> S>,
}

/// Type of a token's value.
pub trait Kind {
    /// The resulting type.
    type Value<'a>;
    /// The structure that the member must be, if it must be one.
    #[doc(hidden)]
    const STRUCTURE: Option<&'static Members> = None;

    /// Converts a value; `None` if the member has another type in this layout.
    fn of(value: Value<'_>) -> Option<Self::Value<'_>>;
}

/// A value of any type.
#[derive(Debug)]
pub enum Any {}

/// The structure `T`. If a layout has another type at this member, it does not have the member; another token, with a name that
/// ends in `_VALUE`, then gives the value of any type.
#[derive(Debug)]
pub enum Nested<T> {
    #[doc(hidden)]
    Never(core::convert::Infallible, PhantomData<T>),
}

impl<S: Tokens, K> Token<S, K> {
    /// The token of the member `S::MEMBERS.names[index]`.
    pub const fn new(index: u16) -> Self {
        Self { index, of: PhantomData }
    }

    /// Microsoft's name of the member.
    pub fn name(&self) -> &'static str {
        S::MEMBERS.names.get(usize::from(self.index)).copied().unwrap_or_default()
    }
}

impl<S> LayoutOf<S> {
    /// A layout that is known to be one of `S`. With the layout of another structure, no member is found.
    #[doc(hidden)]
    pub const fn known(layout: &'static Layout) -> Self {
        Self { layout, of: PhantomData }
    }

    /// The layout without its structure type.
    pub const fn layout(self) -> &'static Layout {
        self.layout
    }
}

impl<S: Tokens> LayoutOf<S> {
    /// The member of a token; `None` if this layout lacks it.
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
    /// The same layout as a layout of `S`; `None` if it is a layout of another structure.
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

/// Defines the tokens of a structure: the [`Members`] in all its layouts, and a module with one constant per member: `NAME
/// CONSTANT, "WHERE", "DESCRIPTION";`, where the description can be omitted. If the member is a structure with tokens, `:
/// STRUCTURE` follows the constant. If some layouts have another type at this member, `or CONSTANT, "WHERE"` before the description
/// names the token for a value of any type.
///
/// ```
/// use etw_layouts_runtime::tokens;
///
/// tokens! {
///     LINK {
///         next NEXT, "all versions", "The next link.";
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
        $name:ident $constant:ident $(: $nested:ident)?, $doc:literal $(or $value:ident, $value_doc:literal)? $(, $text:literal)?;
    )* }) => {
        #[doc(inline)]
        #[allow(non_upper_case_globals, unused_imports)]
        pub use $structure::All as $structure;

        #[doc = $crate::core::concat!("Tokens for the members of `", $crate::core::stringify!($structure), "`.")]
        #[allow(non_snake_case)]
        pub mod $structure {
            #[doc = $crate::core::concat!("The members of `", $crate::core::stringify!($structure), "` in any layout.")]
            // No token has this spelling.
            #[allow(non_upper_case_globals)]
            pub static All: $crate::meta::Members = $crate::generated::members(
                $crate::core::stringify!($structure),
                &[$($crate::plain($crate::core::stringify!($name))),*],
            );

            #[doc = $crate::core::concat!("`", $crate::core::stringify!($structure), "`, the type argument of views and layouts with these tokens.")]
            #[derive(Debug)]
            pub enum Type {}

            impl $crate::token::Tokens for Type {
                const MEMBERS: &'static $crate::meta::Members = &All;
            }

            /// Numbers the members at compile time.
            #[doc(hidden)]
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            pub enum Index { $($name),* }

            $(
                #[doc = $crate::core::concat!("`", $crate::core::stringify!($name), "`, in ", $doc, "." $(, " ", $text)?)]
                pub const $constant: $crate::Token<Type $(, $crate::token::Nested<super::$nested::Type>)?> =
                    $crate::Token::new(Index::$name as u16);
                $(
                    #[doc = $crate::core::concat!("`", $crate::core::stringify!($name), "`, of any type, in ", $value_doc, ".")]
                    pub const $value: $crate::Token<Type> = $crate::Token::new(Index::$name as u16);
                )?
            )*
        }
    };
}
