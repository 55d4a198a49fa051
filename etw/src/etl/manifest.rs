//! `manifest`.

use etw_layouts_catalog::{PLACEHOLDER, builds, find, library, manifest};
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_codegen::nearest;
use std::io::{self, Write};

/// Print the manifest of a provider as XML, from the built-in catalogue of the providers of Windows and .NET.
///
/// The catalogue states the names and types of the fields of events for several Windows builds. The manifest has the events of
/// the newest of these builds that is not after --build. Comments state the source. A manifest needs numbers of tasks, opcodes
/// and levels, and keyword masks. Most are not in the catalogue: comments mark the placeholders.
///
///     etw etl manifest Microsoft-Windows-Kernel-Process --build 22621
///     etw etl manifest {22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716}
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Name or GUID of the provider.
    #[arg(value_name = "PROVIDER")]
    provider: String,
    /// Build number of Windows, such as 22621. By default, the newest known build.
    #[arg(long, value_name = "BUILD", default_value_t = u32::MAX, hide_default_value = true, value_parser = build)]
    build: u32,
}

fn build(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "invalid build number; expected a number such as 22621".to_owned())
}

/// Prints the manifest.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let Some(provider) = find(&args.provider, args.build) else {
        return Err(unknown(&args.provider).into());
    };
    let known = builds(provider);
    if known.first().is_some_and(|oldest| *oldest > args.build) {
        let known = known.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let (name, build) = (provider.name(), args.build);
        return Err(format!("no manifest of {name} for build {build} or earlier; give one of the known builds: {known}").into());
    }
    let text = manifest(provider, args.build);
    if text.contains(PLACEHOLDER) {
        eprintln!(
            "note: numbers with the comment `{PLACEHOLDER}` are not those of the provider; do not enable a provider with them"
        );
    }
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write: {error}").into()),
        _ => Ok(Outcome::Good),
    }
}

/// The message for an unknown provider, with known names that contain the text or are similar to it.
fn unknown(name: &str) -> String {
    let wanted = name.to_ascii_lowercase();
    let mut similar: Vec<_> = library().providers().map(|provider| provider.name()).collect();
    let near = nearest(name, similar.iter().copied().filter(|known| !known.is_empty()));
    similar.retain(|known| known.to_ascii_lowercase().contains(&wanted));
    similar.sort_unstable();
    similar.dedup();
    match (similar.len(), near) {
        (0, Some(near)) => format!("unknown provider `{name}`; did you mean `{near}`?"),
        (0, None) => {
            format!("unknown provider `{name}`; the catalogue has manifest providers of Windows and .NET by name or GUID")
        }
        (count, _) => {
            similar.truncate(8);
            let more = if count > similar.len() { ", …" } else { "" };
            format!("unknown provider `{name}`; known names with this text: {}{more}", similar.join(", "))
        }
    }
}
