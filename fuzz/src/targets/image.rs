//! PE images.

use etw_layouts_symbols::image;
use test_support::pe::Image;

/// The name of a symbol file from an image is a valid file name.
pub fn run(input: &[u8]) {
    match image::read(input) {
        Ok(image) => assert!(!image.pdb.guid.is_nil() && !image.pdb.name.contains(['/', '\\', '\0', ':'])),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// An image of each architecture.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut old = Image::x86();
    old.codeview = Some(b"NB10\0\0\0\0\x01\x02\x03\x04\x01\0\0\0ntoskrnl.pdb\0".to_vec());
    vec![Image::x86().bytes(), Image::x64().bytes(), old.bytes()]
}
