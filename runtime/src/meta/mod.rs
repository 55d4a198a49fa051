//! Layouts as data, for tools that learn the Windows build only at run time.

mod axis;
mod layout;
mod line;
mod registry;
mod standing;
mod structure;

pub use axis::{Arch, Axis, Build, Kernel, ParseError};
#[doc(hidden)]
pub use layout::places;
pub use layout::{Described, Layout, Member, Members, Named, Type, Typed, Values};
pub use line::{Chosen, Evidence, Line, choose, place};
pub use registry::{Image, Pdb, Registry, Seen, Witness, WitnessKind};
pub use standing::{Absent, Standing};
pub use structure::{Change, Selection, Structure, Target};
