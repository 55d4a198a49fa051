fn main() {
    etw_layouts_codegen::Builder::new("../../specs").build();
}
