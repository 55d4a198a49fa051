//! The placement of members in structures and unions by the Microsoft C compiler.
//!
//! The rules were verified against clang for the MSVC targets. A scalar is aligned to its size on every architecture. Packing
//! lowers this alignment. Explicit alignment raises it, and takes precedence. Bit fields share a unit if their types have the
//! same size and the bits fit. A bit field of width zero ends a unit, and is ignored elsewhere. A bit field directly in a union
//! adds size but no alignment.

use crate::layouts::{Bits, Extent};
use crate::spec::Kind;

/// Maximum size of a structure, which limits arithmetic and the size of the output.
pub(crate) const LARGEST: u64 = 1 << 24;

/// Places members one after another.
pub(crate) struct Placer {
    kind: Kind,
    pack: u64,
    size: u64,
    align: u64,
    required: u64,
    unit: Option<Unit>,
}

/// The bit-field unit that is being filled.
struct Unit {
    offset: u64,
    size: u64,
    used: u64,
}

impl Placer {
    pub fn new(kind: Kind, pack: Option<u64>) -> Self {
        Self {
            kind,
            // The compiler's default, /Zp8, and the largest natural alignment of a scalar.
            pack: pack.unwrap_or(8),
            size: 0,
            align: 1,
            required: 1,
            unit: None,
        }
    }

    /// Places a member that is not a bit field, and returns its offset.
    pub fn place(&mut self, extent: Extent, explicit: Option<u64>) -> Option<u64> {
        self.unit = None;
        let required = extent.required.max(explicit.unwrap_or(1));
        let align = extent.align.min(self.pack).max(required);
        self.align = self.align.max(align);
        self.required = self.required.max(required);
        let offset = match self.kind {
            Kind::Struct => self.size.next_multiple_of(align),
            Kind::Union => 0,
        };
        self.grow(offset, extent.size)?;
        Some(offset)
    }

    /// Places a bit field of a scalar type of `size` bytes; returns its unit's offset and its bits.
    pub fn place_bits(&mut self, size: u64, width: u64) -> Option<(u64, Bits)> {
        let align = size.min(self.pack);
        if width == 0 {
            // It has an effect only directly after another bit field.
            if self.unit.take().is_some() {
                match self.kind {
                    Kind::Union => self.grow(0, size)?,
                    Kind::Struct => {
                        self.align = self.align.max(align);
                        self.size = self.size.next_multiple_of(align);
                    }
                }
            }
            let offset = if self.kind == Kind::Struct { self.size } else { 0 };
            return Some((offset, Bits { position: 0, width }));
        }
        if self.kind == Kind::Union {
            self.grow(0, size)?;
            self.unit = Some(Unit { offset: 0, size, used: width });
            return Some((0, Bits { position: 0, width }));
        }
        if let Some(unit) = &mut self.unit
            && unit.size == size
            && unit.used + width <= size * 8
        {
            let bits = Bits { position: unit.used, width };
            unit.used += width;
            return Some((unit.offset, bits));
        }
        self.align = self.align.max(align);
        let offset = self.size.next_multiple_of(align);
        self.grow(offset, size)?;
        self.unit = Some(Unit { offset, size, used: width });
        Some((offset, Bits { position: 0, width }))
    }

    /// The extent of the whole type, with the explicit alignment of the declaration.
    pub fn finish(self, explicit: Option<u64>) -> Option<Extent> {
        let align = self.align.max(self.required).max(explicit.unwrap_or(1));
        let required = if explicit.is_some() { align } else { self.required };
        let size = self.size.next_multiple_of(align);
        (size <= LARGEST).then_some(Extent { size, align, required })
    }

    fn grow(&mut self, offset: u64, size: u64) -> Option<()> {
        let end = offset.checked_add(size).filter(|&end| end <= LARGEST)?;
        self.size = self.size.max(end);
        Some(())
    }
}
