//! Spec texts and places in them.

use std::path::Path;

/// The texts of a spec set, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

/// One spec file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path that errors show.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Whether it is a standard file, which completes the specs of a user.
    pub standard: bool,
}

/// A range of bytes in one file of a [`Sources`].
///
/// The default is the place of a value that no file states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub(crate) file: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A value and the place that states it.
#[derive(Clone, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// The place in the spec.
    pub span: Span,
}

impl Sources {
    /// Adds a file. The path is only shown, never opened.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.push(SourceFile { path: path.into(), text: text.into(), standard: false });
    }

    /// Adds a standard file, which completes the specs of a user.
    pub(crate) fn add_standard(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.push(SourceFile { path: path.into(), text: text.into(), standard: true });
    }

    /// Replaces the text of a file.
    pub(crate) fn replace(&mut self, file: usize, text: String) {
        self.files[file].text = text;
    }

    /// The files.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The file that a span points into.
    pub fn file(&self, span: Span) -> &SourceFile {
        &self.files[span.file as usize]
    }

    /// The text at a span; `None` if it is empty or in no file.
    pub fn literal(&self, span: Span) -> Option<&str> {
        self.files.get(span.file as usize)?.text.get(span.start as usize..span.end as usize).filter(|text| !text.is_empty())
    }

    /// The index of the file that a span points into.
    pub fn index(&self, span: Span) -> usize {
        span.file as usize
    }

    /// The start of a span in its file, in bytes.
    pub fn start(&self, span: Span) -> usize {
        span.start as usize
    }

    /// `path:line:column` of a span's start, counted from 1.
    pub fn place(&self, span: Span) -> String {
        let file = self.file(span);
        let before = &file.text[..span.start as usize];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        format!("{}:{line}:{column}", file.path)
    }
}

impl Span {
    pub(crate) fn new(file: usize, range: core::ops::Range<usize>) -> Self {
        Self { file: file as u32, start: range.start as u32, end: range.end as u32 }
    }
}

impl<T> From<T> for At<T> {
    /// A value that no file states.
    fn from(value: T) -> Self {
        Self::new(value, Span::default())
    }
}

impl<T> At<T> {
    pub(crate) fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// The specs of Windows, with which [`Builder`](crate::Builder) completes other specs.
#[cfg(feature = "standard")]
pub(crate) const STANDARD: &[(&str, &str)] = etw_layouts_specs::FILES;
#[cfg(not(feature = "standard"))]
pub(crate) const STANDARD: &[(&str, &str)] = &[];

/// The file of this project that defines a type of Windows, such as `specs/nt/LIST_ENTRY.toml`.
pub(crate) fn home(name: &str) -> Option<&'static str> {
    named(STANDARD, name).map(|(path, _)| path)
}

/// The types of Windows that complete other specs.
pub(crate) fn standard_types<'a>() -> impl Iterator<Item = &'a str> + Clone {
    let files = STANDARD.iter().filter(|(path, _)| !path.contains("/events/"));
    let names = files.filter_map(|(path, _)| Path::new(path).file_stem()?.to_str());
    // The files of the axis and of scalars have lower-case names.
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// The file with a name, and its text.
pub(crate) fn named<'a>(files: &[(&'a str, &'a str)], name: &str) -> Option<(&'a str, &'a str)> {
    files.iter().copied().find(|(path, _)| Path::new(path).file_stem().is_some_and(|stem| stem == name))
}
