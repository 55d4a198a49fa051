//! TraceLogging: events that contain their schema, in the format that TraceLoggingProvider.h and TraceLoggingDynamic.h define.

mod schema;
mod traits;
mod types;

pub(crate) use schema::field;
pub use traits::Traits;
pub use types::{in_name, out_name};
