//! A symbol server on loopback, no larger than its tests need.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What is at a path.
#[derive(Clone)]
pub enum Entry {
    File(Vec<u8>),
    /// A file under another version, and how many bytes of it each answer sends before the connection breaks.
    Cut(&'static str, Vec<u8>, usize),
    /// Zeros, as long as anybody reads.
    Endless,
    Status(u16),
    Redirect(String),
}

pub struct Server {
    address: SocketAddr,
    entries: Arc<Mutex<BTreeMap<String, Entry>>>,
    requests: Arc<Mutex<Vec<String>>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (entries, requests, stopping) = <(Arc<Mutex<_>>, Arc<Mutex<_>>, Arc<AtomicBool>)>::default();
        let thread = std::thread::spawn({
            let (entries, requests, stopping) = (Arc::clone(&entries), Arc::clone(&requests), Arc::clone(&stopping));
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if stopping.load(Ordering::SeqCst) {
                        break;
                    }
                    // A client that hangs up is a test's own doing.
                    let _ = answer(&stream, &entries.lock().unwrap(), &requests);
                }
            }
        });
        Server { address, entries, requests, stopping, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/symbols", self.address)
    }

    /// Puts something below `/symbols/`.
    pub fn put(&self, path: &str, entry: Entry) {
        self.entries.lock().unwrap().insert(format!("/symbols/{path}"), entry);
    }

    /// The requests so far: path and, if there is one, range. They are forgotten.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn answer(mut stream: &TcpStream, entries: &BTreeMap<String, Entry>, requests: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let lines: Vec<_> = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        let field = |line: &&String| line.split(':').next().is_some_and(|field| field.eq_ignore_ascii_case(name));
        lines.iter().skip(1).find(field).and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned())
    };
    let Some(path) = lines.first().and_then(|line| line.split(' ').nth(1)) else { return Ok(()) };
    let range = header("range");
    requests.lock().unwrap().push([path, range.as_deref().unwrap_or_default()].join(" ").trim().to_owned());
    let (version, body, cut) = match entries.get(path) {
        Some(Entry::File(body)) => ("\"1\"", body, usize::MAX),
        Some(Entry::Cut(version, body, cut)) => (*version, body, *cut),
        Some(Entry::Endless) => {
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&[0; 1 << 16])?;
            }
        }
        Some(Entry::Status(status)) => {
            return write!(stream, "HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        Some(Entry::Redirect(to)) => {
            return write!(stream, "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        None => return write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    };
    let range = range.filter(|_| header("if-range").is_some_and(|of| of == version));
    let start: Option<usize> = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    let rest = &body[start.unwrap_or(0).min(body.len())..];
    let status = start.map_or("200 OK".to_owned(), |start| {
        format!("206 Partial Content\r\nContent-Range: bytes {start}-{}/{}", body.len() - 1, body.len())
    });
    let length = rest.len();
    write!(stream, "HTTP/1.1 {status}\r\nETag: {version}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&rest[..cut.min(length)])
}
