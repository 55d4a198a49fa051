//! Specs as they were before some kernels were known.

use super::super::splice::Texts;
use super::super::splice::{Splices, behind_comma, line_end, line_start};
use super::{basis, layouts};
use core::ops::Range;
use etw_layouts_codegen::axis::{Arch, Axis, Build, Kernel, TargetSet};
use etw_layouts_codegen::syntax::{Form, Holds, Piece, Pieces, Sort, Table, Tree};
use std::collections::BTreeSet;

/// The specs without some kernels: neither on the axis nor in any range.
pub fn taken_out(texts: &Texts, builds: &BTreeSet<Build>) -> Texts {
    let old = layouts(texts).spec.axis;
    let texts = &texts.iter().map(|(path, text)| (path.clone(), of_layouts(path, text))).collect::<Texts>();
    let mut out = Texts::new();
    for (path, text) in texts.iter().filter(|(path, _)| path.ends_with("windows.toml") || path.ends_with("scalars.toml")) {
        let text = if path.ends_with("windows.toml") { without_rows(text, builds) } else { text.clone() };
        out.insert(path.clone(), text);
    }
    let windows = out.iter().find(|(path, _)| path.ends_with("windows.toml")).map(|(path, text)| (path.clone(), text.clone()));
    let (path, rows) = windows.expect("an axis");
    let stated = rows.lines().find(|line| line.starts_with("documents = ")).expect("how far documents reach");
    out.insert(path.clone(), rows.replace(stated, ""));
    let scopes = etw_layouts_codegen::read(basis::sources(&out)).unwrap_or_else(|e| panic!("{}", e.render(false))).axis;
    let reach = old.scope(stated.split('"').nth(1).expect("a scope")).expect("a scope");
    let documents = ended(&scopes, &mapped(&old, &scopes, &reach));
    out.insert(path, rows.replace(stated, &format!("documents = \"{documents}\"")));
    let new = etw_layouts_codegen::read(basis::sources(&out)).unwrap_or_else(|e| panic!("{}", e.render(false))).axis;
    let kept = old.filter(|t| !builds.contains(&old.kernels[t.kernel].build));
    for (path, text) in texts {
        if out.contains_key(path) {
            continue;
        }
        let (tree, _) = Tree::parse(text);
        let mut taker = Taker { old: &old, new: &new, kept: &kept, text, splices: Splices::default() };
        if taker.file(tree.root()) {
            out.insert(path.clone(), taker.splices.apply(text));
        }
    }
    out
}

struct Taker<'a> {
    old: &'a Axis,
    new: &'a Axis,
    kept: &'a TargetSet,
    text: &'a str,
    splices: Splices,
}

impl Taker<'_> {
    /// Whether anything is left of it.
    fn file(&mut self, root: Table) -> bool {
        let subject = root.entries().find(|entry| matches!(entry.key.map(|key| key.holds), Some(Holds::Table(_))));
        let Some(subject) = subject.and_then(|entry| entry.tables().pop()) else { return true };
        let within = self.stated(subject, &self.old.all());
        if within.is_empty() {
            return false;
        }
        self.table(subject, &within);
        let mut end = line_end(self.text, subject.extent());
        for member in root.tables("member") {
            let start = std::mem::replace(&mut end, line_end(self.text, member.extent()));
            let stated = self.stated(member, &within);
            match stated.is_empty() {
                true => self.splices.replace(start..end, ""),
                false => self.table(member, &stated),
            }
        }
        true
    }

    /// The kept targets that a table speaks of.
    fn stated(&self, table: Table, within: &TargetSet) -> TargetSet {
        let scope = table.text("in").map(|text| self.old.scope(text).expect("a scope"));
        scope.unwrap_or(self.old.all()).intersection(within).intersection(self.kept)
    }

    fn table(&mut self, table: Table, within: &TargetSet) {
        for entry in table.entries() {
            match entry.key.map(|key| key.holds) {
                Some(Holds::Plain) if entry.name == "in" => {
                    self.scope(entry.value.get_ref().as_str().expect("a scope"), entry.value.span());
                }
                Some(holds) if holds.is_piecewise() && !self.pieces(&entry.pieces(), within) => match entry.form() {
                    Some(Form::Inline) if table.form() == Form::Inline => self.inline(entry.span()),
                    Some(Form::Header) => self.lines(entry.value.span().start..entry.span().end),
                    _ => self.lines(entry.span()),
                },
                Some(Holds::Tables(sort)) => {
                    for row in entry.tables() {
                        // What an erratum denies may lie where the thing does not exist.
                        let around = if sort == Sort::Erratum { &self.old.all() } else { within };
                        let stated = self.stated(row, around);
                        match stated.is_empty() || sort == Sort::Erratum && !self.holds(row) {
                            true => self.inline(row.span()),
                            false => self.table(row, &stated),
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether an erratum about a range still is one.
    fn holds(&self, row: Table) -> bool {
        let of = |key: &str| self.new.scope(row.text(key)?).ok();
        row.text("what") != Some("in") || of("document").is_some() && of("actual").is_some() && of("document") != of("actual")
    }

    /// Takes out what speaks of no kept target; whether anything is left.
    fn pieces(&mut self, pieces: &Pieces, within: &TargetSet) -> bool {
        let Pieces::Several { form, pieces, .. } = pieces else { return true };
        let speaks: Vec<_> = pieces.iter().map(|piece| self.speaks(piece, within)).collect();
        let Some(first) = speaks.iter().position(|set| !set.is_empty()) else { return false };
        let end = |piece: &Piece| piece.value.values().last().map_or(0, |node| node.span().end);
        let whole = |piece: &Piece| match &piece.value {
            Pieces::Several { span, .. } => piece.scope_span.start..span.end,
            Pieces::One(_) => piece.scope_span.start..end(piece),
        };
        for (i, piece) in pieces.iter().enumerate() {
            if !speaks[i].is_empty() {
                if !["x86", "x64"].contains(&piece.scope) {
                    self.scope(piece.scope, piece.scope_span.clone());
                }
                self.pieces(&piece.value, &speaks[i]);
            } else if *form != Form::Inline {
                self.lines(whole(piece));
            } else if i > first {
                self.splices.replace(whole(&pieces[i - 1]).end..whole(piece).end, "");
            } else if i + 1 == first {
                self.splices.replace(whole(&pieces[0]).start..whole(&pieces[first]).start, "");
            }
        }
        true
    }

    fn speaks(&self, piece: &Piece, within: &TargetSet) -> TargetSet {
        let set = self.old.scope(piece.scope).expect("a scope").intersection(within).intersection(self.kept);
        match &piece.value {
            Pieces::One(_) => set,
            Pieces::Several { pieces, .. } => {
                pieces.iter().map(|inner| self.speaks(inner, &set)).fold(TargetSet::default(), |all, set| all.union(&set))
            }
        }
    }

    /// Gives a scope another text, if it would denote other targets on the new axis.
    fn scope(&mut self, text: &str, span: Range<usize>) {
        let denotes = self.old.scope(text).expect("a scope").intersection(self.kept);
        let wanted = mapped(self.old, self.new, &denotes);
        let gone = |kernel: &Kernel| !self.new.kernels.iter().any(|other| other.build == kernel.build);
        let named = self.old.kernels.iter().any(|kernel| gone(kernel) && text.contains(&kernel.build.to_string()));
        if named || self.new.scope(text).ok() != Some(wanted.clone()) {
            self.splices.replace(span, format!("\"{}\"", self.new.spell(&self.new.all(), &wanted)));
        }
    }

    fn lines(&mut self, span: Range<usize>) {
        self.splices.replace(line_start(self.text, span.start)..line_end(self.text, span.end), "");
    }

    /// An entry of an inline table or of a list, with its comma.
    fn inline(&mut self, span: Range<usize>) {
        let end = behind_comma(self.text, span.end).unwrap_or(span.end);
        let line = line_start(self.text, span.start);
        match self.text[line..span.start].trim().is_empty() && self.text[end..].starts_with('\n') {
            true => self.splices.replace(line..end + 1, ""),
            false => self.splices.replace(span.start..end + usize::from(self.text[end..].starts_with(' ')), ""),
        }
    }
}

/// A set of one axis on another.
fn mapped(old: &Axis, new: &Axis, set: &TargetSet) -> TargetSet {
    let place = |t: usize| basis::find(new, old.kernels[old.targets[t].kernel].build, old.targets[t].arch);
    let mut mapped = TargetSet::default();
    set.iter().filter_map(place).for_each(|target| mapped.insert(target));
    mapped
}

/// A scope that ends with the last build of a set on each architecture, so that it reaches no kernel that comes back.
fn ended(axis: &Axis, set: &TargetSet) -> String {
    let builds = |arch| {
        let of = set.iter().map(|t| axis.targets[t]).filter(|t| t.arch == arch).map(|t| axis.kernels[t.kernel].build);
        let builds: Vec<Build> = of.collect();
        let number = |build: &Build| Build { revision: 0, ..*build };
        Some(format!("{:#}..{:#} {arch}", number(builds.first()?), number(builds.last()?)))
    };
    Arch::ALL.into_iter().filter_map(builds).collect::<Vec<_>>().join(", ")
}

fn without_rows(text: &str, builds: &BTreeSet<Build>) -> String {
    let row = |line: &str| {
        let build = line.trim().strip_prefix("{ build = \"")?.split('"').next()?;
        build.parse::<Build>().ok()
    };
    let kept: Vec<&str> = text.lines().filter(|line| !row(line).is_some_and(|build| builds.contains(&build))).collect();
    let text = kept.join("\n") + "\n";
    let blocks: Vec<String> = text.split("\n[[").map(|block| without_updates(block, builds)).collect();
    let left = |block: &&String| !["kernels = [\n]", "kernels = []"].iter().any(|none| block.contains(none));
    let labels: BTreeSet<&str> =
        blocks.iter().filter(left).flat_map(|block| block.lines()).filter_map(|line| line.strip_prefix("label   = ")).collect();
    // A group is of the versions that are left, or there is none.
    let group = |block: &String| {
        let Some((head, (list, tail))) = block.split_once("of = [").and_then(|(head, rest)| Some((head, rest.split_once(']')?)))
        else {
            return Some(block.clone());
        };
        let list: Vec<_> = list.split(", ").filter(|label| labels.contains(label)).collect();
        (!list.is_empty()).then(|| format!("{head}of = [{}]{tail}", list.join(", ")))
    };
    blocks.iter().filter(left).filter_map(group).collect::<Vec<_>>().join("\n[[")
}

/// A block of the axis; if it is that of an update, without some kernels. Their builds have not the update then.
fn without_updates(block: &str, builds: &BTreeSet<Build>) -> String {
    let list = |key: &str| -> Vec<Build> {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix("= ["));
        line.into_iter().flat_map(|line| line.split('"').skip(1).step_by(2)).map(|text| text.parse().expect("a build")).collect()
    };
    if !block.starts_with("update]]") {
        return block.to_owned();
    }
    let (gone, kernels): (Vec<Build>, Vec<Build>) = list("kernels").into_iter().partition(|build| builds.contains(build));
    let without = list("without").into_iter().chain(gone.iter().map(|gone| Build { revision: 0, ..*gone }));
    let text = |builds: Vec<Build>| builds.iter().map(|build| format!("\"{build:#}\"")).collect::<Vec<_>>().join(", ");
    let lines = block.lines().filter(|line| !line.starts_with("without")).map(|line| match line.starts_with("kernels") {
        true => format!("kernels = [{}]\nwithout = [{}]\n", text(kernels.clone()), text(without.clone().collect())),
        false => format!("{line}\n"),
    });
    lines.collect()
}

/// A text without what no layout depends on, which symbols cannot give back: the values of macros, and what members lead to.
fn of_layouts(path: &str, text: &str) -> String {
    let line = |line: &str| {
        let (before, after) = if path.contains("/constants/") { ("value = {", "}") } else { ("leads_to = \"", "\",") };
        match line.split_once(before).and_then(|(start, rest)| Some((start, rest.split_once(after)?.1))) {
            Some((start, rest)) if before.starts_with("value") => format!("{start}value = 0{rest}\n"),
            Some((start, rest)) => format!("{start}{}\n", rest.trim_start()),
            None if line.starts_with("leads_to") => String::new(),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}
