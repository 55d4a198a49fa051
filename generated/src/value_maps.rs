//! Names of the values of fields, from the constants with the same names.

use etw_layouts_runtime::Named;

/// Defines the maps of sets of constants.
macro_rules! maps {
    ($($kind:ident $name:ident),* $(,)?) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub static $name: Map = {
            use crate::value_maps::{count, entries};
            type Set = crate::constants::$name;
            const ENTRIES: [(u64, &str); count::<Set>()] = entries::<Set, _>();
            Map::$kind(<Set as etw_layouts_runtime::Named>::NAME, &ENTRIES)
        };
    )*};
}
pub(crate) use maps;

/// Number of values. A value without bits is not a flag.
pub const fn count<T: Named>() -> usize {
    let (mut count, mut at) = (0, 0);
    while at < T::CONSTANTS.len() {
        if !T::IS_FLAGS || T::CONSTANTS[at].1 != 0 {
            count += 1;
        }
        at += 1;
    }
    count
}

/// Values with their names, `N` of them. Flags with the most bits come first.
pub const fn entries<T: Named, const N: usize>() -> [(u64, &'static str); N] {
    let mut entries: [(u64, &str); N] = [(0, ""); N];
    let (mut count, mut at) = (0, 0);
    while at < T::CONSTANTS.len() {
        let (name, value) = T::CONSTANTS[at];
        let value = value as u64 & u64::MAX >> (64 - 8 * size_of::<T>());
        at += 1;
        if T::IS_FLAGS && value == 0 {
            continue;
        }
        let mut place = count;
        while T::IS_FLAGS && place > 0 && entries[place - 1].0.count_ones() < value.count_ones() {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        entries[place] = (value, name);
        count += 1;
    }
    entries
}
