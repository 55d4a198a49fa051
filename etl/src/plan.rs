//! A schema compiled for one size of pointers.

use etw_layouts_payload::{Cursor, FieldList, Part, PointerSize, Slot, Steps};

/// The fields of a schema, compiled for payloads with pointers of one size. Most payloads are read without the schema. It is needed for
/// structures, and for payloads that end within a field.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The fields, up to the first structure.
    pub slots: Vec<Slot>,
    /// Position of the first field without a slot, if there is one.
    next: Option<u32>,
    pointers: PointerSize,
}

/// Maximum number of slots. Fields after them are decoded by the schema.
const MAX_SLOTS: usize = 1024;

impl Plan {
    /// Compiles a schema.
    pub fn new(list: &FieldList<'_>, pointers: PointerSize) -> Self {
        let mut slots = list.slots(pointers);
        let known = slots.by_ref().take(MAX_SLOTS).map(|(_, slot)| slot).collect();
        Self { slots: known, next: (!slots.is_done()).then(|| slots.position()), pointers }
    }

    /// Whether all fields have slots.
    pub fn is_whole(&self) -> bool {
        self.next.is_none()
    }

    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        size_of_val(self.slots.as_slice())
    }

    /// Begins to read a payload.
    #[inline]
    pub fn read<'a>(&self, payload: &'a [u8]) -> Cursor<'a> {
        Cursor::new(payload, self.pointers)
    }

    /// Whether the slots read a payload to its last byte.
    pub fn fits(&self, payload: &[u8]) -> bool {
        let mut cursor = self.read(payload);
        for slot in &self.slots {
            match cursor.next(slot) {
                Some(Part::End) => return true,
                Some(_) => {}
                None => return false,
            }
        }
        self.is_whole() && cursor.end().is_none()
    }

    /// The steps from the field with an index on, after `cursor` has read those before it. `list` is the schema.
    pub fn steps<'a>(&self, cursor: &Cursor<'a>, list: FieldList<'a>, index: usize) -> Steps<'a> {
        let position = self.slots.get(index).map(Slot::position).or(self.next).unwrap_or(u32::MAX);
        cursor.steps(list, self.slots.iter().take(index), position)
    }
}
