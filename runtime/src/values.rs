//! `values!`, which defines enumerations and flags: newtypes of integers, so that an unknown value survives.

/// Defines a newtype of an integer with named values: `value` for values of which it is one, `flags` for bits that combine. Behind the
/// integer stands Microsoft's name.
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

        impl $name {
            $(
                #[doc = $doc]
                pub const $constant: Self = Self($value);
            )*
        }

        const _: () = $crate::check::integer::<$ty>();

        // SAFETY: a transparent wrapper of an integer: the check above takes nothing else.
        unsafe impl $crate::bytemuck::Zeroable for $name {}

        // SAFETY: a transparent wrapper of an integer: the check above takes nothing else.
        unsafe impl $crate::bytemuck::Pod for $name {}

        impl $crate::Number for $name {
            const SIGNED: bool = <$ty as $crate::Number>::SIGNED;
        }

        impl $crate::meta::Named for $name {
            const VALUES: &'static $crate::meta::Values = &$crate::meta::Values {
                name: $shown,
                flags: $crate::values!(@is_flags $kind),
                signed: <$ty as $crate::Number>::SIGNED,
                constants: &[$(($crate::plain($crate::core::stringify!($constant)), $name::$constant.0 as i64)),*],
            };

            fn number(self) -> i64 {
                self.0 as i64
            }
        }

        impl $crate::meta::Typed for $name {
            const TYPE: $crate::meta::Type = $crate::meta::Type::Values(<Self as $crate::meta::Named>::VALUES);
        }

        impl $crate::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut $crate::core::fmt::Formatter<'_>) -> $crate::core::fmt::Result {
                $crate::print_named(f, *self)
            }
        }

        $crate::values!(@$kind $name);
    };
    (@is_flags flags) => { true };
    (@is_flags value) => { false };
    (@value $name:ident) => {};
    (@flags $name:ident) => {
        impl $name {
            /// Whether all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl $crate::core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}
