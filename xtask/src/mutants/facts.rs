//! The facts in a spec file, and their mutations.

use core::ops::Range;
use etw_layouts_codegen::syntax::{Entry, Node, Pieces, TableKind, TomlTable, Tree, ValueForm};

/// A mutation of one fact.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Kind of the fact.
    pub kind: FactKind,
    /// The bytes to replace.
    pub range: Range<usize>,
    /// The replacement.
    pub with: String,
}

/// Kind of a mutated fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactKind {
    /// The offset of a member.
    Offset,
    /// The size of a structure or scalar.
    Size,
    /// The type of a member or typedef, the signedness of a scalar.
    Type,
    /// The number of elements of an array.
    Count,
    /// The position of a bit field.
    BitPosition,
    /// The width of a bit field.
    BitWidth,
    /// The value of a constant.
    Constant,
    /// The end of a range.
    Range,
    /// The name of a member or constant.
    Name,
    /// A member or constant that is missing.
    Dropped,
    /// Two members that changed places.
    Swapped,
    /// An explicit alignment.
    Alignment,
    /// The build of a kernel.
    Build,
}

impl FactKind {
    /// Name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offset => "offset",
            Self::Size => "size",
            Self::Type => "type",
            Self::Count => "count",
            Self::BitPosition => "bit position",
            Self::BitWidth => "bit width",
            Self::Constant => "constant",
            Self::Range => "range end",
            Self::Name => "name",
            Self::Dropped => "dropped",
            Self::Swapped => "swapped",
            Self::Alignment => "alignment",
            Self::Build => "build",
        }
    }
}

/// The mutants of a spec file; `labels` are those of the version axis in order, then the names of its updates.
pub fn mutants(text: &str, labels: &[String]) -> Vec<Mutant> {
    let (tree, errors) = Tree::parse(text);
    if !errors.is_empty() {
        return Vec::new();
    }
    let mut finder = Finder { text, labels, list: Vec::new() };
    finder.file(tree.root());
    finder.list
}

pub(super) struct Finder<'a> {
    pub text: &'a str,
    labels: &'a [String],
    list: Vec<Mutant>,
}

impl Finder<'_> {
    pub fn add(&mut self, kind: FactKind, range: Range<usize>, with: impl Into<String>) {
        self.list.push(Mutant { kind, range, with: with.into() });
    }

    fn file(&mut self, root: TomlTable) {
        for entry in root.entries() {
            match entry.key.map(|key| key.form) {
                Some(ValueForm::Tables(TableKind::Member)) => self.members(root, &entry.tables()),
                Some(ValueForm::Tables(TableKind::Release)) => {
                    entry.tables().into_iter().for_each(|release| self.release(release))
                }
                Some(ValueForm::Tables(TableKind::Update)) => entry.tables().into_iter().for_each(|update| self.update(update)),
                Some(ValueForm::Tables(TableKind::Event)) => entry.tables().into_iter().for_each(|event| self.event(event)),
                // The class of a file is tested through its events.
                Some(ValueForm::Table(TableKind::Class)) => {}
                Some(ValueForm::Table(_)) => {
                    entry.tables().into_iter().for_each(|table| self.table(table, entry.name == "struct"));
                }
                Some(ValueForm::Named(TableKind::Scalar)) => self.scalars(&entry),
                Some(ValueForm::NamedPiecewise) => self.typedefs(&entry),
                _ => {}
            }
        }
    }

    /// The `[[member]]` tables of a file, each extending to the next one.
    fn members(&mut self, root: TomlTable, members: &[TomlTable]) {
        let ordered = root.get("union").is_none();
        let starts = members.iter().map(|member| member.span().start);
        let ends = starts.clone().skip(1).chain([self.text.len()]);
        let blocks: Vec<Range<usize>> = starts.zip(ends).map(|(start, end)| start..end).collect();
        for block in &blocks {
            self.add(FactKind::Dropped, block.clone(), "");
        }
        for pair in blocks.windows(2).filter(|_| ordered) {
            let swapped = format!("{}\n{}", &self.text[pair[1].clone()], &self.text[pair[0].clone()]);
            self.add(FactKind::Swapped, pair[0].start..pair[1].end, swapped);
        }
        members.iter().for_each(|member| self.table(*member, ordered));
    }

    fn scalars(&mut self, entry: &Entry) {
        for scalar in entry.named().iter().flat_map(Entry::tables) {
            for fact in scalar.entries() {
                match fact.name {
                    "size" => {
                        self.numbers(&fact, &|f, n, r| f.number(FactKind::Size, r, if n < 8 { (n * 2).max(1) } else { 4 }));
                    }
                    "signed" => self.add(FactKind::Type, fact.value.span(), "false"),
                    "c" if scalar.get("signed").is_none() => {
                        self.add(FactKind::Type, fact.name_span.start..fact.name_span.start, "signed = true, ");
                    }
                    _ => {}
                }
            }
        }
    }

    fn typedefs(&mut self, entry: &Entry) {
        for pieces in entry.named().iter().map(Entry::pieces) {
            self.scopes(&pieces);
            self.types(&pieces);
        }
    }

    /// The builds of revisions on the version axis.
    fn release(&mut self, release: TomlTable) {
        for revision in release.tables("revisions") {
            if let Some(build) = revision.get("build") {
                self.build(build.value);
            }
        }
    }

    /// The first revisions of a named update.
    fn update(&mut self, update: TomlTable) {
        let revisions = update.get("revisions").and_then(|revisions| revisions.value.get_ref().as_array());
        revisions.into_iter().flatten().for_each(|build| self.build(build));
    }

    fn build(&mut self, build: &Node) {
        let end = build.span().end - 1;
        self.add(FactKind::Build, end..end, "1");
    }

    /// A table; `ordered` states whether the order of its members matters in groups.
    fn table(&mut self, table: TomlTable, ordered: bool) {
        for entry in table.entries() {
            let holds = entry.key.map(|key| key.form);
            // Sources are not verified.
            if holds.is_some_and(ValueForm::is_piecewise) && entry.name != "source" {
                self.scopes(&entry.pieces());
            }
            match entry.name {
                "offset" => self.numbers(&entry, &|f, n, r| f.number(FactKind::Offset, r, n + 4)),
                "size" => self.numbers(&entry, &|f, n, r| f.number(FactKind::Size, r, n + 8)),
                "mask" => self.numbers(&entry, &|f, n, r| f.number(FactKind::BitPosition, r, n << 1)),
                "bits" => self.numbers(&entry, &|f, n, r| f.number(FactKind::BitWidth, r, if n > 1 { n - 1 } else { 2 })),
                "align" | "pack" => self.numbers(&entry, &|f, n, r| f.number(FactKind::Alignment, r, n * 2)),
                "value" => self.numbers(&entry, &|f, n, r| f.number(FactKind::Constant, r, n + 1)),
                "type" => self.types(&entry.pieces()),
                "in" => self.range(entry.value.span().start + 1..entry.value.span().end - 1),
                "name" => self.add(FactKind::Name, entry.value.span().end - 1..entry.value.span().end - 1, "X"),
                _ => {}
            }
            if let Some(ValueForm::Tables(TableKind::Member | TableKind::Constant)) = holds {
                let tables = entry.tables();
                // The order of union branches and constants does not matter.
                let ordered = entry.name == "struct" || entry.name == "members" && ordered;
                self.rows(tables.iter().map(|table| table.span()).collect(), ordered);
                tables.into_iter().for_each(|table| self.table(table, ordered));
            }
        }
    }

    /// The elements of an array: each dropped, and swapped with the next.
    pub fn rows(&mut self, spans: Vec<Range<usize>>, ordered: bool) {
        for span in &spans {
            let comma = self.text[span.end..].starts_with(',');
            self.add(FactKind::Dropped, span.start..span.end + usize::from(comma), "");
        }
        for pair in spans.windows(2).filter(|_| ordered) {
            let between = &self.text[pair[0].end..pair[1].start];
            let swapped = format!("{}{between}{}", &self.text[pair[1].clone()], &self.text[pair[0].clone()]);
            self.add(FactKind::Swapped, pair[0].start..pair[1].end, swapped);
        }
    }

    /// The ends of the ranges of a piecewise fact.
    fn scopes(&mut self, pieces: &Pieces) {
        for (_, span) in pieces.scopes() {
            let quotes = usize::from(self.text[span.clone()].starts_with(['"', '\'']));
            self.range(span.start + quotes..span.end - quotes);
        }
    }

    /// The numbers of a fact.
    fn numbers(&mut self, entry: &Entry, change: &dyn Fn(&mut Self, i64, Range<usize>)) {
        for node in entry.pieces().values() {
            let number = node.get_ref().as_integer().and_then(|n| i64::from_str_radix(n.as_str(), n.radix()).ok());
            if let Some(n) = number {
                change(self, n, node.span());
            }
        }
    }

    fn number(&mut self, kind: FactKind, range: Range<usize>, n: i64) {
        self.add(kind, range, format!("{n:#x}"));
    }

    fn types(&mut self, pieces: &Pieces) {
        for node in pieces.values() {
            if let Some(ty) = node.get_ref().as_str() {
                self.ty(ty, node.span());
            }
        }
    }

    fn ty(&mut self, ty: &str, span: Range<usize>) {
        // Another type with the same size and alignment, so that only its meaning changes.
        let word = ty.split([' ', '*', '[']).next().unwrap_or_default();
        let other = match word {
            "ULONG" | "NTSTATUS" if !ty.contains('*') => "LONG",
            "LONG" => "ULONG",
            "ULONGLONG" | "ULONG64" => "LONGLONG",
            "LONGLONG" if !ty.contains('(') => "ULONGLONG",
            "USHORT" => "SHORT",
            "UCHAR" | "BOOLEAN" => "CHAR",
            "PVOID" | "HANDLE" => "ULONG_PTR",
            "VOID" if ty == "VOID *" => "ULONG_PTR",
            "ULONG_PTR" | "KSPIN_LOCK" | "KAFFINITY" => "PVOID",
            _ if ty.contains("(*") => "PVOID",
            _ if ty.ends_with('*') => "PVOID",
            _ => "ULONG",
        };
        let rest = if other == "PVOID" { "" } else { &ty[word.len()..] };
        self.add(FactKind::Type, span.start + 1..span.end - 1, format!("{other}{rest}"));
        if let Some(open) = ty.find('[') {
            let length = ty[open + 1..].split(']').next().unwrap_or_default();
            let more = length.parse::<u64>().map_or(2, |n| n + 1);
            let start = span.start + 1 + open + 1;
            self.add(FactKind::Count, start..start + length.len(), more.to_string());
        }
    }

    /// Changes a range to begin or end one label later or earlier.
    fn range(&mut self, range: Range<usize>) {
        let text = &self.text[range.clone()];
        let (scope, arch) = text.split_once(' ').map_or((text, ""), |(scope, arch)| (scope, arch));
        if scope.contains(',') {
            return;
        }
        let (first, last) = scope.split_once("..").unwrap_or((scope, scope));
        let label = |text: &str, step: isize| {
            let at = self.labels.iter().position(|label| label == text)?;
            self.labels.get(at.checked_add_signed(step)?).cloned()
        };
        let gap = if arch.is_empty() { "" } else { " " };
        let ends = [
            (label(first, 1), Some(last.to_owned())),
            (Some(first.to_owned()), label(last, -1)),
            (Some(first.to_owned()), label(last, 1)),
        ];
        let mut changed = Vec::new();
        for (start, end) in ends {
            let (Some(start), Some(end)) = (start, end) else { continue };
            let new = format!("{start}..{end}");
            if first != last || (start, end) == (first.to_owned(), last.to_owned()) || new.starts_with(&format!("{first}..")) {
                changed.push(format!("{new}{gap}{arch}"));
            }
        }
        for new in changed {
            self.add(FactKind::Range, range.clone(), new);
        }
    }
}
