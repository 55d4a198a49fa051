//! Enumerations and flags: transparent newtypes, so that an unknown value survives.

/// Implements what every set of values has: plain old data, its names, and `Debug` by them. `flags` combine as well.
#[doc(hidden)]
#[macro_export]
macro_rules! values {
    ($print:ident $name:ident, $values:expr) => {
        // SAFETY: a transparent wrapper of an integer.
        unsafe impl $crate::bytemuck::Zeroable for $name {}

        // SAFETY: a transparent wrapper of an integer.
        unsafe impl $crate::bytemuck::Pod for $name {}

        impl $crate::meta::Named for $name {
            const VALUES: &'static $crate::meta::Values = &$values;
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
                $crate::debug::$print(f, <Self as $crate::meta::Named>::VALUES, self.0 as i64)
            }
        }

        $crate::values!(@$print $name);
    };
    (@value $name:ident) => {};
    (@flags $name:ident) => {
        impl $name {
            /// Whether all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}
