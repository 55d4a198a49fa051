//! Tests of the whole pipeline: specs, layouts, generated code, symbols.

mod clang;
mod confidence;
mod contributing;
mod documents;
mod events;
mod family;
mod format_page;
mod image;
mod import;
mod layout_engine;
mod links;
mod newer_build;
mod own_specs;
mod pdb_from_header;
mod spec_errors;
mod spec_form;
mod spec_language;
mod verify;
mod views;
mod workspace;
