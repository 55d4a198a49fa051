//! Addresses.

use core::fmt;

/// An address in the memory that is walked. It is accessed only through a [`Memory`](crate::Memory).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl Address {
    /// The null pointer.
    pub const NULL: Self = Self(0);

    /// Whether this is the null pointer.
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }

    /// The address plus a number of bytes; `None` beyond the end of the address space.
    pub fn plus(self, bytes: u64) -> Option<Self> {
        self.0.checked_add(bytes).map(Self)
    }

    /// The address minus a number of bytes; `None` before the start of the address space.
    pub fn minus(self, bytes: u64) -> Option<Self> {
        self.0.checked_sub(bytes).map(Self)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
