//! A crate outside the workspace, like that of a user.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The folder of a crate that depends on the macros.
pub struct Project(PathBuf);

impl Project {
    /// An empty crate with this name.
    pub fn new(name: &str) -> Self {
        Self::with_runtime(name, "etw-layouts-runtime")
    }

    /// An empty crate with this name, and another name for the runtime crate.
    pub fn with_runtime(name: &str, runtime: &str) -> Self {
        let new = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        new.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\netw-layouts-macros = {{ path = {:?} }}\n\
                 {runtime} = {{ package = \"etw-layouts-runtime\", path = {:?} }}\n\n[workspace]\n",
                root.join("macros"),
                root.join("runtime")
            ),
        );
        fs::copy(root.join("Cargo.lock"), new.0.join("Cargo.lock")).expect("the versions of the workspace");
        new
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Whether the crate compiles for a host, and the output of the compiler.
    pub fn check(&self, host: &str) -> (bool, String) {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
        // With these flags, these crates and those of trybuild share the compiled dependencies of the macros.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests").join("trybuild");
        command.args(["check", "--offline", "--color=never", "--target", host, "--target-dir"]).arg(target);
        command.env("CARGO_INCREMENTAL", "0").env_remove("RUSTFLAGS").current_dir(&self.0);
        let output = command.output().expect("cargo runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The host that the compiler runs on.
pub fn this_host() -> String {
    let output = Command::new(rustc()).arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("the host").to_owned()
}

/// Whether crates can be compiled for a host.
pub fn is_installed(host: &str) -> bool {
    let output = Command::new(rustc()).args(["--print", "target-libdir", "--target", host]).output().expect("rustc runs");
    Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
}

fn rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or("rustc".into())
}
