//! The generated part of the README.

use crate::Error;
use etw_layouts_codegen::layouts::Layouts;

/// The README with its generated part as it should be.
pub fn fresh(text: &str, _layouts: &Layouts) -> Result<String, Error> {
    Ok(text.to_owned())
}
