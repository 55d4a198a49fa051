//! Tokens, which denote members independent of the layout. One is generated for each member of a structure in any layout.

use crate::packed::{Layout, Located, Member};
use crate::value::Value;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, Range};

/// A member of the structure `S`, independent of the layout. Its value has the type `K`: a [`Value`], or a nested structure if
/// `K` is [`Nested`]. Layouts find it by its name.
pub struct Token<S, K = Any> {
    name: &'static str,
    of: PhantomData<fn() -> (S, K)>,
}

/// A structure that has tokens.
pub trait Tokens: 'static {
    /// Microsoft's name of the structure.
    const NAME: &'static str;
}

/// A layout of the structure `S`, which accepts its tokens.
pub struct LayoutOf<'a, S = ()> {
    layout: Layout<'a>,
    of: PhantomData<fn() -> S>,
}

/// The member of a token in a layout, which [`View::read`](crate::View::read) reads without a search.
pub struct MemberOf<'a, S, K = Any> {
    pub(crate) layout: Layout<'a>,
    pub(crate) found: Located<'a>,
    of: PhantomData<fn() -> (S, K)>,
}

/// Type of a token's value.
pub trait Kind {
    /// The resulting type.
    type Value<'a>;
    /// The structure that the member must be, if it must be one.
    #[doc(hidden)]
    const STRUCTURE: Option<&'static str> = None;

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

impl<S, K> Token<S, K> {
    /// The token of a member by its name.
    pub const fn new(name: &'static str) -> Self {
        Self { name, of: PhantomData }
    }

    /// Microsoft's name of the member.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<'a, S> LayoutOf<'a, S> {
    /// A layout that is known to be one of `S`.
    pub(crate) const fn known(layout: Layout<'a>) -> Self {
        Self { layout, of: PhantomData }
    }

    /// The layout without its structure type.
    pub const fn layout(self) -> Layout<'a> {
        self.layout
    }
}

impl<'a, S: Tokens> LayoutOf<'a, S> {
    /// The member of a token, of any type; `None` if this layout lacks it. [`Layout::resolve`] also checks the type.
    #[inline]
    pub fn find<K>(self, token: Token<S, K>) -> Option<Member<'a>> {
        self.layout.member(token.name)
    }

    /// The member of a token, for reading it in many structures; `None` if this layout lacks it.
    pub fn resolved<K>(self, token: Token<S, K>) -> Option<MemberOf<'a, S, K>> {
        let found = self.layout.locate(token.name)?;
        Some(MemberOf { layout: self.layout, found, of: PhantomData })
    }
}

impl<'a, S: Tokens, K> MemberOf<'a, S, K> {
    /// Its bytes, from the start of the structure; those of the whole unit for a bit field.
    pub fn range(&self) -> Range<usize> {
        self.found.range()
    }
}

impl<'a> Layout<'a> {
    /// The same layout as a layout of `S`; `None` if it is a layout of another structure.
    pub fn of<S: Tokens>(self) -> Option<LayoutOf<'a, S>> {
        (self.name == S::NAME).then_some(LayoutOf::known(self))
    }
}

impl<'a> From<Layout<'a>> for LayoutOf<'a> {
    fn from(layout: Layout<'a>) -> Self {
        Self::known(layout)
    }
}

impl<'a, S> Deref for LayoutOf<'a, S> {
    type Target = Layout<'a>;

    fn deref(&self) -> &Layout<'a> {
        &self.layout
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
        write!(f, "{}.{}", S::NAME, self.name)
    }
}

impl<S, K> Clone for MemberOf<'_, S, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, K> Copy for MemberOf<'_, S, K> {}

impl<S: Tokens, K> fmt::Debug for MemberOf<'_, S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} at {:#x}", S::NAME, self.found.name(), self.found.offset)
    }
}

impl<S> Clone for LayoutOf<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for LayoutOf<'_, S> {}

impl<S> fmt::Debug for LayoutOf<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.fmt(f)
    }
}

/// Defines the tokens of a structure: a module with one constant per member: `NAME CONSTANT, "WHERE", "DESCRIPTION";`, where the
/// description can be omitted. If the member is a structure with tokens, `: STRUCTURE` follows the constant. If some layouts have
/// another type at this member, `or CONSTANT, "WHERE"` before the description names the token for a value of any type.
///
/// ```
/// use etw_layouts_runtime::{token::Tokens, tokens};
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
///     assert_eq!((REQUESTS::Type::NAME, REQUESTS::COUNT.name()), ("REQUESTS", "count"));
/// }
/// ```
#[macro_export]
macro_rules! tokens {
    ($structure:ident { $(
        $name:ident $constant:ident $(: $nested:ident)?, $doc:literal $(or $value:ident, $value_doc:literal)? $(, $text:literal)?;
    )* }) => {
        #[doc = $crate::core::concat!("Tokens for the members of `", $crate::core::stringify!($structure), "`.")]
        #[allow(non_snake_case)]
        pub mod $structure {
            #[doc = $crate::core::concat!("`", $crate::core::stringify!($structure), "`, the type argument of views and layouts with these tokens.")]
            #[derive(Debug)]
            pub enum Type {}

            impl $crate::token::Tokens for Type {
                const NAME: &'static str = $crate::core::stringify!($structure);
            }

            $(
                #[doc = $crate::core::concat!("`", $crate::core::stringify!($name), "`, in ", $doc, "." $(, " ", $text)?)]
                pub const $constant: $crate::Token<Type $(, $crate::token::Nested<super::$nested::Type>)?> =
                    $crate::Token::new($crate::plain($crate::core::stringify!($name)));
                $(
                    #[doc = $crate::core::concat!("`", $crate::core::stringify!($name), "`, of any type, in ", $value_doc, ".")]
                    pub const $value: $crate::Token<Type> = $crate::Token::new($crate::plain($crate::core::stringify!($name)));
                )?
            )*
        }
    };
}
