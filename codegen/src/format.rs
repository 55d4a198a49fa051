//! The standard format of spec files. It is a notation: ranges, numbers, types, groups and the order of entries stay those of the
//! author.

use crate::emit::toml::{Row, Value, quoted};
use crate::syntax::{self, Entry, Node, TableKind, TomlTable, Tree, ValueForm};
use toml::de::DeValue;

/// The text of a spec file in the standard format. `None` if files of its kind have no such format: scalars and global variables.
///
/// The text must be a valid spec. A comment that has no item after it can be lost.
pub fn formatted(text: &str) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let (tree, _) = Tree::parse(&text);
    let root = tree.root();
    let mut printer = Printer { text: &text, comments: syntax::comments(&text) };
    printer.comments.reverse();
    let mut out = match root.kind {
        TableKind::File => printer.definition(root),
        TableKind::Events => printer.events(root),
        TableKind::Providers => printer.providers(root),
        TableKind::Axis => return Some(printer.axis(root)),
        _ => return None,
    };
    let end = printer.comments(usize::MAX).into_iter().filter(|line| !line.is_empty());
    end.enumerate().for_each(|(index, line)| out += &format!("{}{line}\n", if index == 0 { "\n" } else { "" }));
    Some(out)
}

struct Printer<'a> {
    text: &'a str,
    /// The comments that are not printed yet, last first.
    comments: Vec<(usize, &'a str)>,
}

impl Printer<'_> {
    fn definition(&mut self, root: TomlTable) -> String {
        let subjects = root.entries().filter(|entry| entry.name != "member");
        let mut out = String::new();
        for (entry, table) in subjects.flat_map(|entry| entry.tables().into_iter().map(move |table| (entry.clone(), table))) {
            let mut row = self.row(table);
            let members: Vec<_> = root.tables("member").into_iter().map(|table| self.row(table)).collect();
            row.add("members", Some(Value::Rows(members)).filter(|_| root.get("member").is_some()));
            out += &row.table(&format!("[{}]", entry.name), 6);
        }
        out
    }

    fn events(&mut self, root: TomlTable) -> String {
        let mut out: String = root.tables("class").into_iter().map(|table| self.row(table).table("[class]", 6)).collect();
        for table in root.tables("event") {
            let row = self.row(table);
            let width = row.pairs.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
            out += &format!("\n{}", row.table("[[event]]", width));
        }
        out
    }

    fn providers(&mut self, root: TomlTable) -> String {
        let rows = root.tables("provider").into_iter().map(|table| self.row(table).table("[[provider]]", 6));
        rows.collect::<Vec<_>>().join("\n")
    }

    fn axis(&mut self, root: TomlTable) -> String {
        // The items in the order of the language, each with its comments, which are assigned in the order of the text.
        let mut items = Vec::new();
        for (order, key) in root.kind.keys().iter().enumerate() {
            if let Some(entry) = root.get(key.name) {
                let tables = entry.tables();
                items.extend(tables.iter().map(|table| (order, table.line_end(), entry.clone(), Some(*table))));
                items.extend(tables.is_empty().then(|| (order, entry.span().end, entry, None)));
            }
        }
        items.sort_by_key(|(_, end, ..)| *end);
        let comments: Vec<_> = items.iter().map(|(_, end, ..)| self.comments(*end)).collect();
        let mut items: Vec<_> = items.into_iter().zip(comments).collect();
        items.sort_by_key(|((order, ..), _)| *order);
        let mut out = String::new();
        for ((_, _, entry, table), comments) in items {
            out += if out.is_empty() { "" } else { "\n" };
            let Some(table) = table else {
                let lines = comments.iter().skip_while(|line| line.is_empty());
                lines.for_each(|line| out += &format!("{line}\n"));
                out += &format!("{} = {}\n", entry.name, self.value(&entry).one_line());
                continue;
            };
            let row = Row { comments, ..self.row(table) };
            let width = row.pairs.iter().map(|(key, _)| key.len()).filter(|width| *width < 10).max().unwrap_or(0);
            out += &row.table(&format!("[[{}]]", entry.name), width);
        }
        out
    }

    fn row(&mut self, table: TomlTable) -> Row {
        let (own, end) = table.ends();
        let mut row = Row::default();
        match table.kind {
            // Their comments are those of the table around them.
            TableKind::Revision | TableKind::SharedRelease | TableKind::Erratum => {}
            TableKind::Constant => row.comments = self.comments(table.span().start),
            _ => row.comments = self.comments(own),
        }
        for key in table.kind.keys() {
            row.add(key.name, table.get(key.name).map(|entry| self.value(&entry)));
        }
        match table.kind {
            // A blank line within a table does not begin a new group.
            TableKind::Constant => row.comments.extend(self.comments(end).into_iter().filter(|line| !line.is_empty())),
            TableKind::Member | TableKind::Field | TableKind::EventErratum => {
                if let (true, Some((_, Value::Rows(rows)))) = (table.get("members").is_some(), row.pairs.last_mut()) {
                    // The comments of a group are those of its first member.
                    row.comments.extend(rows.first_mut().map(|first| core::mem::take(&mut first.comments)).unwrap_or_default());
                }
                row.comments.extend(self.comments(end));
                if row.comments.iter().all(String::is_empty) {
                    row.comments.clear();
                }
            }
            _ => {}
        }
        row
    }

    fn value(&mut self, entry: &Entry) -> Value {
        match entry.key.map(|key| key.form) {
            Some(ValueForm::Tables(_)) => Value::Rows(entry.tables().into_iter().map(|table| self.row(table)).collect()),
            _ => match (entry.name, entry.value.get_ref()) {
                ("doc" | "unsettled", DeValue::String(words)) => Value::Words(words.trim().to_owned()),
                _ => self.plain(entry.value),
            },
        }
    }

    fn plain(&self, node: &Node) -> Value {
        match node.get_ref() {
            DeValue::Table(entries) => {
                let entries = entries.iter().map(|(key, value)| (self.text[key.span()].to_owned(), self.plain(value)));
                Value::Pieces(entries.collect())
            }
            DeValue::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.plain(item).one_line()).collect();
                Value::Plain(format!("[{}]", items.join(", ")))
            }
            DeValue::String(text) => Value::Plain(quoted(text)),
            _ => Value::Plain(self.text[node.span()].to_owned()),
        }
    }

    /// The comments before a place that are not printed yet.
    fn comments(&mut self, until: usize) -> Vec<String> {
        let mut taken = Vec::new();
        while let Some((_, line)) = self.comments.pop_if(|(at, _)| *at < until) {
            taken.push(line.to_owned());
        }
        taken
    }
}
