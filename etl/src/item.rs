//! Extended items, which are located between an EVENT_HEADER and the payload.

use crate::wire::{EVENT_HEADER_EXT_TYPE, EVENT_HEADER_EXTENDED_DATA_ITEM, ITEM, align8, prefix};

/// An extended item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The type of the data.
    pub ty: EVENT_HEADER_EXT_TYPE,
    /// Bits other than Linkage, of unknown meaning.
    pub reserved: u16,
    /// The data of the item.
    pub data: &'a [u8],
    /// The bytes between the data and the next multiple of eight bytes: stale memory.
    pub padding: &'a [u8],
}

impl<'a> Item<'a> {
    /// An item with the given data, padded with zeros.
    pub fn new(ty: EVENT_HEADER_EXT_TYPE, data: &'a [u8]) -> Self {
        Self { ty, reserved: 0, data, padding: &[0; 7][..align8(data.len()) - data.len()] }
    }

    /// Size of the item, in bytes.
    pub fn size(&self) -> usize {
        ITEM + self.data.len() + self.padding.len()
    }
}

/// Iterator over the items of an event, in order.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Items<'a> {
    /// The items at the start of `bytes`; empty for `None`.
    pub(crate) fn new(bytes: Option<&'a [u8]>) -> Self {
        Self { rest: bytes }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let (item, rest, more) = first(self.rest.take()?)?;
        self.rest = more.then_some(rest);
        Some(item)
    }
}

/// The end of the items of an event. The first item is at `at`. `None` if the chain is inconsistent.
pub(crate) fn end(event: &[u8], at: usize) -> Option<usize> {
    let mut rest = event.get(at..)?;
    loop {
        let (_, next, more) = first(rest)?;
        rest = next;
        if !more {
            return Some(event.len() - rest.len());
        }
    }
}

fn first(bytes: &[u8]) -> Option<(Item<'_>, &[u8], bool)> {
    let header: EVENT_HEADER_EXTENDED_DATA_ITEM = prefix(bytes, ITEM)?;
    let (size, data) = (usize::from(header.Reserved1), usize::from(header.DataSize));
    if size != align8(ITEM + data) || size > bytes.len() {
        return None;
    }
    let (item, rest) = bytes.split_at(size);
    let (data, padding) = item[ITEM..].split_at(data);
    Some((Item { ty: header.ExtType, reserved: header.Reserved2(), data, padding }, rest, header.Linkage() != 0))
}
