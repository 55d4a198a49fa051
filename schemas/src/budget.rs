//! Limits the memory for the schemas of one source. Without the limit, a small source can repeat large parts many times.

use crate::model::{Event, Field};

/// The remaining memory, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Budget(usize);

/// The memory is used up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exceeded;

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl Budget {
    /// Maximum memory of the schemas of a source, in bytes. The largest manifests of Windows need some MB.
    pub const MAX: usize = 128 << 20;

    pub const MESSAGE: &str = "schemas too large: with the parts that events repeat, they exceed 128 MiB; divide the source";

    pub fn new() -> Self {
        Self(Self::MAX)
    }

    pub fn take(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.0 = self.0.checked_sub(bytes).ok_or(Exceeded)?;
        Ok(())
    }

    pub fn event(&mut self, event: &Event) -> Result<(), Exceeded> {
        let names = [&event.channel, &event.level, &event.opcode, &event.task].map(|name| name.name.len()).iter().sum::<usize>();
        let keywords = event.keywords.iter().map(|name| size_of::<String>() + name.len()).sum::<usize>();
        let fields = event.fields.as_deref().map_or(0, fields);
        self.take(size_of::<Event>() + names + keywords + event.symbol.len() + event.message.len() + fields)
    }
}

/// Memory of fields with their members. Readers bound their depth.
fn fields(list: &[Field]) -> usize {
    list.iter().map(|field| size_of::<Field>() + field.name.len() + fields(&field.members)).sum()
}
