//! Symbol servers: a PDB is downloaded into a cache.

use super::download::download;
use super::search::{Problem, Search, compressed, unreadable};
use super::{Progress, Reason, cabinet};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Display;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

/// Characters that are escaped in a URL: all except letters, digits and these.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'-').remove(b'~').remove(b'+');

impl Search<'_> {
    pub(super) fn server(&mut self, base: &str, caches: &[&Path], progress: &mut Progress) -> Option<PathBuf> {
        let name = &self.pdb.name;
        for file in [name, &compressed(name)] {
            let url = format!("{base}/{}/{}/{}", escaped(name), self.key, escaped(file));
            let kept = self.put(self.nearest(caches), |new| {
                download(&url, new, progress)?;
                expand_in_place(new)
            });
            match kept {
                Ok(kept) => return Some(kept),
                Err(problem) => {
                    let is_reachable = problem.0 != Reason::Unreachable;
                    self.note(url, problem);
                    // A server that does not respond is not tried again.
                    if !is_reachable {
                        break;
                    }
                }
            }
        }
        None
    }
}

/// Expands a downloaded file if it is a cabinet.
fn expand_in_place(file: &mut File) -> Result<(), Problem> {
    if !unreadable(cabinet::is(file))? {
        return Ok(());
    }
    // At most MAX_FILE bytes were downloaded.
    let mut packed = Vec::new();
    unreadable(file.rewind().and_then(|()| file.read_to_end(&mut packed)))?;
    unreadable(file.set_len(0).and_then(|()| file.rewind()))?;
    cabinet::expand(Cursor::new(packed), file)
}

fn escaped(name: &str) -> impl Display {
    utf8_percent_encode(name, ESCAPED)
}
