//! A minimal symbol server on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The response for a path.
#[derive(Clone)]
pub enum Entry {
    File(Vec<u8>),
    /// A file, and the number of bytes that are sent before the connection breaks.
    Cut(Vec<u8>, usize),
    /// Zeros, as long as the client reads.
    Endless,
    Status(u16),
    Redirect(String),
}

pub struct Server {
    address: SocketAddr,
    entries: Arc<Mutex<BTreeMap<String, Entry>>>,
    requests: Arc<Mutex<Vec<(String, String)>>>,
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
                    // A client may close the connection: some tests do so intentionally.
                    let _ = answer(&stream, &entries.lock().unwrap(), &requests);
                }
            }
        });
        Server { address, entries, requests, stopping, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/symbols", self.address)
    }

    /// Adds an entry below `/symbols/`.
    pub fn put(&self, path: &str, entry: Entry) {
        self.entries.lock().unwrap().insert(format!("/symbols/{path}"), entry);
    }

    /// The paths of the requests since the last call.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.requests.lock().unwrap()).into_iter().map(|(path, _)| path).collect()
    }

    /// The formats that the requests since the last call accept.
    pub fn accepted(&self) -> Vec<String> {
        std::mem::take(&mut *self.requests.lock().unwrap()).into_iter().map(|(_, accepted)| accepted).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn answer(
    mut stream: &TcpStream,
    entries: &BTreeMap<String, Entry>,
    requests: &Mutex<Vec<(String, String)>>,
) -> std::io::Result<()> {
    let lines: Vec<_> = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let Some(path) = lines.first().and_then(|line| line.split(' ').nth(1)) else { return Ok(()) };
    let accepted = lines.iter().find_map(|line| line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("accept")));
    requests.lock().unwrap().push((path.to_owned(), accepted.map(|(_, formats)| formats.to_owned()).unwrap_or_default()));
    let (body, cut) = match entries.get(path) {
        Some(Entry::File(body)) => (body, usize::MAX),
        Some(Entry::Cut(body, cut)) => (body, *cut),
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
    let length = body.len();
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&body[..cut.min(length)])
}
