//! Makes the page of the explorer from its program, and pages from the documents.

#![forbid(unsafe_code)]

// Without the crate of the report, whose dependencies would be compiled a second time.
#[path = "../../report/src/assets.rs"]
mod assets;
mod documents;
mod explorer;
#[path = "../../report/src/frame.rs"]
mod frame;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// `site PROGRAM FOLDER [atlas]`: writes explorer.html, index.html and docs to a folder; with `atlas`, the pages refer to it.
fn run() -> Result<(), Error> {
    let mut words = env::args_os().skip(1);
    let (Some(program), Some(folder), atlas) = (words.next(), words.next(), words.next()) else {
        return Err("wrong arguments; run `cargo xtask site -o DIR`".into());
    };
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let page = explorer::page(Path::new(&program))?;
    fs::write(folder.join("explorer.html"), &page)?;
    println!("{}: {:.1} MB", folder.join("explorer.html").display(), page.len() as f64 / 1e6);
    documents::write(Path::new("."), folder, atlas.is_some())
}
