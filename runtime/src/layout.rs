//! `layout!`, which defines a type by its list of members. The same list is checked, so nothing can be omitted.

/// Defines a structure or union by its members, and checks at compile time that its size, alignment and offsets are as stated,
/// that every member is plain old data, and that every byte belongs to a member. Therefore, the type is
/// [`Pod`](crate::bytemuck::Pod), its default is all zeros, and two values are equal if their bytes are equal.
///
/// The name is followed by the name for `Debug`, size and alignment. A type without the name for `Debug` represents an unnamed
/// structure or union of C; its members belong to the enclosing type. A member is
/// ```text
/// OFFSET NAME: TYPE = "TYPE IN C", "DESCRIPTION";
/// ```
///
/// If the type has no name in C, `= "TYPE IN C"` is omitted, and braces instead of the semicolon list nested members. A nested
/// member is
///
/// ```text
/// OFFSET [FIRST to LAST in UNIT] NAME SET_NAME: TYPE = "TYPE IN C", "DESCRIPTION";
/// ```
///
/// Its offset is from the start of the whole type. Brackets denote a bit field; `in UNIT` is the integer type that contains the
/// bits, if it is not `TYPE`. The whole type gets functions with these names that read and replace the nested member. Its
/// documentation contains a table of all members.
///
/// ```
/// use etw_layouts_runtime::{Ptr64, bytemuck::Zeroable, layout};
///
/// layout! {
///     /// A driver's list of requests, on x64.
///     pub struct REQUESTS_X64: REQUESTS, 0x10, 8 {
///         0x00 first: Ptr64 = "REQUEST *", "The first of them.";
///         0x08 count: u32 = "ULONG", "How many there are.";
///         0x0C state: u32, "Bit fields." {
///             0x0C [0] closed set_closed: u32 = "ULONG", "No more are taken.";
///             0x0C [16 to 31] processor set_processor: u32 = "ULONG", "Who works on them.";
///         }
///     }
/// }
///
/// let mut requests = REQUESTS_X64::zeroed();
/// requests.set_processor(5);
/// assert_eq!((requests.state, requests.closed()), (0x5_0000, 0));
/// ```
#[macro_export]
macro_rules! layout {
    (
        $(#[doc = $what:expr])*
        pub $kind:tt $name:ident: $shown:ident, $size:literal, $align:literal {
            $(
                $at:literal $field:ident: $ty:ty $(= $c:literal)?, $doc:literal $(;)?
                $({ $(
                    $place:literal $([$first:literal $(to $last:literal)? $(in $unit:ty)?])? $get:ident $put:ident:
                        $part:ty = $part_c:literal, $part_doc:literal;
                )* })?
            )*
        }
    ) => {
        $crate::layout! {
            @plain
            $(#[doc = $what])*
            // `doc`, because other compilations do not need the table.
            #[cfg_attr(doc, doc = "\n| offset | member | type |\n|---|---|---|")]
            $(
                $(#[cfg_attr(doc, doc = concat!("| `", stringify!($at), "` | `", stringify!($field), "` | `", $c, "` |"))])?
                $($(#[cfg_attr(doc, doc = concat!(
                    "| `", stringify!($place), "`", $(", bits ", stringify!($first), $(" to ", stringify!($last),)?)?
                    " | `", stringify!($get), "` | `", $part_c, "` |",
                ))])*)?
            )*
            pub $kind $name: $size, $align { $($at $field: $ty $(= $c)?, $doc;)* }
        }

        impl $crate::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut $crate::core::fmt::Formatter<'_>) -> $crate::core::fmt::Result {
                f.debug_struct(stringify!($shown))
                    $(
                        $(.field($crate::shown(stringify!($field), $c), &$crate::at::<$ty>($at).get(self)))?
                        $($(.field(
                            $crate::shown(stringify!($get), $part_c),
                            &$crate::at::<$part>($place)$(.bit($first)$(.to($last))?$(.within::<$unit>())?)?.get(self),
                        ))*)?
                    )*
                    .finish()
            }
        }

        impl $name {
            $(
                $($(
                    #[doc = concat!(
                        "`", stringify!($place), "`: `", $part_c, "`, ",
                        $("bits `", stringify!($first), $(" to ", stringify!($last),)? "`, ",)?
                        $part_doc
                    )]
                    #[inline]
                    pub fn $get(&self) -> $part {
                        $crate::at::<$part>($place)$(.bit($first)$(.to($last))?$(.within::<$unit>())?)?.get(self)
                    }

                    #[doc = "Replaces the value."]
                    #[inline]
                    pub fn $put(&mut self, value: $part) {
                        $crate::at::<$part>($place)$(.bit($first)$(.to($last))?$(.within::<$unit>())?)?.set(self, value)
                    }
                )*)?
            )*
        }
    };
    (
        $(#[doc = $what:expr])*
        pub $kind:tt $name:ident: $size:literal, $align:literal {
            $( $at:literal $field:ident: $ty:ty $(= $c:literal)?, $doc:literal; )*
        }
    ) => {
        $crate::layout! {
            @plain
            $(#[doc = $what])*
            pub $kind $name: $size, $align { $($at $field: $ty $(= $c)?, $doc;)* }
        }

        impl $crate::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut $crate::core::fmt::Formatter<'_>) -> $crate::core::fmt::Result {
                f.debug_struct(stringify!($name))$(.field(stringify!($field), &$crate::at::<$ty>($at).get(self)))*.finish()
            }
        }
    };
    (
        @plain
        $(#[$($what:tt)*])*
        pub $kind:tt $name:ident: $size:literal, $align:literal {
            $( $at:literal $field:ident: $ty:ty $(= $c:literal)?, $doc:expr; )*
        }
    ) => {
        $(#[$($what)*])*
        #[repr(C, align($align))]
        pub $kind $name {
            $(
                #[doc = concat!("`", stringify!($at), "`: ", $("`", $c, "`, ",)? $doc)]
                pub $field: $ty,
            )*
        }

        const _: () = $crate::check::plain(
            // Because of the full path, a `stringify!` macro of the caller cannot change the kind.
            $crate::core::stringify!($kind),
            stringify!($name),
            ($crate::core::mem::size_of::<$name>(), $size),
            ($crate::core::mem::align_of::<$name>(), $align),
            &[$($crate::check::Field::of::<$ty>(
                stringify!($field), $crate::core::mem::offset_of!($name, $field), $at,
            )),*],
        );

        impl $crate::core::marker::Copy for $name {}

        impl $crate::core::clone::Clone for $name {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl $crate::core::default::Default for $name {
            fn default() -> Self {
                $crate::bytemuck::Zeroable::zeroed()
            }
        }

        impl $crate::core::cmp::PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                $crate::bytemuck::bytes_of(self) == $crate::bytemuck::bytes_of(other)
            }
        }

        impl $crate::core::cmp::Eq for $name {}

        // SAFETY: zeros are valid for every member: the check above accepts only plain old data.
        unsafe impl $crate::bytemuck::Zeroable for $name {}

        // SAFETY: `repr(C)`, `Copy`, and every member is plain old data, as checked above for the same list that defines the
        // type. The check rejects a structure with a byte outside its members, and a union with a branch that does not fill it.
        unsafe impl $crate::bytemuck::Pod for $name {}
    };
}
