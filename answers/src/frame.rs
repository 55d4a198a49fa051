//! Names of the addresses in call stacks.

use etw_layouts_trace::{Error, Names};
use std::sync::Arc;

/// Finds what is at the addresses of a session.
#[derive(Debug)]
pub struct Frames<'t> {
    names: Names<'t>,
}

/// An address in a call stack, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// The address.
    pub address: u64,
    /// Path of the image that contains the address, as the kernel names it.
    pub module: Option<Arc<str>>,
    /// Offset of the address in the image, in bytes.
    pub offset: Option<u64>,
    /// The function or method that contains the address.
    pub function: Option<Arc<str>>,
}

impl<'t> Frames<'t> {
    /// The frames of a session with these names.
    #[must_use]
    pub fn new(names: Names<'t>) -> Self {
        Self { names }
    }

    /// What is at an address of a process at a time stamp.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn frame(&mut self, process: u32, address: u64, tick: i64) -> Result<Arc<Frame>, Error> {
        let image = self.names.image(process, address, tick)?;
        let method = self.names.method(process, address, tick)?;
        let (module, offset) = image.map(|image| (image.name.into(), address - image.start)).unzip();
        Ok(Arc::new(Frame { address, module, offset, function: method.map(|method| method.name.into()) }))
    }
}
