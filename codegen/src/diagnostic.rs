//! Errors in specs, each with its place, problem and remedy.

use crate::source::{Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// The errors of a spec set. Never empty.
#[derive(Debug)]
pub struct Errors {
    sources: Sources,
    list: Vec<Diagnostic>,
}

/// One error.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The problem, in one line.
    pub title: String,
    /// The place, with a label.
    pub at: (Span, String),
    /// Other relevant places, with labels.
    pub also: Vec<(Span, String)>,
    /// The remedy.
    pub help: String,
}

impl Errors {
    pub(crate) fn new(sources: Sources, list: Vec<Diagnostic>) -> Self {
        Self { sources, list }
    }

    /// The errors, in the order in which they were found.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// `path:line:column` of an error.
    pub fn place(&self, diagnostic: &Diagnostic) -> String {
        self.sources.place(diagnostic.at.0)
    }

    /// The errors in the format of the Rust compiler, with or without colour. Of very many errors, only the first ones are
    /// included.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let shown = self.list.iter().take(MOST_SHOWN);
        let reports: Vec<_> = shown.map(|diagnostic| renderer.render(&self.report(diagnostic, Level::ERROR))).collect();
        let count = self.list.len();
        let noun = if count == 1 { "error" } else { "errors" };
        let rest = if count > MOST_SHOWN { format!(", of which the first {MOST_SHOWN} are shown") } else { String::new() };
        format!("{}\n\n{count} {noun} in the specs{rest}", reports.join("\n\n"))
    }

    /// Each error without the word `error`, for callers that print it themselves. Of very many errors, only the first ones are
    /// included.
    pub fn messages(&self) -> Vec<String> {
        let report = |diagnostic| Renderer::plain().render(&self.report(diagnostic, Level::ERROR.no_name()));
        self.list.iter().take(MOST_SHOWN).map(report).collect()
    }

    fn report<'a>(&'a self, diagnostic: &'a Diagnostic, level: Level<'a>) -> Vec<Group<'a>> {
        let (span, label) = &diagnostic.at;
        let (same, others): (Vec<_>, Vec<_>) = diagnostic.also.iter().partition(|(other, _)| other.file == span.file);
        let excerpt = Excerpt::around(&self.sources, std::iter::once(*span).chain(same.iter().map(|(span, _)| *span)));
        let mut main = excerpt.snippet().annotation(AnnotationKind::Primary.span(excerpt.range(*span)).label(label));
        for (span, label) in same {
            main = main.annotation(AnnotationKind::Context.span(excerpt.range(*span)).label(label));
        }
        let mut group = level.primary_title(diagnostic.title.as_str()).element(main);
        for (span, label) in others {
            let excerpt = Excerpt::around(&self.sources, std::iter::once(*span));
            group = group.element(excerpt.snippet().annotation(AnnotationKind::Context.span(excerpt.range(*span)).label(label)));
        }
        vec![group.element(Level::HELP.message(diagnostic.help.as_str()))]
    }
}

/// Maximum number of errors shown. Rendering all errors of a damaged file would take minutes.
const MOST_SHOWN: usize = 60;

/// The whole lines of a file that contain some spans.
struct Excerpt<'a> {
    path: &'a str,
    text: &'a str,
    start: usize,
    line: usize,
}

impl<'a> Excerpt<'a> {
    fn around(sources: &'a Sources, spans: impl Iterator<Item = Span> + Clone) -> Self {
        let first = spans.clone().map(|span| span.start).min().unwrap_or(0) as usize;
        let last = spans.clone().map(|span| span.end).max().unwrap_or(0) as usize;
        let file = spans.into_iter().next().map(|span| sources.file(span));
        let (path, text) = file.map_or(("", ""), |file| (file.path.as_str(), file.text.as_str()));
        let start = text[..first].rfind('\n').map_or(0, |at| at + 1);
        let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
        Self { path, text: &text[start..end], start, line: text[..start].matches('\n').count() + 1 }
    }

    fn snippet<T: Clone>(&self) -> Snippet<'a, T> {
        Snippet::source(self.text).path(self.path).line_start(self.line)
    }

    fn range(&self, span: Span) -> core::ops::Range<usize> {
        span.start as usize - self.start..span.end as usize - self.start
    }
}

impl core::fmt::Display for Errors {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl core::error::Error for Errors {}

/// The name among `known` that is most similar to `given`, if one is similar.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .filter(|name| name.len().max(given.len()) <= 128 && !is_remote(given, name))
        .map(|name| (distance(given, name), gap(given, name), name))
        .filter(|(distance, _, name)| *distance <= name.len().max(given.len()).div_ceil(3))
        .min()
        .map(|(.., name)| name)
}

/// The difference of two numbers such as `6.3` and `6.4`, in thousandths; 0 if one is not a number.
fn gap(a: &str, b: &str) -> u64 {
    let number = |text: &str| text.parse::<f64>().ok();
    number(a).zip(number(b)).map_or(0, |(a, b)| ((a - b).abs() * 1000.0) as u64)
}

/// Whether two numbers differ by more than a tenth, although they can have similar digits.
fn is_remote(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    number(a).zip(number(b)).is_some_and(|(a, b)| (a - b).abs() > a.abs().max(b.abs()) / 10.0)
}

/// Whether a name is another one with a typing error: a letter that is wrong, missing, superfluous, or exchanged with another one.
/// Names with other digits or another first letter (`EPROCESS`, `KPROCESS`) are usually different types.
pub(crate) fn is_misspelt(given: &str, known: &str) -> bool {
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let sorted = |name: &str| {
        let mut bytes = name.to_ascii_lowercase().into_bytes();
        bytes.sort();
        bytes
    };
    let first = |name: &str| name.bytes().next().map(|byte| byte.to_ascii_lowercase());
    let is_close = || match distance(given, known) {
        0 | 1 => true,
        2 => sorted(given) == sorted(known),
        _ => false,
    };
    // Short names differ by one letter by chance, and long ones take long to compare.
    (5..=128).contains(&given.len().min(known.len()))
        && given.len().abs_diff(known.len()) <= 1
        && first(given) == first(known)
        && digits(given) == digits(known)
        && is_close()
}

/// The Levenshtein distance, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
