//! The facts that the specs of `etw-layouts` are verified against, as text: symbol tables of Windows kernels, reduced to the structures
//! that the specs describe; and the list of Windows' updates. The program `etw` carries them.

#![no_std]
#![forbid(unsafe_code)]

/// Each symbol table by its path in the repository, such as `facts/10.0.19041.329-x64.facts`, with its text; sorted.
pub const FILES: &[(&str, &str)] = &files::TABLE;

/// The servicing updates of Windows by KB number, with the kernels that each brings; the text of `facts/updates.txt`.
pub const UPDATES: &str = include_str!("updates.txt");

/// What each source states of the payloads of kernel events: tables by path, such as `facts/events/mof.tsv`, with their text; sorted.
pub const EVENTS: &[(&str, &str)] = &events::TABLE;

// Statics, because a program would contain the texts of a constant once for each unit that uses it.
mod files {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

mod events {
    include!(concat!(env!("OUT_DIR"), "/events.rs"));
}
