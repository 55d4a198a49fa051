//! `manifest`.

use etw_layouts_catalog::{find, library, manifest};
use etw_layouts_cli::{Error, Outcome};
use std::io::{self, Write};

/// Print the manifest of a provider as XML, from the built-in catalogue of Windows' own providers.
///
/// The catalogue states the names and types of the fields of events for several Windows builds. The manifest has the events of
/// the newest of these builds that is not after --build. Comments state the source, and mark inferred numbers and fields.
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
    #[arg(long, value_name = "BUILD", default_value_t = u32::MAX, hide_default_value = true)]
    build: u32,
}

/// Prints the manifest.
///
/// # Errors
///
/// The catalogue does not have the provider, or the output cannot be written.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let Some(provider) = find(&args.provider, args.build) else {
        return Err(unknown(&args.provider).into());
    };
    match io::stdout().lock().write_all(manifest(provider, args.build).as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write: {error}").into()),
        _ => Ok(Outcome::Good),
    }
}

/// The message for an unknown provider, with known names that contain the text.
fn unknown(name: &str) -> String {
    let wanted = name.to_ascii_lowercase();
    let mut similar: Vec<_> = library().providers().map(|provider| provider.name()).collect();
    similar.retain(|known| known.to_ascii_lowercase().contains(&wanted));
    similar.sort_unstable();
    similar.dedup();
    match similar.len() {
        0 => format!("unknown provider `{name}`; the catalogue has manifest providers of Windows and .NET by name or GUID"),
        count => {
            similar.truncate(8);
            let more = if count > similar.len() { ", …" } else { "" };
            format!("unknown provider `{name}`; known names with this text: {}{more}", similar.join(", "))
        }
    }
}
