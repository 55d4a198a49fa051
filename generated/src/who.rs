//! Who did an event, and whom it is about: the fields of a payload that say so.

use etw_layouts_payload::PointerSize;

/// Who did an event, and whom it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The process and the thread that did it. What is `None` here is stated by the header of the event.
    pub by: Party,
    /// The process and the thread that the event is about.
    pub about: Party,
}

/// The fields that identify a process and a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// The field with the identifier of the process.
    pub process: Option<FieldPlace>,
    /// The field with the identifier of the thread.
    pub thread: Option<FieldPlace>,
}

/// A field with an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// Its name.
    pub name: &'static str,
    /// Its offset and its size in bytes, each with pointers of 4 and of 8 bytes. `None` if they vary, or if the specs do not have the
    /// schema of the event: the field is then found by its name.
    place: Option<([u16; 2], [u8; 2])>,
}

impl Who {
    /// The specs state nothing.
    pub const NONE: Self = Self::new(Party::NONE, Party::NONE);

    pub(crate) const fn new(by: Party, about: Party) -> Self {
        Self { by, about }
    }
}

impl Party {
    /// The specs state nothing.
    pub const NONE: Self = Self { process: None, thread: None };

    pub(crate) const fn process(self, name: &'static str, place: Option<([u16; 2], [u8; 2])>) -> Self {
        Self { process: Some(FieldPlace { name, place }), ..self }
    }

    pub(crate) const fn thread(self, name: &'static str, place: Option<([u16; 2], [u8; 2])>) -> Self {
        Self { thread: Some(FieldPlace { name, place }), ..self }
    }
}

impl FieldPlace {
    /// Whether the field is at the same offset in all payloads of the event.
    #[inline]
    pub fn is_fixed(&self) -> bool {
        self.place.is_some()
    }

    /// The value in a payload; `None` if the payload ends before it, or if the field [is not fixed](Self::is_fixed).
    #[inline]
    pub fn read(&self, payload: &[u8], pointers: PointerSize) -> Option<u64> {
        let (offset, size) = self.place?;
        let at = usize::from(pointers == PointerSize::Bits64);
        let bytes = payload.get(usize::from(offset[at])..)?;
        match size[at] {
            8 => bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)),
            _ => bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into()),
        }
    }
}
