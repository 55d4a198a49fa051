fn main() {
    etw_layouts_codegen::Builder::new("specs").structure("DRIVER_EXTENSION").build();
}
