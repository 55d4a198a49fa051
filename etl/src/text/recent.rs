//! Texts of values that were written recently.

use super::put::Times;

/// Texts of recent values of fields with few different values, such as names, addresses and status codes. They are kept, because most of them
/// take longer to write than to copy.
#[derive(Debug, Default)]
pub struct Recent {
    /// Empty before the first field.
    slots: Vec<Slot>,
    fields: u64,
    pub(super) times: Times,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    field: u64,
    number: u64,
    length: u8,
    text: [u8; LONGEST],
}

/// Number of slots, a power of two.
const SLOTS: usize = 512;

/// Maximum number of bytes of a text that is kept.
const LONGEST: usize = 111;

impl Recent {
    /// A number for a field, which no other field has.
    pub(super) fn field(&mut self) -> u64 {
        self.slots.resize(SLOTS, Slot { field: 0, number: 0, length: 0, text: [0; LONGEST] });
        self.fields += 1;
        self.fields
    }

    /// Appends the text of a number. `write` appends it if it is not known.
    #[inline]
    pub(super) fn put(&mut self, field: u64, number: u64, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let at = ((field ^ number.rotate_left(32) ^ number).wrapping_mul(ODD) >> 40) as usize % SLOTS;
        let Some(slot) = self.slots.get_mut(at) else { return write(out) };
        if slot.field == field && slot.number == number {
            return out.extend_from_slice(slot.text.get(..slot.length.into()).unwrap_or_default());
        }
        let start = out.len();
        write(out);
        let text = out.get(start..).unwrap_or_default();
        if let Some(own) = slot.text.get_mut(..text.len()) {
            own.copy_from_slice(text);
            *slot = Slot { field, number, length: text.len() as u8, ..*slot };
        }
    }
}
