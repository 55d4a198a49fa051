//! Layouts as data, for tools that learn the Windows build only at run time.

mod axis;
mod confidence;
mod layout;
mod line;
mod registry;
mod structure;
#[cfg(test)]
mod tests;

pub use axis::{Arch, Axis, Build, Kernel, ParseError, Update, UpdateFacts};
pub use confidence::{Absent, Confidence, Reason, SymbolSource};
#[doc(hidden)]
pub use layout::places;
pub use layout::{Described, Layout, Member, Members, Named, Type, Typed, Values};
pub use line::{Chosen, Evidence, Examined, Line, choose, place};
pub use registry::{Image, Pdb, Registry, Seen, Witness, WitnessKind};
pub use structure::{Change, Selection, Structure, Target};
