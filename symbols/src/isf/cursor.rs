//! A place in JSON text that steps over values without reading them.
//!
//! Of a table's megabytes a few kilobytes are wanted. Quotes and brackets alone tell where a value ends, in a third of the time
//! of reading it; `serde_json` reads what is wanted afterwards. Every JSON text is stepped over, and no text that is cut short.

use std::borrow::Cow;

/// What JSON takes for blanks.
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// Steps over an object. `entry` gets each key and has to step over the value. `None` if this is no object.
    pub(super) fn object(&mut self, mut entry: impl FnMut(&mut Self, Cow<'a, str>) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        loop {
            let key = self.key()?;
            self.take(b':')?;
            entry(self, key)?;
            if self.peek()? == b'}' {
                return self.take(b'}');
            }
            self.take(b',')?;
        }
    }

    /// Steps over a value, and gives its text.
    pub(super) fn value(&mut self) -> Option<&'a str> {
        self.peek()?;
        let bytes = self.text.as_bytes();
        let (start, mut at, mut depth) = (self.at, self.at, 0_usize);
        loop {
            let byte = *bytes.get(at)?;
            match byte {
                b'"' => at = after_string(bytes, at)?,
                b'{' | b'[' => {
                    at += 1;
                    depth += 1;
                    continue;
                }
                b'}' | b']' if depth > 0 => {
                    at += 1;
                    depth -= 1;
                }
                // What follows a number or a word.
                b'}' | b']' | b',' if depth == 0 => break,
                _ => {
                    at += 1;
                    continue;
                }
            }
            if depth == 0 {
                break;
            }
        }
        self.at = at;
        Some(self.text[start..at].trim_end_matches(BLANKS)).filter(|value| !value.is_empty())
    }

    /// Whether nothing but blanks follows.
    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The byte after blanks, to which it moves.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&byte| !BLANKS.contains(&byte.into()))?;
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn key(&mut self) -> Option<Cow<'a, str>> {
        self.peek()?;
        let start = self.at;
        self.at = after_string(self.text.as_bytes(), start)?;
        let quoted = &self.text[start..self.at];
        let plain = &quoted[1..quoted.len() - 1];
        if plain.contains('\\') { serde_json::from_str(quoted).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(plain)) }
    }
}

/// Where the string that begins at a place ends.
fn after_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return (bytes[start] == b'"').then_some(at + 1),
            // What is escaped is one byte at least.
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
