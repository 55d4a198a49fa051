//! Every fact of a spec file, and how to change it.

use core::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One change of one fact.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What sort of fact.
    pub kind: Kind,
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// What replaces them.
    pub with: String,
}

/// What sort of fact is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
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

impl Kind {
    /// In words.
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

type Node<'a> = Spanned<DeValue<'a>>;

/// Facts whose values may be tables by ranges.
const PIECEWISE: [&str; 9] = ["offset", "size", "mask", "bits", "align", "pack", "value", "type", "unverifiable"];

/// The mutants of a spec file; `labels` are those of the version axis, in order.
pub fn mutants(text: &str, labels: &[String]) -> Vec<Mutant> {
    let Ok(root) = DeTable::parse(text) else { return Vec::new() };
    let mut finder = Finder { text, labels, list: Vec::new() };
    let union = root.get_ref().iter().any(|(key, _)| *key.get_ref() == "union");
    for (key, node) in root.get_ref().iter() {
        match &**key.get_ref() {
            "member" => finder.blocks(node, !union),
            "struct" | "union" | "enum" | "flags" | "constants" => finder.table(node),
            "scalar" => finder.scalars(node),
            "typedef" => finder.typedefs(node),
            "version" => finder.versions(node),
            _ => {}
        }
    }
    finder.list
}

struct Finder<'a> {
    text: &'a str,
    labels: &'a [String],
    list: Vec<Mutant>,
}

impl Finder<'_> {
    fn add(&mut self, kind: Kind, range: Range<usize>, with: impl Into<String>) {
        self.list.push(Mutant { kind, range, with: with.into() });
    }

    /// The `[[member]]` blocks of a file: their text runs to the next one.
    fn blocks(&mut self, node: &Node, ordered: bool) {
        let DeValue::Array(members) = node.get_ref() else { return };
        let starts: Vec<usize> = self.text.match_indices("\n[[member]]").map(|(at, _)| at + 1).collect();
        let ends = starts.iter().skip(1).copied().chain([self.text.len()]);
        let blocks: Vec<Range<usize>> = starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect();
        for block in &blocks {
            self.add(Kind::Dropped, block.clone(), "");
        }
        for pair in blocks.windows(2).filter(|_| ordered) {
            let swapped = format!("{}\n{}", &self.text[pair[1].clone()], &self.text[pair[0].clone()]);
            self.add(Kind::Swapped, pair[0].start..pair[1].end, swapped);
        }
        members.iter().for_each(|member| self.table(member));
    }

    fn scalars(&mut self, node: &Node) {
        let DeValue::Table(scalars) = node.get_ref() else { return };
        for (_, scalar) in scalars.iter() {
            let DeValue::Table(facts) = scalar.get_ref() else { continue };
            for (key, node) in facts.iter() {
                match &**key.get_ref() {
                    "size" => self.leaves(node, &|f, n, r| f.number(Kind::Size, r, if n < 8 { (n * 2).max(1) } else { 4 })),
                    "signed" => self.add(Kind::Type, node.span(), "false"),
                    "c" if !facts.iter().any(|(key, _)| key.get_ref() == "signed") => {
                        self.add(Kind::Type, key.span().start..key.span().start, "signed = true, ");
                    }
                    _ => {}
                }
            }
        }
    }

    fn typedefs(&mut self, node: &Node) {
        let DeValue::Table(typedefs) = node.get_ref() else { return };
        for (_, node) in typedefs.iter() {
            self.keys(node);
            self.types(node);
        }
    }

    /// Of the version axis, the builds of kernels and the architectures whose symbol data was read.
    fn versions(&mut self, node: &Node) {
        let DeValue::Array(versions) = node.get_ref() else { return };
        let of = |node: &Node, wanted: &str, each: &mut dyn FnMut(&Node)| {
            let DeValue::Table(entries) = node.get_ref() else { return };
            entries.iter().filter(|(key, _)| *key.get_ref() == wanted).for_each(|(_, node)| each(node));
        };
        for version in versions.iter() {
            of(version, "kernels", &mut |kernels| {
                let DeValue::Array(kernels) = kernels.get_ref() else { return };
                for kernel in kernels.iter() {
                    of(kernel, "build", &mut |build| self.add(Kind::Build, build.span().end - 1..build.span().end - 1, "1"));
                    of(kernel, "seen", &mut |seen| self.rows(seen, false));
                }
            });
        }
    }

    fn table(&mut self, node: &Node) {
        let DeValue::Table(entries) = node.get_ref() else { return };
        for (key, node) in entries.iter() {
            if PIECEWISE.contains(&&**key.get_ref()) {
                self.keys(node);
            }
            match &**key.get_ref() {
                "offset" => self.leaves(node, &|f, n, r| f.number(Kind::Offset, r, n + 4)),
                "size" => self.leaves(node, &|f, n, r| f.number(Kind::Size, r, n + 8)),
                "mask" => self.leaves(node, &|f, n, r| f.number(Kind::BitPosition, r, n << 1)),
                "bits" => self.leaves(node, &|f, n, r| f.number(Kind::BitWidth, r, if n > 1 { n - 1 } else { 2 })),
                "align" | "pack" => self.leaves(node, &|f, n, r| f.number(Kind::Alignment, r, n * 2)),
                "value" => self.leaves(node, &|f, n, r| f.number(Kind::Constant, r, n + 1)),
                "type" => self.types(node),
                "in" => self.range(node.span().start + 1..node.span().end - 1),
                "name" => self.add(Kind::Name, node.span().end - 1..node.span().end - 1, "X"),
                "struct" => self.rows(node, true),
                // The order of branches and of constants says nothing.
                "union" | "constants" => self.rows(node, false),
                _ => {}
            }
        }
    }

    /// The elements of an array: each on its own, dropped, and swapped with the next.
    fn rows(&mut self, node: &Node, ordered: bool) {
        let DeValue::Array(rows) = node.get_ref() else { return };
        let spans: Vec<_> = rows.iter().map(Spanned::span).collect();
        for span in &spans {
            let comma = self.text[span.end..].starts_with(',');
            self.add(Kind::Dropped, span.start..span.end + usize::from(comma), "");
        }
        for pair in spans.windows(2).filter(|_| ordered) {
            let between = &self.text[pair[0].end..pair[1].start];
            let swapped = format!("{}{between}{}", &self.text[pair[1].clone()], &self.text[pair[0].clone()]);
            self.add(Kind::Swapped, pair[0].start..pair[1].end, swapped);
        }
        rows.iter().for_each(|row| self.table(row));
    }

    /// The ends of the ranges that are a piecewise fact's keys.
    fn keys(&mut self, node: &Node) {
        let DeValue::Table(entries) = node.get_ref() else { return };
        for (key, node) in entries.iter() {
            let span = key.span();
            let quotes = usize::from(self.text[span.clone()].starts_with(['"', '\'']));
            self.range(span.start + quotes..span.end - quotes);
            self.keys(node);
        }
    }

    /// The values of a piecewise fact.
    fn leaves(&mut self, node: &Node, change: &dyn Fn(&mut Self, i64, Range<usize>)) {
        match node.get_ref() {
            DeValue::Integer(n) => {
                if let Ok(n) = i64::from_str_radix(n.as_str(), n.radix()) {
                    change(self, n, node.span());
                }
            }
            DeValue::Table(entries) => entries.iter().for_each(|(_, node)| self.leaves(node, change)),
            _ => {}
        }
    }

    fn number(&mut self, kind: Kind, range: Range<usize>, n: i64) {
        self.add(kind, range, format!("{n:#x}"));
    }

    fn types(&mut self, node: &Node) {
        match node.get_ref() {
            DeValue::String(ty) => self.ty(ty, node.span()),
            DeValue::Table(entries) => entries.iter().for_each(|(_, node)| self.types(node)),
            _ => {}
        }
    }

    fn ty(&mut self, ty: &str, span: Range<usize>) {
        // Another type of the same size and alignment, so that only its meaning changes.
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
        self.add(Kind::Type, span.start + 1..span.end - 1, format!("{other}{rest}"));
        if let Some(open) = ty.find('[') {
            let length = ty[open + 1..].split(']').next().unwrap_or_default();
            let more = length.parse::<u64>().map_or(2, |n| n + 1);
            let start = span.start + 1 + open + 1;
            self.add(Kind::Count, start..start + length.len(), more.to_string());
        }
    }

    /// A range that begins or ends one label later or earlier.
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
            self.add(Kind::Range, range.clone(), new);
        }
    }
}
