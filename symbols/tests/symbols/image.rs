//! The properties of an image, and the errors for other inputs.

use etw_layouts_symbols::{Arch, Pdb, Uuid, image};
use test_support::pe::{Image, Random, pdb, rsds};

#[test]
fn both_architectures() {
    let [x86, x64] = [Image::x86(), Image::x64()].map(|image| image::read(&image.bytes()).unwrap());
    assert_eq!(x86, image::Image { version: [5, 1, 2600, 5512], arch: Arch::X86, pdb: pdb() });
    assert_eq!(x64, image::Image { version: [10, 0, 19041, 1415], arch: Arch::X64, pdb: pdb() });
}

#[test]
fn errors_of_images() {
    let codeview = |record: &[u8]| Image { codeview: Some(record.to_vec()), ..Image::x64() }.bytes();
    let named = |name: &str| codeview(&rsds(&Pdb { name: name.to_owned(), ..pdb() }, ""));
    let changed = |at: usize, value: u8| {
        let mut bytes = Image::x64().bytes();
        bytes[at] = value;
        bytes
    };
    let nb10 = [b"NB10\0\0\0\0\x31\x45\x82\x3B\x01\0\0\0".as_slice(), b"c:\\nt\\ntoskrnl.pdb\0"].concat();
    let cases = [
        (Vec::new(), "not a PE image: it is empty"),
        (b"MZ".to_vec(), "not a PE image: it is a program for DOS or 16-bit Windows, or truncated"),
        (b"MSCF\0\0\0\0".to_vec(), "not a PE image: it is a cabinet; expand it"),
        (b"Microsoft C/C++ MSF 7.00\r\n\x1ADS".to_vec(), "not a PE image: it is a PDB"),
        (b"hello".to_vec(), "not a PE image: unknown format"),
        (Image::x64().bytes()[..0x100].to_vec(), "corrupt headers of a PE image"),
        (Image::x64().bytes()[..0x440].to_vec(), "corrupt resources of a PE image"),
        (
            Image { machine: 0x01C4, ..Image::x64() }.bytes(),
            "unsupported architecture of a PE image, machine 0x01c4 (ARM): supported",
        ),
        (Image { version: None, ..Image::x64() }.bytes(), "PE image without a version resource"),
        (changed(0x110 + 0x400, 24), "PE image without a version resource"),
        (changed(0x188 + 0x400, 0), "corrupt resources of a PE image (the version resource has no VS_FIXEDFILEINFO)"),
        (Image { codeview: None, ..Image::x64() }.bytes(), "PE image without a debug directory"),
        (changed(0x40C, 13), "PE image whose debug directory does not identify a PDB"),
        (codeview(b"NB09----"), "PE image whose debug directory does not identify a PDB"),
        (codeview(&nb10), "PE image that identifies its PDB (ntoskrnl.pdb) by time stamp, without a GUID"),
        (codeview(b"RSDS----"), "corrupt CodeView record of a PE image (too short)"),
        (codeview(&rsds(&Pdb { guid: Uuid::nil(), ..pdb() }, "")), "corrupt CodeView record of a PE image (zero GUID)"),
        (named(".."), "corrupt CodeView record of a PE image (invalid file name `..`)"),
        (named("a:b.pdb"), "corrupt CodeView record of a PE image (invalid file name `a:b.pdb`)"),
        (named("x/"), "corrupt CodeView record of a PE image (invalid file name `x/`)"),
    ];
    for (bytes, expected) in cases {
        let message = image::read(&bytes).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}\nand not\n{expected}");
        assert!(message.contains("; ") || message.contains(": "), "no remedy in {message}");
    }
}

#[test]
fn no_input_panics() {
    let mut random = Random(7);
    let mut read = 0;
    for image in [Image::x86().bytes(), Image::x64().bytes()] {
        for _ in 0..20_000 {
            read += usize::from(image::read(&random.mutated(&image, 0x600)).is_ok());
        }
    }
    assert!(read > 1000, "too few of the mutants are still images: {read}");
}
