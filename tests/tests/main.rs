//! Tests of the whole pipeline: specs, layouts, generated code, symbols.

mod clang;
mod commands;
mod contract;
mod contributing;
mod fresh;
mod image;
mod import;
mod layout_engine;
mod mutants;
mod own_specs;
mod pdb_from_header;
mod spec_errors;
mod spec_language;
mod verify;
mod views;
