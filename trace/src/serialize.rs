//! Words of serialised values, which are the same as in the output of programs.

use crate::process::StatedBy;
use crate::who::KnownBy;
use serde::{Serialize, Serializer};

/// The name of the event.
impl Serialize for StatedBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The name of the field, `header`, or an empty string.
impl Serialize for KnownBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
