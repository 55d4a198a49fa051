//! The page of the explorer: one file with its program, which opens from disk and cannot reach a network.

use crate::{Error, assets, frame};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

/// The style of the atlas, of a report, and of the page.
const STYLE: [&str; 3] =
    [include_str!("../../atlas/src/style.css"), assets::STYLE, include_str!("../../explorer/page/style.css")];

const SCRIPT: [&str; 6] = [
    include_str!("../../explorer/page/script/start.js"),
    include_str!("../../explorer/page/script/program.js"),
    include_str!("../../explorer/page/script/detail.js"),
    include_str!("../../explorer/page/script/table.js"),
    include_str!("../../explorer/page/script/open.js"),
    include_str!("../../explorer/page/script/end.js"),
];

const WORKER: &str = include_str!("../../explorer/page/worker.js");

/// The page with a program, which `cargo build` made for `wasm32-unknown-unknown`.
pub fn page(program: &Path) -> Result<String, Error> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(program)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .omit_default_module_path(true);
    let mut output = bindgen
        .no_modules(true)
        .and_then(Bindgen::generate_output)
        .map_err(|error| format!("{}: {error:#}", program.display()))?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&output.wasm_mut().emit_wasm())?;
    let packed = STANDARD.encode(packed.finish()?);
    // A function, because the worker starts the program again after an error of the program.
    let worker = format!("const newBindings = () => {{\n{}\nreturn wasm_bindgen;\n}};\n{WORKER}", output.js());
    if worker.contains("</script") {
        return Err("the script of the worker would end its element".into());
    }
    let style = ascii(&STYLE.concat(), |c| format!("\\{c:x} "));
    let [worker, script] =
        [worker, format!("{}\n{}", assets::SCRIPT, SCRIPT.concat())].map(|script| ascii(&script, |c| format!("\\u{{{c:x}}}")));
    let body = format!(
        "<body>{}\
         <script type=\"text/plain\" id=\"worker\">{worker}</script>\
         <script type=\"text/plain\" id=\"program\">{packed}</script>",
        ascii(include_str!("../../explorer/page/index.html"), |c| format!("&#x{c:x};"))
    );
    // The worker inherits the policy. `wasm-unsafe-eval` allows to compile WebAssembly, and nothing else.
    Ok(frame::page("ETW explorer", &style, &script, &body, (" 'wasm-unsafe-eval'", "worker-src blob:; ")))
}

/// A text with escapes for characters beyond ASCII: with such a character, a browser keeps the page, which has 6 MB, in 16 bits for each character.
fn ascii(text: &str, escape: impl Fn(u32) -> String) -> String {
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { escape(c.into()) }).collect()
}
