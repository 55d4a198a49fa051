//! Reads layout specs, computes Microsoft C layouts from them, and writes Rust types, C headers, and tables for other tools.
//!
//! Data flows in one direction: text → [`Spec`](spec::Spec) → [`Layouts`](layouts::Layouts) → emitters.
//!
//! To generate types from your own specs, use a [`Builder`] in a build script, or the macro in `etw-layouts-macros`. Semantic
//! versioning covers [`Builder`], [`Generated`], [`Note`] and [`BuildError`], the spec language, and the public items of
//! generated code. The stages behind them ([`Sources`], [`compile`], the modules) are for tools that work with layouts. Their
//! types can gain members in a minor version, because the spec language does.

#![forbid(unsafe_code)]

mod alike;
mod assertions;
pub mod axis;
mod builder;
mod convert;
pub mod ctype;
mod diagnostic;
pub mod emit;
pub mod event;
mod format;
pub mod layouts;
mod load;
mod place;
mod problems;
mod read;
pub mod registry;
mod remarks;
mod resolve;
mod source;
pub mod spec;
mod standard;
pub mod stored;
pub mod syntax;
mod target;

pub use builder::{BuildError, Builder, Generated, Note};
pub use convert::converted;
pub use diagnostic::{Diagnostic, Errors, nearest};
pub use format::formatted;
pub use load::{CHANGE, files, settled};
pub use read::{is_definable, is_identifier, read, read_partly, reread_events};
pub use resolve::{compile, laid_out, recompile, resolve};
pub use source::{At, SourceFile, Sources, Span};
pub use standard::compile_with;
pub use target::{Asked, SelectedBy};
