//! Reads numbers and strings of a WEVT_TEMPLATE resource. All numbers are little-endian. Offsets are from the start of the resource.

use crate::schemas::SchemaError;
use etw_layouts_payload::Uuid;

/// Maximum size of a name, in bytes.
const MAX_NAME: usize = 4096;

/// The bytes of a resource.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn slice(self, at: usize, length: usize) -> Result<&'a [u8], SchemaError> {
        let end = at.checked_add(length);
        end.and_then(|end| self.0.get(at..end)).ok_or_else(|| {
            SchemaError::offset(
                at,
                format!("truncated: {length} bytes are beyond the end of the resource; get the complete file"),
            )
        })
    }

    fn array<const N: usize>(self, at: usize) -> Result<[u8; N], SchemaError> {
        Ok(*self.slice(at, N)?.first_chunk().unwrap_or(&[0; N]))
    }

    pub fn u8(self, at: usize) -> Result<u8, SchemaError> {
        self.array(at).map(u8::from_le_bytes)
    }

    pub fn u16(self, at: usize) -> Result<u16, SchemaError> {
        self.array(at).map(u16::from_le_bytes)
    }

    pub fn u32(self, at: usize) -> Result<u32, SchemaError> {
        self.array(at).map(u32::from_le_bytes)
    }

    pub fn u64(self, at: usize) -> Result<u64, SchemaError> {
        self.array(at).map(u64::from_le_bytes)
    }

    /// A count or an offset.
    pub fn size(self, at: usize) -> Result<usize, SchemaError> {
        self.u32(at).map(|value| usize::try_from(value).unwrap_or(usize::MAX))
    }

    pub fn guid(self, at: usize) -> Result<Uuid, SchemaError> {
        self.array(at).map(Uuid::from_bytes_le)
    }

    pub fn signature(self, at: usize) -> Result<[u8; 4], SchemaError> {
        self.array(at)
    }

    /// The number of entries of a list; an error if the entries exceed the resource.
    pub fn count(self, at: usize, first: usize, entry: usize) -> Result<usize, SchemaError> {
        let count = self.size(at)?;
        self.slice(first, count.saturating_mul(entry))?;
        Ok(count)
    }

    /// A string after its size. The size has 32 bits, and includes these four bytes.
    pub fn string(self, at: usize) -> Result<String, SchemaError> {
        let size = self.size(at)?.saturating_sub(4);
        if size > MAX_NAME {
            return Err(SchemaError::offset(at, format!("corrupt name: more than {MAX_NAME} bytes; get the file again")));
        }
        Ok(utf16(self.slice(at.saturating_add(4), size)?))
    }

    /// A string up to its terminator or the end of the resource.
    pub fn terminated(self, at: usize) -> Result<String, SchemaError> {
        let rest =
            self.0.get(at..).ok_or_else(|| SchemaError::offset(at, "truncated: a string is beyond the end of the resource"))?;
        Ok(utf16(rest.get(..MAX_NAME).unwrap_or(rest)))
    }
}

/// UTF-16 up to a terminator.
fn utf16(bytes: &[u8]) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair)).take_while(|unit| *unit != 0);
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
