//! Times of the commands as their users wait for them, in the profile that `cargo xtask` uses, and of checking the generated crate.
//!
//! Run with `cargo bench -p xtask`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 5;

fn main() {
    let root = xtask::project::root();
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
        None => println!("cargo check -p etw-layouts (CPU): skipped, this host does not tell the times of processes"),
    }
}

/// CPU time of all processes that this one has waited for, where the host tells it.
fn children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks: u64 = fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?;
    // Linux counts in hundredths, whatever its clock does.
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
