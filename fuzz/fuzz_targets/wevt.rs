#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| etw_layouts_fuzz::wevt::run(input));
