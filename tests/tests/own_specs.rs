//! The build script and the macro give what the specs say, and the same.

use std::mem::{align_of, offset_of, size_of};

macro_rules! same {
    ($($krate:ident),+) => { $({
        use $krate::targets::{v7, v8};
        assert_eq!(size_of::<v7::x64::DRIVER_EXTENSION>(), 0x20);
        assert_eq!(size_of::<v8::x86::DRIVER_EXTENSION>(), 0x20);
        assert_eq!(align_of::<v8::x86::DRIVER_EXTENSION>(), 8);
        assert_eq!(offset_of!(v8::x86::DRIVER_EXTENSION, Next), 0x10);
        assert_eq!(offset_of!(v8::x86::DRIVER_EXTENSION, Limit), 0x18);
        let mut extension: v8::x64::DRIVER_EXTENSION = etw_layouts::bytemuck::Zeroable::zeroed();
        extension.set_Removed(1);
        assert_eq!((extension.Flags(), extension.Started()), (2, 0));
    })+ };
}

#[test]
fn build_script_and_macro_agree() {
    same!(test_build_script, test_macro);
}
