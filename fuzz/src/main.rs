//! The fuzzer. The environment variable ETW_LAYOUTS_FUZZ names the target. Before the first input, its seeds are written to the
//! folder in ETW_LAYOUTS_FUZZ_SEEDS.

#![no_main]

use etw_layouts_fuzz::{FuzzTarget, TARGETS};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs, io};

static TARGET: LazyLock<&FuzzTarget> = LazyLock::new(|| {
    let name = env::var("ETW_LAYOUTS_FUZZ").expect("ETW_LAYOUTS_FUZZ names a target");
    TARGETS.iter().find(|target| target.name == name).expect("ETW_LAYOUTS_FUZZ names a target")
});

/// Maximum size of a real file, in bytes: larger files slow the fuzzer down.
const LONGEST: u64 = 300_000;

libfuzzer_sys::fuzz_target!(init: write_seeds().expect("a writable folder of seeds"), |input: &[u8]| (TARGET.run)(input));

/// Writes generated seeds, and the real files in the folders of ETW_LAYOUTS_ETL and ETW_LAYOUTS_SYMBOLS.
fn write_seeds() -> io::Result<()> {
    let Some(folder) = env::var_os("ETW_LAYOUTS_FUZZ_SEEDS").map(PathBuf::from) else { return Ok(()) };
    fs::create_dir_all(&folder)?;
    for (number, seed) in (TARGET.seeds)().iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), seed)?;
    }
    let real = match TARGET.name {
        "etl" | "trace" | "table" => env::var_os("ETW_LAYOUTS_ETL").map(PathBuf::from),
        "pdb" => env::var_os("ETW_LAYOUTS_SYMBOLS").map(|path| Path::new(&path).join("pdb")),
        _ => None,
    };
    for entry in real.into_iter().flat_map(fs::read_dir).flatten() {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.metadata()?.len() <= LONGEST {
            fs::write(folder.join(entry.file_name()), fs::read(entry.path())?)?;
        }
    }
    Ok(())
}
