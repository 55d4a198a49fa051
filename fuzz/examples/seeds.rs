//! Writes the seeds of every target to a folder, for `cargo fuzz`: FOLDER/TARGET/NUMBER.

use etw_layouts_fuzz::TARGETS;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: cargo run -p etw-layouts-fuzz --example seeds -- FOLDER");
        std::process::exit(2);
    };
    for target in TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
