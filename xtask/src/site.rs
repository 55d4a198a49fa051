//! `cargo xtask site`.

mod links;

use crate::{Error, Outcome, generate, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Write the website: the explorer, the atlas and the documents, as static files.
///
///     cargo xtask site -o target/site
///
/// The explorer is one file, explorer.html, which also opens from disk.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Write the site to this folder; it is created if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Leave out the atlas, which takes longest.
    #[arg(long)]
    explorer: bool,
}

/// How the program of the explorer is compiled.
#[derive(Clone, Copy, Debug)]
pub enum Profile {
    /// Optimized, for the site.
    Browser,
    /// Not optimized: it takes a fifth of the time to compile.
    Dev,
}

/// The host of the explorer's program.
pub const BROWSER: &str = "wasm32-unknown-unknown";

pub fn run(args: &Args) -> Result<Outcome, Error> {
    if args.explorer {
        explorer(&args.output, Profile::Browser, false)?
    } else {
        write(&args.output)?
    }
    Ok(Outcome::Good)
}

/// Writes the whole website to a folder.
pub fn write(folder: &Path) -> Result<(), Error> {
    explorer(folder, Profile::Browser, true)?;
    let atlas = folder.join("atlas");
    fs::create_dir_all(&atlas)?;
    write_atlas(&atlas)?;
    let dead = links::dead(folder)?;
    match dead.is_empty() {
        true => Ok(()),
        false => Err(format!("links to files or places that do not exist:\n{}", dead.join("\n")).into()),
    }
}

/// Writes the atlas to a folder.
fn write_atlas(folder: &Path) -> Result<(), Error> {
    for (path, text) in etw_layouts_cli::atlas::files(&generate::project())? {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

/// Builds the program of the explorer, and writes its page and the documents to a folder.
pub fn explorer(folder: &Path, profile: Profile, has_atlas: bool) -> Result<(), Error> {
    let folder = env::current_dir()?.join(folder).display().to_string();
    let (profile, subfolder) = match profile {
        Profile::Browser => ("browser", "browser"),
        Profile::Dev => ("dev", "debug"),
    };
    cargo(&["build", "--quiet", "-p", "etw-layouts-explorer", "--lib", "--target", BROWSER, "--profile", profile])?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    let program = target.join(BROWSER).join(subfolder).join("etw_layouts_explorer.wasm").display().to_string();
    let mut command = vec!["run", "--quiet", "-p", "etw-layouts-site", "--features", "pages", "--", &program, &folder];
    command.extend(has_atlas.then_some("atlas"));
    cargo(&command)
}

fn cargo(args: &[&str]) -> Result<(), Error> {
    let mut command = Command::new(env::var("CARGO").unwrap_or("cargo".into()));
    command.args(args).current_dir(workspace::root()).env_remove("CARGO_MANIFEST_DIR");
    match command.status()?.success() {
        true => Ok(()),
        false => Err(format!("cargo {} failed; see above, and `rustup target add {BROWSER}`", args[0]).into()),
    }
}
