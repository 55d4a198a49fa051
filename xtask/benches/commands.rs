//! Measures the commands in the profile that `cargo xtask` uses, and `cargo check` of the generated crate.
//!
//! Run with `cargo bench -p xtask`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 5;

/// The maximum time for verifying a folder of tables, as a multiple of the time for unpacking them.
const LIMIT: f64 = 1.1;

fn main() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = || {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.current_dir(&root).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let built = cargo().args(["build", "-p", "xtask"]).status().is_ok_and(|status| status.success());
    assert!(built, "xtask builds");
    let xtask = root.join("target/debug/xtask");
    println!("{:34} {:>9} {:>9}", "command", "median", "limit");
    for (name, args, limit) in [("generate --check", vec!["generate", "--check"], 0.5), ("verify", vec!["verify"], 1.0)] {
        let time = median(|| {
            let start = Instant::now();
            let _ = Command::new(&xtask).args(&args).stdout(Stdio::null()).status();
            start.elapsed()
        });
        line(&format!("cargo xtask {name}"), time, limit);
    }
    symbols(&xtask);
    let _ = cargo().args(["check", "-p", "etw-layouts"]).status();
    let touched = root.join("generated/src/lib.rs");
    let mut spent = Vec::new();
    median(|| {
        let text = std::fs::read(&touched).unwrap_or_default();
        let _ = std::fs::write(&touched, text);
        let (start, before) = (Instant::now(), children());
        let _ = cargo().args(["check", "-p", "etw-layouts"]).status();
        spent.extend(before.zip(children()).map(|(before, after)| after - before));
        start.elapsed()
    });
    spent.sort();
    match spent.get(RUNS / 2) {
        Some(time) => line("cargo check -p etw-layouts (CPU)", *time, 3.0),
        None => println!("cargo check -p etw-layouts (CPU): skipped, times of processes are unavailable on this host"),
    }
}

/// Compares the verification of a whole folder of symbol files with the time for unpacking them.
fn symbols(xtask: &std::path::Path) {
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_SYMBOLS").map(std::path::PathBuf::from) else {
        println!("verify --symbols: skipped, ETW_LAYOUTS_SYMBOLS is not set");
        return;
    };
    let folders = ["converted", "isf", "kernels", "newest"].map(|name| folder.join(name)).into_iter().filter(|f| f.is_dir());
    let folders: Vec<_> = folders.collect();
    let cpu = |command: &mut Command| {
        let before = children();
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        before.zip(children()).map(|(before, after)| after - before).unwrap_or_default()
    };
    let verify =
        || cpu(Command::new(xtask).arg("verify").args(folders.iter().flat_map(|f| ["--symbols".as_ref(), f.as_os_str()])));
    let xz = || {
        let files = folders.iter().filter_map(|f| std::fs::read_dir(f).ok()).flatten().flatten().map(|e| e.path());
        cpu(Command::new("xz").arg("-dc").args(files.filter(|f| f.extension().is_some_and(|e| e == "xz"))))
    };
    let (verify, xz) = (median(verify), median(xz));
    line("verify --symbols FOLDER (CPU)", verify, LIMIT * xz.as_secs_f64());
    println!(
        "{:34} {:7.2}   {:7.1}  of xz -dc ({:.3} s)",
        "  ratio",
        verify.as_secs_f64() / xz.as_secs_f64().max(0.001),
        LIMIT,
        xz.as_secs_f64()
    );
    let kernel = folder.join("pdb/ntkrnlpa_xpsp3_x86_30B5FB31.pdb");
    if let Ok(bytes) = std::fs::read(kernel) {
        let layouts = etw_layouts_project::Project::at("..").layouts().expect("the specs resolve");
        let names = etw_layouts_project::verify::names(&layouts, None).expect("all names");
        let wanted = names.iter().copied().collect();
        let axis = &layouts.spec.axis;
        let time = median(|| {
            let start = Instant::now();
            let table = etw_layouts_symbols::pdb::read(&bytes, &wanted).expect("a kernel's PDB");
            let table = etw_layouts_project::tables::BuildTable {
                source: String::new(),
                producer: table.producer,
                build: axis.revision_of(axis.find("5.1.2600-sp3-x86").expect("a kernel").target).build,
                label: "5.1.2600-sp3".into(),
                arch: etw_layouts_codegen::axis::Arch::X86,
                pdb: table.pdb,
                image: None,
                types: table.types.into(),
                offsets: std::sync::Arc::default(),
                globals: Default::default(),
            };
            let _ = etw_layouts_project::verify::compared(&layouts, &names, &table);
            start.elapsed()
        });
        line("the XP SP3 kernel's PDB, verified", time, 0.02);
    }
}

/// CPU time of all child processes that have ended, if the host reports it.
fn children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks: u64 = fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?;
    // On Linux, the unit is always 1/100 second.
    Some(Duration::from_millis(ticks * 10))
}

fn line(name: &str, time: Duration, limit: f64) {
    println!("{name:34} {:7.3} s {limit:7.1} s", time.as_secs_f64());
}

fn median(mut run: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<_> = (0..RUNS).map(|_| run()).collect();
    times.sort();
    times[RUNS / 2]
}
