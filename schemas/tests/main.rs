//! Schemas of events from manifests, Windows binaries and TMF files.

mod binaries;
mod clr;
mod damage;
mod describe;
mod folders;
mod manifests;
mod tmf;
