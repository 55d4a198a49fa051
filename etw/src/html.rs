//! HTML and SVG as text, with balanced elements and escaped characters.

use std::fmt::{self, Display, Write};

/// A page that is being built.
#[derive(Default)]
pub struct Html {
    text: String,
    parts: Vec<(String, String)>,
}

/// The attributes of an element.
pub type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

impl Html {
    /// An element with the content that a function adds.
    pub fn el(&mut self, tag: &str, attributes: Attributes, inside: impl FnOnce(&mut Self)) {
        self.open(tag, attributes);
        self.text.push('>');
        inside(self);
        let _ = write!(self.text, "</{tag}>");
    }

    /// An element that contains a text.
    pub fn leaf(&mut self, tag: &str, attributes: Attributes, text: impl Display) {
        self.el(tag, attributes, |html| html.text(text));
    }

    /// A heading that begins a part of the page.
    pub fn part(&mut self, id: &str, title: impl Display) {
        let title = title.to_string();
        self.leaf("h2", &[("id", &id)], &title);
        self.parts.push((id.to_owned(), title));
    }

    /// The ids and titles of the parts so far.
    pub fn parts(&self) -> &[(String, String)] {
        &self.parts
    }

    /// An empty element.
    pub fn void(&mut self, tag: &str, attributes: Attributes) {
        self.open(tag, attributes);
        self.text.push_str("/>");
    }

    /// A text.
    pub fn text(&mut self, text: impl Display) {
        let _ = write!(Escaped(&mut self.text), "{text}");
    }

    /// A link.
    pub fn link(&mut self, to: impl Display, text: impl Display) {
        self.leaf("a", &[("href", &to)], text);
    }

    /// The whole document.
    pub fn document(self) -> String {
        format!("<!doctype html>\n{}\n", self.text)
    }

    /// The content without a document around it.
    pub fn fragment(self) -> String {
        self.text
    }

    fn open(&mut self, tag: &str, attributes: Attributes) {
        let _ = write!(self.text, "<{tag}");
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"");
            self.text(value);
            self.text.push('"');
        }
    }
}

struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(is_special) {
            self.0.push_str(&rest[..at]);
            let mut after = rest[at..].chars();
            match after.next() {
                Some('<') => self.0.push_str("&lt;"),
                Some('>') => self.0.push_str("&gt;"),
                Some('&') => self.0.push_str("&amp;"),
                Some('"') => self.0.push_str("&quot;"),
                _ => self.0.push('\u{fffd}'),
            }
            rest = after.as_str();
        }
        self.0.push_str(rest);
        Ok(())
    }
}

/// Whether a character must be escaped. HTML and XML do not allow control characters.
fn is_special(c: char) -> bool {
    matches!(c, '<' | '>' | '&' | '"') || c.is_control() && !matches!(c, '\n' | '\t')
}
