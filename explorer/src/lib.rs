//! Traces in a web browser: opens trace files, selects events, and makes the lines, bytes and files that the page shows and saves. It has no own rules
//! of the format: it uses the same libraries as the program `etw`.

#![forbid(unsafe_code)]

#[cfg(target_family = "wasm")]
mod browser;
mod bytes;
mod explorer;
mod files;
mod filter;
mod save;
mod symbols;

pub use explorer::Explorer;
pub use files::Files;
pub use filter::options;
pub use save::SaveFormat;
