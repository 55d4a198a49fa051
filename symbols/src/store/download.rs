//! Downloads with limits of time and size.

use super::search::Problem;
use super::{MAX_FILE, Progress, Reason};
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
/// Microsoft's server sends a PDB in the container MSFZ to a client that names it.
const ACCEPT: &str = "application/msfz0, */*";

/// Downloads a file.
pub(super) fn download(url: &str, to: &mut File, progress: &mut Progress) -> Result<(), Problem> {
    let unwritten = |error: io::Error| (Reason::Refused, format!("cannot be stored ({error})"));
    let failed = |error: ureq::Error| (Reason::Unreachable, error.to_string());
    let mut answer = agent(url).get(url).header("Accept", ACCEPT).call().map_err(failed)?;
    let reason = match answer.status() {
        StatusCode::OK => None,
        StatusCode::NOT_FOUND | StatusCode::GONE => Some(Reason::NotFound),
        StatusCode::TOO_MANY_REQUESTS => Some(Reason::Unreachable),
        status if status.is_server_error() => Some(Reason::Unreachable),
        _ => Some(Reason::Refused),
    };
    if let Some(reason) = reason {
        return Err((reason, format!("HTTP {}", answer.status())));
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
        let broken = |error| (Reason::Unreachable, format!("stopped after {done} bytes ({error})"));
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

fn too_large() -> Problem {
    (Reason::Unusable, format!("has more than {} MiB, the limit for PDBs", MAX_FILE >> 20))
}
