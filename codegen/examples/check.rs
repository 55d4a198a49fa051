use etw_layouts_codegen as c;
fn main() {
    let p = std::env::args().nth(1).unwrap();
    let t = std::time::Instant::now();
    match c::Sources::load(p.as_ref()).map_err(|e| e.to_string()).and_then(|s| c::read(s).map_err(|e| e.to_string())).and_then(|s| c::resolve(s).map_err(|e| e.to_string())) {
        Err(e) => println!("{e}"),
        Ok(l) => println!("{} layouts", l.layouts.len()),
    }
    eprintln!("{:?}", t.elapsed());
}
