//! Downloads with limits of time and size.

use super::{MAX_FILE, Progress};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::time::Duration;
use ureq::http::{StatusCode, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

/// Time limit for name resolution, connecting, the start of the response, and each pause within it.
const SILENCE: Duration = Duration::from_secs(20);
/// Time limit for a whole file; those of kernels have 10 to 60 MB.
const WHOLE: Duration = Duration::from_secs(30 * 60);
const REDIRECTS: u32 = 5;
/// Formats of a response. Servers send the compressed format MSFZ only to clients that name it; some refuse clients that accept nothing else.
const FORMATS: &str = "application/msfz0, */*";

/// Error of a download.
pub(super) enum Failure {
    /// The server responded with an error.
    Refused(String),
    /// The server did not respond, or the response is incomplete.
    Broken(String),
}

/// Downloads a file.
pub(super) fn download(url: &str, to: &mut File, progress: &mut Progress) -> Result<(), Failure> {
    let unwritten = |error: io::Error| Failure::Refused(format!("cannot be stored ({error})"));
    let mut answer = agent(url).get(url).header("Accept", FORMATS).call().map_err(|error| Failure::Broken(error.to_string()))?;
    if answer.status() != StatusCode::OK {
        return Err(Failure::Refused(format!("HTTP {}", answer.status())));
    }
    let whole = answer.body().content_length();
    if whole.is_some_and(|whole| whole > MAX_FILE) {
        return Err(too_large());
    }
    let mut body = answer.body_mut().with_config().limit(u64::MAX).reader();
    let mut buffer = vec![0; 64 << 10];
    let mut done = 0;
    loop {
        progress(done, whole);
        let broken = |error| Failure::Broken(format!("stopped after {done} bytes ({error})"));
        let read = body.read(&mut buffer).map_err(broken)?;
        if read == 0 {
            return Ok(());
        }
        done += read as u64;
        if done > MAX_FILE {
            return Err(too_large());
        }
        to.write_all(&buffer[..read]).map_err(unwritten)?;
    }
}

fn agent(url: &str) -> Agent {
    let host = url.parse().ok().and_then(|uri: Uri| uri.host().map(str::to_owned)).unwrap_or_default();
    let is_loopback = host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    // A proxy cannot reach this machine itself.
    let proxy = if is_loopback { None } else { Proxy::try_from_env() };
    let config = Agent::config_builder().proxy(proxy).http_status_as_error(false).max_redirects(REDIRECTS);
    let config = config.timeout_resolve(Some(SILENCE)).timeout_connect(Some(SILENCE)).timeout_recv_response(Some(SILENCE));
    let config = config.timeout_per_read(Some(SILENCE)).timeout_global(Some(WHOLE));
    let config = config.tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build());
    config.user_agent(concat!("etw-layouts/", env!("CARGO_PKG_VERSION"))).build().new_agent()
}

fn too_large() -> Failure {
    Failure::Refused(format!("has more than {} MiB, more than any PDB of a kernel", MAX_FILE >> 20))
}
