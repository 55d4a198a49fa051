//! Downloads that can be continued.

use super::{MAX_FILE, Progress};
use std::fmt::{self, Display, Formatter};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::IpAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use ureq::http::{HeaderMap, Response, StatusCode, Uri, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

const CONNECT: Duration = Duration::from_secs(20);
/// For the answer to begin, between two pieces of it, and for the whole of a short one.
const SILENCE: Duration = Duration::from_secs(20);
/// Bytes a second that a server gives at least, but for the first seconds.
const SLOWEST: u64 = 4 << 10;
const FIRST: Duration = Duration::from_secs(8);
const REDIRECTS: u32 = 5;
/// How often a transfer that breaks off is taken up again, as long as each attempt brings it further.
const ATTEMPTS: u32 = 8;

/// Why there is no file.
pub(super) enum Failure {
    /// The server answers, but does not give it.
    Missing(String),
    /// The server does not answer, or stops in the middle.
    Broken(String),
    /// The server gives so little in so long a time that it may never end.
    Slow(String),
    /// The file cannot be written.
    Disk(String),
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (Failure::Missing(reason) | Failure::Broken(reason) | Failure::Slow(reason) | Failure::Disk(reason)) = self;
        f.write_str(reason)
    }
}

/// A file that is here, whole or not. Its tag says what it is part of, and is locked while it is written.
pub(super) struct Part {
    pub(super) path: PathBuf,
    tag: File,
}

impl Part {
    fn tag_path(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".tag");
        name.into()
    }

    /// How much of a file of this URL is here, and how the server names that version of it.
    fn here(path: &Path, url: &str) -> Option<(u64, String)> {
        let tag = fs::read_to_string(Part::tag_path(path)).ok()?;
        let (of, version) = tag.split_once('\n')?;
        let length = fs::metadata(path).ok()?.len();
        (of == url && length > 0 && !version.is_empty()).then(|| (length, version.to_owned()))
    }

    fn open(path: &Path) -> io::Result<Part> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let tag = File::options().create(true).truncate(false).write(true).open(Part::tag_path(path))?;
        match tag.try_lock() {
            Err(TryLockError::WouldBlock) => Err(io::Error::other("another process is downloading it: wait for that")),
            // A file system without locks.
            Err(TryLockError::Error(_)) | Ok(()) => Ok(Part { path: path.to_owned(), tag }),
        }
    }

    /// The file, to be written from `start` on. A version that is new is noted, to be able to continue.
    fn begin(&mut self, url: &str, start: u64, version: Option<String>) -> io::Result<File> {
        let mut file = File::options().create(true).truncate(false).write(true).open(&self.path)?;
        if start > 0 && file.metadata()?.len() != start {
            return Err(io::Error::other("another process wrote to it meanwhile: try again"));
        }
        file.set_len(start)?;
        file.seek(SeekFrom::Start(start))?;
        if start == 0 {
            self.tag.set_len(0)?;
            self.tag.write_all(format!("{url}\n{}", version.unwrap_or_default()).as_bytes())?;
        }
        Ok(file)
    }

    /// Removes what is left of it.
    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(Part::tag_path(&self.path));
    }
}

pub(super) struct Client {
    agent: Agent,
    /// For this very machine, which no proxy reaches.
    loopback: Agent,
}

impl Client {
    pub(super) fn new() -> Client {
        let agent = |proxy| {
            let config = Agent::config_builder().proxy(proxy).http_status_as_error(false).max_redirects(REDIRECTS);
            let config = config.timeout_resolve(Some(CONNECT)).timeout_connect(Some(CONNECT));
            let config = config.timeout_recv_response(Some(SILENCE)).timeout_per_read(Some(SILENCE));
            let config = config.tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build());
            config.user_agent(concat!("etw-layouts/", env!("CARGO_PKG_VERSION"))).build().new_agent()
        };
        Client { agent: agent(Proxy::try_from_env()), loopback: agent(None) }
    }

    /// A short text.
    pub(super) fn text(&self, url: &str, limit: u64) -> Result<String, Failure> {
        let mut answer = self.get(url, None, Some(SILENCE))?;
        if answer.status() != StatusCode::OK {
            return Err(missing(answer.status()));
        }
        let read = answer.body_mut().with_config().limit(limit).lossy_utf8(true).read_to_string();
        read.map_err(|error| Failure::Broken(error.to_string()))
    }

    /// Downloads a file into `path`, or what is missing of it.
    pub(super) fn download(&self, url: &str, path: &Path, progress: &mut Progress) -> Result<Part, Failure> {
        let mut longest = 0;
        let mut result = self.attempt(url, path, progress);
        for _ in 1..ATTEMPTS {
            let here = Part::here(path, url).map_or(0, |(length, _)| length);
            if !matches!(result, Err(Failure::Broken(_))) || here <= longest {
                break;
            }
            longest = here;
            result = self.attempt(url, path, progress);
        }
        result
    }

    fn attempt(&self, url: &str, path: &Path, progress: &mut Progress) -> Result<Part, Failure> {
        let here = Part::here(path, url);
        let mut answer = self.get(url, here.as_ref(), None)?;
        let start = match (answer.status(), here) {
            (StatusCode::OK, _) => 0,
            (StatusCode::PARTIAL_CONTENT, Some((length, _))) if first_byte(&answer) == Some(length) => length,
            (StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE, Some(_)) => {
                // What is here is no beginning of what the server has.
                answer = self.get(url, None, None)?;
                0
            }
            (status, _) => return Err(missing(status)),
        };
        if answer.status() != StatusCode::OK && start == 0 {
            return Err(missing(answer.status()));
        }
        let whole = answer.body().content_length().and_then(|rest| rest.checked_add(start));
        if whole.is_some_and(|whole| whole > MAX_FILE) {
            return Err(too_large());
        }
        let mut part = Part::open(path).map_err(|error| unwritten(path, &error))?;
        let version = version(answer.headers()).filter(|_| answer.status() == StatusCode::OK);
        let file = part.begin(url, start, version).map_err(|error| unwritten(path, &error))?;
        match receive(answer, file, path, start..whole.unwrap_or(u64::MAX), progress) {
            Ok(()) => Ok(part),
            Err(failure) => {
                if matches!(failure, Failure::Missing(_)) {
                    part.remove();
                }
                Err(failure)
            }
        }
    }

    /// Asks for a URL, or for what follows the beginning that is here, if the server still has that version. The body may take
    /// so long, or as long as it takes.
    fn get(&self, url: &str, here: Option<&(u64, String)>, body: Option<Duration>) -> Result<Response<Body>, Failure> {
        let host = url.parse().ok().and_then(|uri: Uri| uri.host().map(str::to_owned)).unwrap_or_default();
        let is_loopback = host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        let mut request = if is_loopback { &self.loopback } else { &self.agent }.get(url);
        if let Some((length, version)) = here {
            request = request.header(header::RANGE, format!("bytes={length}-")).header(header::IF_RANGE, version);
        }
        request.config().timeout_recv_body(body).build().call().map_err(|error| Failure::Broken(error.to_string()))
    }
}

/// Writes a body to the end of a file, and insists on its length.
fn receive(
    mut answer: Response<Body>,
    mut file: File,
    path: &Path,
    bytes: Range<u64>,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let whole = (bytes.end != u64::MAX).then_some(bytes.end);
    // What is too large is for us to tell from what breaks off.
    let mut body = answer.body_mut().with_config().limit(u64::MAX).reader();
    let mut buffer = vec![0; 64 << 10];
    let mut done = bytes.start;
    let begun = Instant::now();
    loop {
        progress(done, whole);
        let read = match body.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => return Err(Failure::Broken(format!("broke off after {done} bytes ({error})"))),
        };
        done += read as u64;
        if done > MAX_FILE {
            return Err(too_large());
        }
        file.write_all(&buffer[..read]).map_err(|error| unwritten(path, &error))?;
        if is_slow(done - bytes.start, begun.elapsed()) {
            return Err(Failure::Slow(format!("gives less than {} KiB a second: {done} bytes are here", SLOWEST >> 10)));
        }
    }
    match whole {
        Some(whole) if done < whole => Err(Failure::Broken(format!("broke off after {done} of {whole} bytes"))),
        _ => Ok(()),
    }
}

/// Whether a server has given too little in a time.
fn is_slow(received: u64, elapsed: Duration) -> bool {
    elapsed > FIRST + Duration::from_secs(received / SLOWEST)
}

fn too_large() -> Failure {
    Failure::Missing(format!("has more than {} MiB, which is no PDB of a kernel", MAX_FILE >> 20))
}

/// What a server says that distinguishes this version of the file from any other; a weak tag does not.
fn version(headers: &HeaderMap) -> Option<String> {
    let value = |name| headers.get(name).and_then(|value: &header::HeaderValue| value.to_str().ok());
    let strong = value(header::ETAG).filter(|tag| !tag.starts_with("W/"));
    strong.or(value(header::LAST_MODIFIED)).map(str::to_owned)
}

/// The first byte of a partial answer.
fn first_byte(answer: &Response<Body>) -> Option<u64> {
    let range = answer.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

fn missing(status: StatusCode) -> Failure {
    Failure::Missing(format!("HTTP {status}"))
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::Disk(format!("cannot be written to {} ({error})", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{Duration, is_slow};

    /// A byte a second ends; a slow line does not, however long it takes.
    #[test]
    fn slow_servers() {
        let slow = |bytes: u64, seconds: u64| is_slow(bytes, Duration::from_secs(seconds));
        assert!(slow(9, 9) && slow(1 << 20, 400));
        assert!(!slow(7, 7) && !slow(100 << 20, 3600));
    }
}
