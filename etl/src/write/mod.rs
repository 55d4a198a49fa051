//! Writes records, buffers and whole files for a version of Windows. Invalid use gives an [`Error`] instead of an invalid file.

mod buffer;
mod error;
mod file;
mod join;
mod record;
mod relog;
mod versions;

pub use crate::producer::Producer;
pub use buffer::BufferWriter;
pub use error::Error;
pub use file::FileWriter;
pub use join::NotOneSession;
pub use record::Record;
pub(crate) use record::event_with_items;
pub use relog::Relog;
