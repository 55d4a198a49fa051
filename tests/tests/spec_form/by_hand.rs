//! Rewrites spec files with the same facts in another order, spacing and spelling, and with comments anywhere.

use core::ops::Range;
use etw_layouts_codegen::syntax::{Entry, Node, TableKind, Tree, key};
use oorandom::Rand32;

/// The kinds of tables in lists. All other tables in a value are pieces.
const KEYED: [TableKind; 3] = [TableKind::Member, TableKind::Constant, TableKind::Erratum];

/// An author with a random style.
pub struct Hand {
    random: Rand32,
    with_comments: bool,
    comments: usize,
}

impl Hand {
    /// An author whose style depends only on the seed.
    pub fn new(seed: u64, with_comments: bool) -> Self {
        Self { random: Rand32::new(seed), with_comments, comments: 0 }
    }

    /// A file in the author's style. For a definition, the comments of the file are left out.
    pub fn written(&mut self, path: &str, text: &str) -> String {
        let tree = Tree::parse(text).0;
        match tree.root().kind {
            TableKind::File => self.definition(text, &tree),
            TableKind::Axis if self.with_comments => self.lines(text),
            // Other files keep the form of their authors.
            TableKind::Axis | TableKind::Scalars | TableKind::Globals | TableKind::Events | TableKind::Providers => {
                text.to_owned()
            }
            sort => panic!("{path} is {sort:?}"),
        }
    }

    /// An axis with additional comments.
    fn lines(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut is_string = false;
        for line in text.lines() {
            if !is_string {
                out += &self.space();
            }
            out += line;
            is_string ^= line.matches("\"\"\"").count() == 1;
            if !is_string {
                out += &self.remark();
            }
            out += "\n";
        }
        out
    }

    fn definition(&mut self, text: &str, tree: &Tree) -> String {
        let mut out = self.space();
        for entry in tree.root().entries() {
            let Some(table) = entry.tables().pop() else { panic!("a file without a subject") };
            out += &format!("[{}]{}\n", entry.name, self.remark());
            let (lists, plain): (Vec<_>, Vec<_>) = table.entries().partition(|entry| entry.name == "members" && self.chance(80));
            for entry in self.shuffled(plain) {
                out += &self.statement(text, &entry);
            }
            for member in lists.iter().flat_map(Entry::tables) {
                out += &self.space();
                out += &format!("{}[[member]]{}\n", self.blanks(), self.remark());
                for entry in self.shuffled(member.entries().collect()) {
                    out += &self.statement(text, &entry);
                }
            }
        }
        out + &self.space()
    }

    /// One or several lines for a key of a table with a header.
    fn statement(&mut self, text: &str, entry: &Entry) -> String {
        let mut out = self.space();
        match entry.value.get_ref().as_table() {
            Some(table) if self.chance(50) => {
                for (scope, value) in table {
                    let value = self.value(text, value);
                    out += &format!("{}{}.{}{}\n", self.blanks(), entry.name, &text[scope.span()], self.equals(&value));
                }
            }
            _ => {
                let value = self.value(text, entry.value);
                out += &format!("{}{}{}{}\n", self.blanks(), &text[entry.name_span.clone()], self.equals(&value), self.remark());
            }
        }
        out
    }

    fn value(&mut self, text: &str, node: &Node) -> String {
        if let Some(items) = node.get_ref().as_array() {
            let items: Vec<String> = items.iter().map(|item| self.value(text, item)).collect();
            return self.list('[', &items, ']');
        }
        if let Some(table) = node.get_ref().as_table() {
            let pairs: Vec<(Range<usize>, &Node)> = table.iter().map(|(key, value)| (key.span(), value)).collect();
            // The order of pieces is that of their author.
            let has_keys = table.iter().all(|(name, _)| KEYED.iter().any(|sort| key(*sort, name.get_ref()).is_some()));
            let pairs = if has_keys { self.shuffled(pairs) } else { pairs };
            let pair = |(key, value): (Range<usize>, &Node)| {
                let value = self.value(text, value);
                text[key].to_owned() + &self.equals(&value)
            };
            let pairs: Vec<String> = pairs.into_iter().map(pair).collect();
            return self.list('{', &pairs, '}');
        }
        text[node.span()].to_owned()
    }

    fn list(&mut self, open: char, items: &[String], close: char) -> String {
        let mut out = format!("{open}{}", self.wrap());
        for (index, item) in items.iter().enumerate() {
            out += &format!("{item}{}", self.wrap());
            if index + 1 < items.len() || self.chance(30) {
                out += &format!(",{}", self.wrap());
            }
        }
        format!("{out}{close}")
    }

    fn equals(&mut self, value: &str) -> String {
        format!("{}={}{value}", self.blanks(), self.blanks())
    }

    /// The space between two words of a list.
    fn wrap(&mut self) -> String {
        match self.chance(20) {
            true if self.with_comments => format!("{}\n{}", self.remark(), self.space()) + &self.blanks(),
            true => "\n".to_owned(),
            false => self.blanks(),
        }
    }

    /// The empty lines and comments between two lines.
    fn space(&mut self) -> String {
        let count = self.random.rand_range(0..3);
        (0..count).map(|_| format!("{}{}\n", self.blanks(), self.remark())).collect()
    }

    /// A comment at the end of a line, or none.
    fn remark(&mut self) -> String {
        if !self.with_comments || !self.chance(25) {
            return String::new();
        }
        self.comments += 1;
        format!("{}# {}: [[member]] \"x\" = é", self.blanks(), self.comments)
    }

    fn blanks(&mut self) -> String {
        " ".repeat(self.random.rand_range(0..4) as usize)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.rand_range(0..100) < percent
    }

    fn shuffled<T>(&mut self, mut all: Vec<T>) -> Vec<T> {
        for at in (1..all.len()).rev() {
            all.swap(at, self.random.rand_range(0..at as u32 + 1) as usize);
        }
        all
    }
}
