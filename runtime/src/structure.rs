//! `structure!`, which defines a structure in all its layouts.

/// Defines all layouts of a structure, for generated code.
///
/// Each member is stated once: its name, its description, and its variants, each with a letter, type, type in C and evidence. If functions reach
/// it, the name of the function that replaces it follows, with its bits. A layout is a list of offsets, each with a member and the letter of its
/// variant. A field that is no member states its type, and in braces the members that functions of the layout reach. A part of a layout
/// states its name for `Debug`, or `_` if its members belong to the layout.
///
/// The first token is `$`, which macros that this macro defines contain.
#[doc(hidden)]
#[macro_export]
macro_rules! structure {
    (
        $d:tt $structure:ident: $doc:literal {
            $($name:ident $text:literal: $(
                $variant:ident $ty:ty = $c:literal, $known:literal
                $(, $put:ident $([$first:literal $(to $last:literal)? $(in $unit:ty)?])?)?
            )|+;)*
        }
        $(pub $kind:tt $type:ident $(= $shown:tt)?: $what:literal, $size:literal, $align:literal $rows:tt)*
    ) => {
        #[allow(unused_macros)]
        macro_rules! member_type {
            $($(($name $variant) => { $ty };)+)*
            () => {};
        }

        #[allow(unused_macros)]
        macro_rules! member_doc {
            $($(($name $variant) => { $crate::core::concat!("`", $c, "`, ", $known, ". ", $text) };)+)*
            () => {};
        }

        // The row in the table of members, after the offset.
        #[cfg(doc)]
        macro_rules! member_row {
            $($(($name $variant) => {
                $crate::core::concat!(
                    $($(", bits ", stringify!($first), $(" to ", stringify!($last),)?)?)?
                    " | `", stringify!($name), "` | `", $c, "` |",
                )
            };)+)*
            () => {};
        }

        #[allow(unused_macros)]
        macro_rules! member_functions {
            $($($(
                ($name $variant $d at:literal) => {
                    #[doc = $crate::core::concat!(
                        "`", stringify!($d at), "`: `", $c, "`, ",
                        $("bits `", stringify!($first), $(" to ", stringify!($last),)? "`, ",)?
                        $known, ". ", $text,
                    )]
                    #[inline]
                    pub fn $name(&self) -> $ty {
                        $crate::at::<$ty>($d at)$(.bit($first)$(.to($last))?$(.within::<$unit>())?)?.get(self)
                    }

                    #[doc = "Replaces the value."]
                    #[inline]
                    pub fn $put(&mut self, value: $ty) {
                        $crate::at::<$ty>($d at)$(.bit($first)$(.to($last))?$(.within::<$unit>())?)?.set(self, value)
                    }
                };
            )?)+)*
            () => {};
        }

        $($crate::structure! { @type $structure $doc; $kind $type $(= $shown)?: $what, $size, $align $rows })*
    };
    (
        @type $structure:ident $doc:literal;
        $kind:tt $type:ident: $since:literal, $size:literal, $align:literal $rows:tt
    ) => {
        $crate::structure! {
            @described $structure;
            #[doc = $crate::core::concat!(
                "`", stringify!($structure), "` ", $since, ": ", stringify!($size), " bytes, aligned to ", stringify!($align), ".\n\n", $doc,
            )]
            $kind $type: $size, $align $rows
        }
    };
    (
        @type $structure:ident $doc:literal;
        $kind:tt $type:ident = _: $what:literal, $size:literal, $align:literal {
            $($at:literal $field:ident $($variant:ident)? $(: $own:ty)?),* $(,)?
        }
    ) => {
        $crate::layout! {
            @plain
            #[doc = $what]
            pub $kind $type: $size, $align { $(
                $at $field: $(member_type!($field $variant))? $($own)?,
                $(member_doc!($field $variant))? $($crate::structure!(@own $own))?;
            )* }
        }

        impl $crate::core::fmt::Debug for $type {
            fn fmt(&self, f: &mut $crate::core::fmt::Formatter<'_>) -> $crate::core::fmt::Result {
                f.debug_struct(stringify!($type))$(
                    .field(stringify!($field), &$crate::at::<$(member_type!($field $variant))? $($own)?>($at).get(self))
                )*.finish()
            }
        }
    };
    (
        @type $structure:ident $doc:literal;
        $kind:tt $type:ident = $shown:ident: $what:literal, $size:literal, $align:literal $rows:tt
    ) => {
        $crate::structure! {
            @described $shown;
            #[doc = $what]
            $kind $type: $size, $align $rows
        }
    };
    (
        @described $shown:ident;
        #[doc = $what:expr]
        $kind:tt $type:ident: $size:literal, $align:literal {
            $(
                $at:literal $field:ident $($variant:ident)?
                $(: $own:ty $({ $($place:literal $get:ident $letter:ident),* $(,)? })?)?
            ),* $(,)?
        }
    ) => {
        $crate::layout! {
            @plain
            #[doc = $what]
            // `doc`, because other compilations do not need the table.
            #[cfg_attr(doc, doc = "\n| offset | member | type |\n|---|---|---|")]
            $(
                $(#[cfg_attr(doc, doc = concat!("| `", stringify!($at), "`", member_row!($field $variant)))])?
                $($($(#[cfg_attr(doc, doc = concat!("| `", stringify!($place), "`", member_row!($get $letter)))])*)?)?
            )*
            pub $kind $type: $size, $align { $(
                $at $field: $(member_type!($field $variant))? $($own)?,
                $(member_doc!($field $variant))? $($crate::structure!(@own $own))?;
            )* }
        }

        impl $crate::core::fmt::Debug for $type {
            fn fmt(&self, f: &mut $crate::core::fmt::Formatter<'_>) -> $crate::core::fmt::Result {
                f.debug_struct(stringify!($shown))$(
                    $(.field($crate::shown(stringify!($field), stringify!($variant)), &self.$field))?
                    $($($(.field($crate::plain(stringify!($get)), &self.$get()))*)?)?
                )*.finish()
            }
        }

        impl $type {
            $($($($(member_functions!($get $letter $place);)*)?)?)*
        }
    };
    (@own $own:ty) => {
        "padding, or a part whose members have functions."
    };
}
