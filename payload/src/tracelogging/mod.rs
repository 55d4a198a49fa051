//! TraceLogging: events that carry their own schema, in the public format of TraceLoggingProvider.h and TraceLoggingDynamic.h.

mod schema;
mod traits;
mod types;

pub(crate) use schema::field;
pub use traits::Traits;
pub use types::{in_name, out_name};
