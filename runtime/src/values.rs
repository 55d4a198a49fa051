//! `values!`, which defines enumerations and flags as newtypes of integers. They keep unknown values.

/// Defines a newtype of an integer with named values: `value` for an enumeration, `flags` for bits that can be combined, with the
/// functions and operators of [`bitflags`](crate::bitflags). The integer type is followed by Microsoft's name.
///
/// ```
/// use etw_layouts_runtime::values;
///
/// values! {
///     /// What a request may do.
///     pub flags ACCESS: u16 = "ACCESS" {
///         ACCESS_READ = 1, "May read.";
///         ACCESS_WRITE = 2, "May write.";
///     }
/// }
///
/// assert!(ACCESS(3).contains(ACCESS::ACCESS_READ));
/// assert_eq!(format!("{:?}", ACCESS::ACCESS_READ | ACCESS(0x10)), "ACCESS_READ | 0x10");
/// assert_eq!((ACCESS(3) - ACCESS::ACCESS_READ, ACCESS(3) & !ACCESS::ACCESS_WRITE), (ACCESS::ACCESS_WRITE, ACCESS::ACCESS_READ));
/// assert_eq!(ACCESS::from_bits_retain(0x13).iter_names().map(|(name, _)| name).collect::<Vec<_>>(), ["ACCESS_READ", "ACCESS_WRITE"]);
/// ```
#[macro_export]
macro_rules! values {
    (
        $(#[doc = $what:expr])*
        pub $kind:ident $name:ident: $ty:ty = $shown:literal { $($constant:ident = $value:literal, $doc:literal;)* }
    ) => {
        $(#[doc = $what])*
        #[derive(
            $crate::core::marker::Copy,
            $crate::core::clone::Clone,
            $crate::core::default::Default,
            $crate::core::cmp::PartialEq,
            $crate::core::cmp::Eq,
            $crate::core::cmp::PartialOrd,
            $crate::core::cmp::Ord,
            $crate::core::hash::Hash,
        )]
        #[repr(transparent)]
        pub struct $name(pub $ty);

        const _: () = $crate::check::integer::<$ty>();

        // SAFETY: a transparent wrapper of an integer: the check above accepts no other type.
        unsafe impl $crate::bytemuck::Zeroable for $name {}

        // SAFETY: a transparent wrapper of an integer: the check above accepts no other type.
        unsafe impl $crate::bytemuck::Pod for $name {}

        impl $crate::Number for $name {
            const SIGNED: bool = <$ty as $crate::Number>::SIGNED;
        }

        impl $crate::Named for $name {
            const NAME: &'static str = $shown;
            const IS_FLAGS: bool = $crate::values!(@is_flags $kind);
            const CONSTANTS: &'static [(&'static str, i64)] =
                &[$(($crate::plain($crate::core::stringify!($constant)), $name::$constant.0 as i64)),*];

            fn number(self) -> i64 {
                self.0 as i64
            }
        }

        impl $crate::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut $crate::core::fmt::Formatter<'_>) -> $crate::core::fmt::Result {
                $crate::print_named(f, *self)
            }
        }

        $crate::values!(@$kind $name: $ty { $($constant = $value, $doc;)* });
    };
    (@is_flags flags) => { true };
    (@is_flags value) => { false };
    (@value $name:ident: $ty:ty { $($constant:ident = $value:literal, $doc:literal;)* }) => {
        impl $name {
            $(
                #[doc = $doc]
                pub const $constant: Self = Self($value);
            )*
        }
    };
    (@flags $name:ident: $ty:ty { $($constant:ident = $value:literal, $doc:literal;)* }) => {
        $crate::bitflags::bitflags! {
            impl $name: $ty {
                $(
                    #[doc = $doc]
                    const $constant = $value;
                )*
                // Unknown bits are kept.
                const _ = !0;
            }
        }
    };
}
