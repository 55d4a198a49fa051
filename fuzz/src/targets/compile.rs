//! Checks that generated code compiles: for spec texts, for specs derived from bytes, and for imported kernels.

use super::{import, spec};
use crate::{made, project};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::compile;
use etw_layouts_codegen::emit::rust;
use etw_layouts_codegen::layouts::Layouts;
use serde_json::Value;
use std::collections::HashSet;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};

/// First byte of an input that changes the facts of a kernel.
const IMPORTED: u8 = 0xFF;

/// First byte of an input that is converted to specs.
const MADE: u8 = 0xFE;

/// Maximum size in bytes of Rust text to compile.
const LARGEST: usize = 256 << 10;

/// Limit of processor time in seconds, sufficient for such a text on any host.
const SECONDS: u32 = 60;

/// The generated code of valid specs compiles.
pub fn run(input: &[u8]) {
    let layouts = match input.split_first() {
        Some((&IMPORTED, changes)) => import::imported(changes).map(|plan| (plan.layouts, plan.new)),
        Some((&MADE, bytes)) => whole(&made::specs(bytes)),
        _ => str::from_utf8(input).ok().and_then(whole),
    };
    let Some((layouts, targets)) = layouts else { return };
    let mut options = rust::Options::default();
    targets.into_iter().for_each(|target| options.targets.insert(target));
    let Ok(text) = rust::emit_inline(&layouts, &options) else { return };
    if text.len() <= LARGEST && COMPILED.lock().is_ok_and(|mut known| known.insert(text.clone())) {
        compiled(&text);
    }
}

/// The layouts of a text, and the first and last targets.
fn whole(text: &str) -> Option<(Layouts, Vec<TargetId>)> {
    let layouts = compile(spec::sources(text)).ok()?;
    let targets = layouts.spec.axis.targets.len();
    let targets = (0..targets).filter(|&target| target < 2 || target + 2 >= targets).map(TargetId::from).collect();
    Some((layouts, targets))
}

/// Texts compiled before: many inputs give the same text.
static COMPILED: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// Compiler options for finding the runtime crate, compiled with the same toolchain.
static RUNTIME: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "-q", "-p", "etw-layouts-runtime", "--message-format", "json", "--target-dir"]);
    cargo.arg(folder()).current_dir(project().root);
    // The flags of this program do not apply.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = cargo.stderr(Stdio::inherit()).output().expect("cargo starts");
    assert!(output.status.success(), "the runtime crate does not compile");
    // The path of a library depends on the version of cargo, so cargo reports it. Metadata suffices for checking.
    let messages = output.stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let files: Vec<_> = messages.flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default()).collect();
    let libraries: Vec<_> = files.iter().filter_map(Value::as_str).filter(|file| file.ends_with(".rmeta")).collect();
    let runtime = libraries.last().expect("cargo reports the requested library last");
    let folders = libraries.iter().filter_map(|file| Path::new(file).parent());
    let folders = folders.flat_map(|folder| ["-L".to_owned(), format!("dependency={}", folder.display())]);
    folders.chain(["--extern".to_owned(), format!("etw_layouts_runtime={runtime}")]).collect()
});

/// Folder for compilation, separate for each toolchain.
fn folder() -> PathBuf {
    let toolchain = env::var("RUSTUP_TOOLCHAIN").unwrap_or_default();
    project().root.join("target/fuzz").join(format!("runtime-{toolchain}"))
}

fn compiled(text: &str) {
    let mut rustc = if cfg!(unix) {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("ulimit -t {SECONDS}; exec rustc \"$@\""), "rustc"]);
        shell
    } else {
        Command::new("rustc")
    };
    rustc.args(["--edition=2024", "--crate-type=lib", "--crate-name=made", "--emit=metadata", "-"]);
    rustc.args(RUNTIME.iter()).arg("-o").arg(folder().join(format!("made-{}.rmeta", std::process::id())));
    let mut child = rustc.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("rustc starts");
    // A compiler that rejects the text early does not read all of it.
    let _ = child.stdin.take().expect("it is piped").write_all(format!("mod made {{\n{text}}}\n").as_bytes());
    let output = child.wait_with_output().expect("rustc ends");
    assert!(output.status.success(), "{text}\ndoes not compile, {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
}

/// Specs that were hard to compile, the specs of the macro tests, derived specs, and two kernels.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = vec![
        include_bytes!("../../../tests/macro/specs/DRIVER_EXTENSION.toml").to_vec(),
        // Each type embeds the previous one twice: 2^24 paths.
        (0..24)
            .map(|n| {
                format!("#file U{n}.toml\n[union]\nname = \"U{n}\"\n{}", {
                    let ty = if n == 0 { "ULONG".into() } else { format!("U{}", n - 1) };
                    ["a", "b"].map(|name| format!("[[member]]\nname = \"{name}\"\ntype = \"{ty}\"\n")).concat()
                })
            })
            .collect::<String>()
            .into_bytes(),
    ];
    seeds.extend(made::seeds().into_iter().map(|bytes| [&[MADE], &bytes[..]].concat()));
    seeds.extend(import::seeds().into_iter().take(2).map(|bytes| [&[IMPORTED], &bytes[..]].concat()));
    seeds
}
