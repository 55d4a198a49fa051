//! tmp
use etw_layouts_codegen::{Sources, read, files, emit};
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let mut sources = Sources::default();
    for path in files(std::path::Path::new(&dir)).unwrap() {
        sources.add(path.display().to_string(), std::fs::read_to_string(&path).unwrap());
    }
    let spec = read(sources).unwrap_or_else(|e| panic!("{}", e.render(false)));
    for d in spec.definitions.values() {
        let file = spec.sources.file(d.name.span);
        let text = emit::toml::definition(&spec, d);
        if text != file.text { std::fs::write(&file.path, text).unwrap(); }
    }
    let w = spec.sources.files().iter().find(|f| f.path.ends_with("windows.toml")).unwrap();
    let text = emit::toml::axis(&spec.axis);
    if text != w.text { std::fs::write(&w.path, text).unwrap(); }
}
