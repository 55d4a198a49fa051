//! Takes values out of a parsed TOML text, with an error for every value that is not valid.

use crate::axis::{Arch, TargetSet, architecture};
use crate::convert;
use crate::diagnostic::{Diagnostic, nearest};
use crate::source::{At, Span};
use crate::syntax::{self, Node, Pieces, TableKind};
use core::ops::Range;
use toml::de::DeValue;

/// Takes values out of a tree, and collects the errors.
pub(super) struct Reader<'e> {
    pub file: usize,
    /// The targets that the source of the current definition covers.
    pub documented: TargetSet,
    /// The comments of the file that are not assigned to an item yet, last first.
    comments: Vec<(usize, String)>,
    /// Whether a table has a key of an earlier form of the language.
    pub has_old_keys: bool,
    errors: &'e mut Vec<Diagnostic>,
}

/// Maximum number of words in a message.
const MOST_LISTED: usize = 40;

/// A table with known keys only.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    inner: syntax::TomlTable<'a>,
    pub span: Span,
    /// Whether it has a key of an earlier form of the language. It then lacks the key that replaced this one.
    has_old_key: bool,
}

/// Other words for keys, which are too different from the key to be found by spelling.
const SYNONYMS: [(&str, &str); 11] = [
    ("since", "in"),
    ("from", "in"),
    ("until", "in"),
    ("versions", "in"),
    ("targets", "in"),
    ("description", "doc"),
    ("comment", "doc"),
    ("field", "member"),
    ("fields", "member"),
    ("length", "size"),
    ("width", "bits"),
];

impl<'e> Reader<'e> {
    pub fn new(errors: &'e mut Vec<Diagnostic>) -> Self {
        Self { file: 0, documented: TargetSet::default(), comments: Vec::new(), has_old_keys: false, errors }
    }

    /// Sets the current file.
    pub fn enter(&mut self, file: usize) {
        self.file = file;
    }

    /// Sets the comments of a file.
    pub fn read_comments(&mut self, table: &Table) {
        let all = syntax::comments(table.inner.source()).into_iter().rev();
        self.comments = all.map(|(at, text)| (at, text.to_owned())).collect();
    }

    /// The comments before a place that are not assigned to an item yet.
    pub fn comments(&mut self, until: usize) -> Vec<String> {
        let mut taken = Vec::new();
        while let Some((_, text)) = self.comments.pop_if(|(at, _)| *at < until) {
            taken.push(text);
        }
        taken
    }

    /// The errors so far.
    pub fn errors(&self) -> &[Diagnostic] {
        self.errors
    }

    /// Whether a file has errors so far.
    pub fn has_error(&self, file: usize) -> bool {
        self.errors.iter().any(|error| error.at.0.file as usize == file)
    }

    pub fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range)
    }

    pub fn error(&mut self, span: Span, title: impl Into<String>, label: impl Into<String>, help: impl Into<String>) {
        self.errors.push(Diagnostic { title: title.into(), at: (span, label.into()), also: Vec::new(), help: help.into() });
    }

    pub fn error_also(&mut self, also: (Span, &str), span: Span, title: String, label: &str, help: &str) {
        let also = vec![(also.0, also.1.to_owned())];
        self.errors.push(Diagnostic { title, at: (span, label.to_owned()), also, help: help.to_owned() });
    }

    /// A table, with an error for every unknown key.
    pub fn known<'a>(&mut self, inner: syntax::TomlTable<'a>) -> Table<'a> {
        let keys = || inner.kind.keys().iter().map(|key| key.name);
        let mut has_old_key = false;
        for entry in inner.entries().filter(|entry| entry.key.is_none()) {
            if let Some(now) = convert::new_key(inner.kind, entry.name) {
                let help = format!("run `etw fmt` to convert the file: it is now {now}");
                self.error(self.span(entry.name_span), format!("old key `{}`", entry.name), "not a key of this table", help);
                (has_old_key, self.has_old_keys) = (true, true);
                continue;
            }
            let synonym = SYNONYMS.iter().find(|(word, key)| *word == entry.name && keys().any(|own| own == *key));
            let help = match synonym.map(|(_, key)| *key).or_else(|| nearest(entry.name, keys())) {
                Some("in") => "write `in` with a range, as in `in = \"6.1..\"`, or remove the key".to_owned(),
                Some(near) => format!("write `{near}`, or remove the key"),
                None => format!("use one of the keys {}", listed(inner.kind)),
            };
            self.error(self.span(entry.name_span), format!("unknown key `{}`", entry.name), "not a key of this table", help);
        }
        Table { inner, span: self.span(inner.span()), has_old_key }
    }

    /// Reports a duplicate header with single brackets.
    pub fn twice(&mut self, range: Range<usize>, key: &str) {
        let (title, help) =
            (format!("duplicate table `[{key}]`"), format!("write `[[{key}]]`, with double brackets, for each entry of a list"));
        self.error(self.span(range), title, "the duplicate", help);
    }

    /// A node as a table, with an error for every unknown key.
    pub fn table<'a>(&mut self, around: &Table<'a>, kind: TableKind, node: &'a Node<'a>) -> Option<Table<'a>> {
        let table = around.inner.inner(kind, node).map(|inner| self.known(inner));
        if table.is_none() {
            let help = format!("write {{ … }} with the keys {}", listed(kind));
            self.error(self.span(node.span()), "expected a table", "not a table", help);
        }
        table
    }

    /// The tables of a list.
    pub fn tables<'a>(&mut self, around: &Table<'a>, key: &str, kind: TableKind) -> Vec<Table<'a>> {
        let entry = around.inner.get(key);
        if let Some(entry) = entry.as_ref().filter(|entry| entry.has_header()) {
            let help = format!("write `[[{key}]]`, with double brackets");
            self.error(
                self.span(entry.name_span.clone()),
                format!("expected a list of tables, found the single table `[{key}]`"),
                "single brackets",
                help,
            );
            return Vec::new();
        }
        let nodes = entry.map(|entry| self.array(entry.value));
        nodes.into_iter().flatten().filter_map(|node| self.table(around, kind, node)).collect()
    }

    /// A string with `\n` as line breaks, even if the file has `\r\n`.
    pub fn string(&mut self, node: &Node) -> Option<At<String>> {
        let span = self.span(node.span());
        let DeValue::String(text) = node.get_ref() else {
            self.error(span, "expected a string", "not a string", "write the value in double quotes");
            return None;
        };
        let text = text.replace("\r\n", "\n");
        if let Some(hidden) = text.chars().find(|&c| is_hidden(c)) {
            let title = format!("string contains the hidden character U+{:04X}", u32::from(hidden));
            let help = "remove it: of the control and invisible characters, only `\\n`, `\\r\\n` and `\\t` are allowed";
            self.error(span, title, "in this string", help);
            return None;
        }
        Some(At::new(text, span))
    }

    pub fn integer(&mut self, node: &Node) -> Option<At<i64>> {
        self.number(node, |text, radix| i64::from_str_radix(text, radix).ok())
    }

    /// The value of a constant. An unsigned value with bit 63 set becomes the signed number with the same bits.
    pub fn value(&mut self, node: &Node) -> Option<At<i64>> {
        let unsigned = |text: &str, radix| u64::from_str_radix(text, radix).ok().map(|value| value as i64);
        self.number(node, |text, radix| i64::from_str_radix(text, radix).ok().or_else(|| unsigned(text, radix)))
    }

    fn number(&mut self, node: &Node, parse: impl Fn(&str, u32) -> Option<i64>) -> Option<At<i64>> {
        let span = self.span(node.span());
        let value = match node.get_ref() {
            DeValue::Integer(n) => parse(n.as_str(), n.radix()),
            _ => None,
        };
        if value.is_none() {
            self.error(span, "expected an integer", "not a 64-bit integer", "write a number such as 8 or 0x08, without quotes");
        }
        value.map(|value| At::new(value, span))
    }

    /// A number of at least `least`, up to 64 bits.
    pub fn count(&mut self, node: &Node, least: u64) -> Option<u64> {
        let span = self.span(node.span());
        let value = match node.get_ref() {
            DeValue::Integer(n) => u64::from_str_radix(n.as_str(), n.radix()).ok(),
            _ => return self.integer(node).and(None),
        };
        if value.is_none_or(|value| value < least) {
            self.error(
                span,
                format!("expected a number of {least} or more"),
                "not such a number",
                "write the number of the declaration",
            );
        }
        value.filter(|value| *value >= least)
    }

    /// A power of two up to `most`.
    pub fn power_of_two(&mut self, node: &Node, most: u64) -> Option<u64> {
        let value = self.count(node, 1)?;
        if !value.is_power_of_two() || value > most {
            let span = self.span(node.span());
            let title = format!("invalid alignment `{value}`: not a power of two up to {most}");
            let label = if value.is_power_of_two() { "too large" } else { "not a power of two" };
            self.error(span, title, label, "write 1, 2, 4, 8, 16 …");
            return None;
        }
        Some(value)
    }

    pub fn array<'a>(&mut self, node: &'a Node<'a>) -> impl Iterator<Item = &'a Node<'a>> + use<'a> {
        let items = match node.get_ref() {
            DeValue::Array(items) => Some(items.iter()),
            _ => {
                self.error(self.span(node.span()), "expected an array", "not an array", "write [ … ]");
                None
            }
        };
        items.into_iter().flatten()
    }

    /// One of a list of words.
    pub fn word<T: Copy>(&mut self, node: &Node, words: &[(&str, T)]) -> Option<T> {
        let At { value, span } = self.string(node)?;
        let found = words.iter().find(|(word, _)| *word == value);
        if found.is_none() {
            let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let arch = architecture(&value).map(Arch::as_str).filter(|arch| all.contains(arch));
            let near = arch.or_else(|| nearest(&value, all.iter().copied()));
            let near = near.map(|near| format!("did you mean `{near}`? Otherwise, ")).unwrap_or_default();
            let help = format!("{near}write one of {}", all.join(", "));
            self.error(span, format!("unknown word `{value}`"), "not allowed here", help);
        }
        found.map(|(_, value)| *value)
    }

    /// Reports an unknown word.
    pub fn unknown<'a>(&mut self, what: &str, word: &At<String>, known: impl Iterator<Item = &'a str> + Clone) {
        let help = match nearest(&word.value, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.clone().count() > MOST_LISTED => format!("choose an existing {what}, or define it"),
            None => format!("write one of {}", known.collect::<Vec<_>>().join(", ")),
        };
        self.error(word.span, format!("unknown {what} `{}`", word.value), "here", help);
    }

    /// A key that is either absent or true.
    pub fn word_true(&mut self, node: &Node) -> bool {
        let is_true = matches!(node.get_ref(), DeValue::Boolean(true));
        if !is_true {
            self.error(self.span(node.span()), "expected `true`", "here", "write `true`, or remove the key");
        }
        is_true
    }
}

/// The keys of a table, for a message. Only specs with a published reference have errata.
fn listed(kind: TableKind) -> String {
    let keys = kind.keys().iter().map(|key| key.name).filter(|key| *key != "errata");
    keys.collect::<Vec<_>>().join(", ")
}

/// Characters that change how other characters are shown. Strings are printed to terminals and to generated code, and compilers reject
/// some of these characters.
fn is_hidden(c: char) -> bool {
    let turns_direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns_direction || c.is_control() && !matches!(c, '\n' | '\t')
}

/// The first string of an array.
fn first_string<'a>(node: &'a Node<'a>) -> Option<&'a str> {
    node.get_ref().as_array()?.first()?.get_ref().as_str()
}

impl<'a> Table<'a> {
    pub fn get(&self, key: &str) -> Option<&'a Node<'a>> {
        Some(self.inner.get(key)?.value)
    }

    /// The names of its keys.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.inner.entries().map(|entry| entry.name)
    }

    /// The piecewise value of a key.
    pub fn pieces(&self, key: &str) -> Option<Pieces<'a>> {
        Some(self.inner.get(key)?.pieces())
    }

    /// Its keys and the tables of its lists, by key, first label or name, and the end of each, in the order of the text.
    pub fn parts(&self) -> Vec<(String, usize)> {
        let mut parts: Vec<(String, usize)> = Vec::new();
        for entry in self.inner.entries() {
            let tables = entry.tables();
            let name = |table: &syntax::TomlTable| {
                table.get("labels").and_then(|labels| first_string(labels.value)).or(table.text("name")).map(str::to_owned)
            };
            parts.extend(tables.iter().filter_map(|table| Some((name(table)?, table.line_end()))));
            if tables.is_empty() {
                parts.push((entry.name.to_owned(), entry.span().end));
            }
        }
        parts.sort_by_key(|(_, end)| *end);
        parts
    }

    /// The start of the table.
    pub fn start(&self) -> usize {
        self.inner.span().start
    }

    /// The end of its own keys and the end of its lists, each with its whole line.
    pub fn ends(&self) -> (usize, usize) {
        self.inner.ends()
    }

    /// The value of a required key.
    pub fn require(&self, reader: &mut Reader, key: &str) -> Option<&'a Node<'a>> {
        let found = self.get(key);
        if found.is_none() && !self.has_old_key {
            reader.error(self.span, format!("missing key `{key}`"), "here", format!("add `{key} = …`"));
        }
        found
    }

    /// The string of a key, or an empty one.
    pub fn text(&self, reader: &mut Reader, key: &str) -> String {
        let text = self.get(key).and_then(|node| reader.string(node));
        text.map(|t| t.value.trim().to_owned()).unwrap_or_default()
    }
}
