//! The functions of `include/etw_record.h`, and the conversion of the pointer that a consumer receives. The only file with unsafe code.

#![allow(unsafe_code)]

use crate::{Decoder, EventRecordRef};
#[cfg(target_pointer_width = "64")]
use etw_layouts::win10_2004::x64 as windows;
#[cfg(target_pointer_width = "32")]
use etw_layouts::win10_2004::x86 as windows;
use etw_layouts_etl::Item;
use etw_layouts_etl::wire::EVENT_HEADER_EXTENDED_DATA_ITEM;
use std::ffi::{CStr, c_char};
use std::path::Path;
use std::{ptr, slice};
use windows::EVENT_RECORD;

/// A decoder of a C program, with the text that it returned last.
pub struct CDecoder {
    decoder: Decoder,
    /// Ends with a NUL.
    text: Vec<u8>,
}

/// The event is in the text as JSON.
const OK: i32 = 0;
/// As `OK`, but its payload does not match its schema.
const FAULT: i32 = 1;
/// The text is an error message.
const FAILED: i32 = -1;

/// Passes the members of the EVENT_RECORD at an address to `read`. `None` without a call if a pointer in it is NULL but its length is not 0.
///
/// # Safety
///
/// `record` is the pointer that Windows passes to an EventRecordCallback, which has not returned yet; or a pointer to an EVENT_RECORD in the layout of
/// Windows for the pointer size of this program, with pointers to as many items and bytes as it states. Nothing changes them during the call.
pub unsafe fn record<T>(record: *const u8, read: impl FnOnce(&EventRecordRef<'_>) -> T) -> Option<T> {
    if record.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees an EVENT_RECORD at the address. It is plain data, so any bytes are valid; its alignment is not assumed.
    let own: EVENT_RECORD = unsafe { ptr::read_unaligned(record.cast()) };
    let (data, items) = (own.UserData.0 as usize as *const u8, own.ExtendedData.0 as usize as *const u8);
    // SAFETY: the caller guarantees UserDataLength bytes at UserData.
    let user_data = unsafe { bytes(data, own.UserDataLength.into()) }?;
    let size = size_of::<EVENT_HEADER_EXTENDED_DATA_ITEM>();
    // SAFETY: the caller guarantees ExtendedDataCount items at ExtendedData.
    let headers = unsafe { bytes(items, usize::from(own.ExtendedDataCount) * size) }?;
    let mut items = Vec::with_capacity(own.ExtendedDataCount.into());
    for header in headers.chunks_exact(size) {
        let header: EVENT_HEADER_EXTENDED_DATA_ITEM = bytemuck::pod_read_unaligned(header);
        // SAFETY: the caller guarantees DataSize bytes at DataPtr.
        let data = unsafe { bytes(header.DataPtr as usize as *const u8, header.DataSize.into()) }?;
        items.push(Item::new(header.ExtType, data));
    }
    let header = bytemuck::cast(own.EventHeader);
    let context = bytemuck::cast(own.BufferContext);
    Some(read(&EventRecordRef { header, context, items: &items, user_data }))
}

/// The bytes at an address. `None` if it is NULL but the length is not 0.
///
/// # Safety
///
/// If the address is not NULL, there are `length` bytes, which do not change while the result is used.
unsafe fn bytes<'a>(address: *const u8, length: usize) -> Option<&'a [u8]> {
    match (address.is_null(), length) {
        (_, 0) => Some(&[]),
        (true, _) => None,
        // SAFETY: the address is not NULL, and the caller guarantees the bytes. A record has at most 1 MiB, less than isize::MAX.
        (false, _) => Some(unsafe { slice::from_raw_parts(address, length) }),
    }
}

/// See `etw_decoder_new` in `etw_record.h`.
// SAFETY: no other function of the program has this name: it has the prefix of this library.
#[unsafe(no_mangle)]
pub extern "C" fn etw_decoder_new() -> *mut CDecoder {
    Box::into_raw(Box::new(CDecoder { decoder: Decoder::new(), text: vec![0] }))
}

/// See `etw_decoder_free` in `etw_record.h`.
///
/// # Safety
///
/// `decoder` is NULL, or a result of [`etw_decoder_new`] that was not freed, and no other call uses it.
// SAFETY: no other function of the program has this name: it has the prefix of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn etw_decoder_free(decoder: *mut CDecoder) {
    if !decoder.is_null() {
        // SAFETY: the caller guarantees a box that was not freed.
        drop(unsafe { Box::from_raw(decoder) });
    }
}

/// See `etw_decoder_add_schemas` in `etw_record.h`.
///
/// # Safety
///
/// `decoder` is NULL, or a result of [`etw_decoder_new`] that was not freed, and no other call uses it. `path` is NULL, or a string that ends with a NUL.
// SAFETY: no other function of the program has this name: it has the prefix of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn etw_decoder_add_schemas(decoder: *mut CDecoder, path: *const c_char) -> i32 {
    // SAFETY: the caller guarantees a decoder that no other call uses.
    let Some(decoder) = (unsafe { decoder.as_mut() }) else { return FAILED };
    if path.is_null() {
        return decoder.failed("path is NULL; pass the path of a file or folder");
    }
    // SAFETY: the caller guarantees a string that ends with a NUL.
    let Ok(path) = unsafe { CStr::from_ptr(path) }.to_str() else { return decoder.failed("path is not UTF-8; convert it") };
    match decoder.decoder.add_schemas(Path::new(path)) {
        Ok(unused) => {
            decoder.set(unused.join("\n").into_bytes());
            if decoder.text.len() > 1 { FAULT } else { OK }
        }
        Err(error) => decoder.failed(&error.to_string()),
    }
}

/// See `etw_decoder_json` in `etw_record.h`.
///
/// # Safety
///
/// `decoder` is NULL, or a result of [`etw_decoder_new`] that was not freed, and no other call uses it. `event` is NULL, or as [`record`] requires.
// SAFETY: no other function of the program has this name: it has the prefix of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn etw_decoder_json(decoder: *mut CDecoder, event: *const u8) -> i32 {
    // SAFETY: the caller guarantees a decoder that no other call uses.
    let Some(decoder) = (unsafe { decoder.as_mut() }) else { return FAILED };
    let mut text = std::mem::take(&mut decoder.text);
    text.clear();
    // SAFETY: the caller guarantees an EVENT_RECORD that nothing changes.
    let result = unsafe { record(event, |record| decoder.decoder.json(record, &mut text)) };
    match result {
        Some(Ok(fault)) => {
            text.pop_if(|last| *last == b'\n');
            decoder.set(text);
            if fault.is_some() { FAULT } else { OK }
        }
        Some(Err(error)) => decoder.failed(&format!("cannot read event record: {error}")),
        None => decoder.failed("cannot read event record: a pointer is NULL"),
    }
}

/// See `etw_decoder_text` in `etw_record.h`.
///
/// # Safety
///
/// `decoder` is NULL, or a result of [`etw_decoder_new`] that was not freed, and no other call changes it. `length` is NULL, or the address of a size_t.
// SAFETY: no other function of the program has this name: it has the prefix of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn etw_decoder_text(decoder: *const CDecoder, length: *mut usize) -> *const c_char {
    // SAFETY: the caller guarantees a decoder that no other call changes.
    let text: &[u8] = match unsafe { decoder.as_ref() } {
        Some(decoder) => &decoder.text,
        None => b"\0",
    };
    // SAFETY: the caller guarantees the address of a size_t, or NULL.
    if let Some(length) = unsafe { length.as_mut() } {
        *length = text.len().saturating_sub(1);
    }
    text.as_ptr().cast()
}

impl CDecoder {
    fn set(&mut self, mut text: Vec<u8>) {
        text.push(0);
        self.text = text;
    }

    fn failed(&mut self, error: &str) -> i32 {
        self.set(error.as_bytes().to_vec());
        FAILED
    }
}
