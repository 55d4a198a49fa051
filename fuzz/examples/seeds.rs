//! Writes the seeds of every target to a folder, for `cargo fuzz`: FOLDER/TARGET/NAME. If ETW_LAYOUTS_ETL and ETW_LAYOUTS_SYMBOLS
//! are folders of real files, these are included.

use etw_layouts_fuzz::TARGETS;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Maximum size of a real file, in bytes: larger files slow the fuzzer down.
const LONGEST: u64 = 300_000;

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
        let real = match target.name {
            "etl" => env::var_os("ETW_LAYOUTS_ETL").map(PathBuf::from),
            "pdb" => env::var_os("ETW_LAYOUTS_SYMBOLS").map(|path| Path::new(&path).join("pdb")),
            _ => None,
        };
        for entry in real.into_iter().flat_map(fs::read_dir).flatten() {
            let entry = entry?;
            if entry.file_type()?.is_file() && entry.metadata()?.len() <= LONGEST {
                fs::write(folder.join(entry.file_name()), fs::read(entry.path())?)?;
            }
        }
    }
    Ok(())
}
