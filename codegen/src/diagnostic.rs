//! Errors in specs, each with its place, what is wrong and what to do.

use crate::source::{Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Everything that is wrong with a spec set. Never empty.
#[derive(Debug)]
pub struct Errors {
    sources: Sources,
    list: Vec<Diagnostic>,
}

/// One error.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub title: String,
    /// Where, and what is to be seen there.
    pub at: (Span, String),
    /// Other places that matter.
    pub also: Vec<(Span, String)>,
    /// What to do.
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

    /// The errors as the compiler shows its own, with or without colour.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let reports: Vec<_> = self.list.iter().map(|diagnostic| renderer.render(&self.report(diagnostic))).collect();
        let count = self.list.len();
        let noun = if count == 1 { "error" } else { "errors" };
        format!("{}\n\n{count} {noun} in the specs", reports.join("\n\n"))
    }

    fn report<'a>(&'a self, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
        let (span, label) = &diagnostic.at;
        let mut main = self.snippet(*span).annotation(AnnotationKind::Primary.span(range(*span)).label(label));
        let mut others = Vec::new();
        for (span, label) in &diagnostic.also {
            let annotation = AnnotationKind::Context.span(range(*span)).label(label);
            if span.file == diagnostic.at.0.file {
                main = main.annotation(annotation);
            } else {
                others.push(self.snippet(*span).annotation(annotation));
            }
        }
        let mut group = Level::ERROR.primary_title(diagnostic.title.as_str()).element(main);
        for other in others {
            group = group.element(other);
        }
        vec![group.element(Level::HELP.message(diagnostic.help.as_str()))]
    }

    fn snippet<'a, T: Clone>(&'a self, span: Span) -> Snippet<'a, T> {
        let file = self.sources.file(span);
        Snippet::source(file.text.as_str()).path(file.path.as_str())
    }
}

impl core::fmt::Display for Errors {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl core::error::Error for Errors {}

fn range(span: Span) -> core::ops::Range<usize> {
    span.start as usize..span.end as usize
}

/// The name among `known` that is nearest to `given`, if one is near.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (distance(given, name), name))
        .filter(|(distance, name)| *distance <= name.len().max(given.len()) / 3 + 1)
        .min()
        .map(|(_, name)| name)
}

/// Levenshtein's distance, without regard to case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).flat_map(char::to_lowercase).enumerate() {
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
