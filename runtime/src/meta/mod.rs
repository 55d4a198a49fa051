//! Builds, evidence and confidence: the words of a selection, and its algorithm.

mod build;
mod confidence;
mod line;
mod registry;

pub use build::{Arch, Build, ParseError, UpdateFacts};
pub use confidence::{Absent, Confidence, InferredFrom, SymbolSource};
pub use line::{Chosen, Evidence, Examined, Line, choose, place};
pub use registry::{FactsKind, Image, Pdb};
