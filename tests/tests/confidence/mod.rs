//! Compares the reported confidence with the truth: forgets the facts about examined builds, and asks for these builds.

mod by_text;
mod forget;
mod imported;
mod unseen;

use self::forget::{Forgotten, Known, One, Target};
use etw_layouts::runtime::meta::{Evidence, choose};
use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::{Aggregate, Form, LayoutId, Layouts, Type};
use std::collections::{BTreeMap, BTreeSet};
use test_support::installed;

/// Answers by truth and confidence.
#[derive(Clone, Copy, Default)]
struct Answers {
    right_sure: usize,
    right: usize,
    wrong: usize,
    wrong_sure: usize,
}

/// The answers of a mode, for structures and for their members.
#[derive(Default)]
struct Count {
    structures: Answers,
    members: Answers,
    wrong_sure: Vec<String>,
    by_word: BTreeMap<String, Answers>,
}

/// The number of forgotten builds, oldest first, for which a structure is asked, unless `ETW_LAYOUTS_ALL` is set.
const MAX_ASKED: usize = 12;

/// Offset, size, and bits of each member, by its path.
type Places = BTreeMap<String, (u64, u64, Option<(u64, u64)>)>;

/// The right layout, and the candidates of an answer.
type Question = (Option<LayoutId>, Vec<Option<LayoutId>>);

/// Numbers of members by whether they are right, and whether they are the same in all candidates.
type Counts = Vec<((bool, bool), usize)>;

/// The members of each layout, and how many of an answer are right, and the same in all candidates.
struct Compared {
    places: Vec<Places>,
    known: BTreeMap<Question, Counts>,
}

impl Compared {
    fn compare(&mut self, truth: Option<LayoutId>, candidates: &[Option<LayoutId>]) -> Counts {
        let places = &self.places;
        let compare = || {
            let none = Places::new();
            let of = |id: &Option<LayoutId>| id.map_or(&none, |id| &places[id]);
            let candidates: Vec<&Places> = candidates.iter().map(of).collect();
            let (truth, first) = (of(&truth), candidates.first().copied().unwrap_or(&none));
            let mut counts: BTreeMap<_, usize> = BTreeMap::new();
            for path in truth.keys().chain(first.keys()).collect::<BTreeSet<_>>() {
                // A member that no candidate has can have been added and removed between them.
                let is_same = first.contains_key(path) && candidates.iter().all(|other| other.get(path) == first.get(path));
                *counts.entry((truth.get(path) == first.get(path), is_same)).or_default() += 1;
            }
            counts.into_iter().collect()
        };
        self.known.entry((truth, candidates.to_vec())).or_insert_with(compare).clone()
    }
}

impl Answers {
    fn add(&mut self, is_right: bool, is_sure: bool) {
        self.add_many(is_right, is_sure, 1);
    }

    fn add_many(&mut self, is_right: bool, is_sure: bool, count: usize) {
        *match (is_right, is_sure) {
            (true, true) => &mut self.right_sure,
            (true, false) => &mut self.right,
            (false, false) => &mut self.wrong,
            (false, true) => &mut self.wrong_sure,
        } += count;
    }
}

impl Count {
    /// Asks for all structures of the forgotten builds for which the builds' own symbols show the right answer.
    fn ask(&mut self, forgotten: &Forgotten, members: &mut Compared) {
        let known = forgotten.known;
        let most = if installed::all() { usize::MAX } else { MAX_ASKED };
        for entry in &known.structures {
            let (structure, evidence) = entry;
            let one = One::new(forgotten, entry);
            let mut last = None;
            let out = evidence.iter().filter(|(target, _)| forgotten.out.contains(target));
            for (target, evidence) in out.take(most) {
                let truth = known.layouts.spec.axis.select(target.0, target.1).expect("an examined build").target;
                let layout = known.layout(truth, structure);
                let shows = match evidence {
                    Evidence::Symbols | Evidence::Converted => layout.is_some(),
                    Evidence::Lacks => layout.is_none(),
                    Evidence::Partly => false,
                };
                if shows && last != Some(target) {
                    self.compare(&one, structure, *target, layout, members);
                    last = Some(target);
                }
            }
        }
    }

    fn compare(&mut self, one: &One, structure: &str, (build, arch): Target, truth: Option<LayoutId>, members: &mut Compared) {
        let answer = choose(one, build, arch).ok();
        let chosen = answer.and_then(|chosen| chosen.layout);
        let is_sure = answer.is_some_and(|it| it.confidence.is_sure());
        let is_right = answer.is_some() && chosen == truth;
        self.structures.add(is_right, is_sure);
        if is_sure && !is_right {
            self.wrong_sure.push(format!("{structure} at {build} {arch}: {:?}, not {truth:?}", answer.map(|it| it.confidence)));
        }
        let word = answer.map_or("no such build", |it| it.confidence.reason().unwrap_or(it.confidence.word()));
        match self.by_word.get_mut(word) {
            Some(answers) => answers.add(is_right, is_sure),
            None => self.by_word.entry(word.to_owned()).or_default().add(is_right, is_sure),
        }
        let candidates: Vec<Option<LayoutId>> =
            answer.iter().flat_map(|it| it.candidates(one).map(|(_, layout)| layout)).collect();
        for ((is_right, is_same), count) in members.compare(truth, &candidates) {
            let is_sure_of = is_sure || answer.is_some_and(|it| it.confidence.is_sure_if_same(|| is_same));
            self.members.add_many(is_right, is_sure_of, count);
            if is_sure_of && !is_right {
                self.wrong_sure
                    .push(format!("{count} members of {structure} at {build} {arch}: {:?}", answer.map(|it| it.confidence)));
            }
        }
    }

    fn print(&self, mode: &str) {
        for (kind, a) in [("structures", self.structures), ("members", self.members)] {
            println!("| {mode} | {kind} | {} | {} | {} | {} |", a.right_sure, a.right, a.wrong, a.wrong_sure);
        }
        for (word, a) in &self.by_word {
            println!("    {word:28} {:6} {:6} {:6} {:6}", a.right_sure, a.right, a.wrong, a.wrong_sure);
        }
    }
}

/// The members of each layout.
fn members(layouts: &Layouts) -> Vec<Places> {
    fn add(aggregate: &Aggregate, base: u64, prefix: &str, places: &mut Places) {
        for field in &aggregate.fields {
            let offset = base + field.offset;
            let name = field.name.as_ref().map(|name| format!("{prefix}{name}"));
            if let Type::Inline(inner) = &field.ty {
                add(inner, offset, &name.as_ref().map_or(prefix.to_owned(), |name| format!("{name}.")), places);
            }
            if let Some(name) = name {
                places.insert(name, (offset, field.size, field.bits.map(|bits| (bits.position, bits.width))));
            }
        }
    }
    let of = |form: &Form| {
        let mut places = Places::new();
        if let Form::Aggregate(aggregate) = form {
            add(aggregate, 0, "", &mut places);
        }
        places
    };
    layouts.layouts.iter().map(|layout| of(&layout.form)).collect()
}

/// A way to forget facts.
struct Mode {
    name: String,
    /// The targets to forget, together; then all are known again.
    sets: Vec<BTreeSet<Target>>,
    /// Whether the revisions of updates are still known, from the months of the same updates on other branches.
    keeps_rows: bool,
    /// The lowest share of right answers that are sure, in percent.
    sure: usize,
}

fn modes(known: &Known) -> Vec<Mode> {
    let examined: Vec<Target> = known.examined.keys().copied().collect();
    let of =
        |test: &dyn Fn(&Target) -> bool| examined.iter().copied().filter(|target| test(target)).collect::<BTreeSet<Target>>();
    let updates = &known.layouts.spec.axis.updates;
    let firsts: BTreeSet<Build> = updates.iter().flat_map(|update| update.revisions.iter().copied()).collect();
    // An update of a branch lasts until the next update of the branch.
    let within = |first: Build, build: Build| {
        let end = firsts.iter().copied().find(|next| *next > first && next.number == first.number);
        build.number == first.number && build >= first && end.is_none_or(|end| build < end)
    };
    let releases: BTreeSet<[u32; 3]> = examined.iter().map(|target| target.0.number).collect();
    let both = || releases.iter().flat_map(|&number| Arch::ALL.map(|arch| (arch, number)));
    let by_arch =
        firsts.iter().flat_map(|&first| Arch::ALL.map(|arch| of(&|target| target.1 == arch && within(first, target.0))));
    let update: Vec<_> = firsts.iter().map(|&first| of(&|target| within(first, target.0))).collect();
    let mode = |name: &str, sets: Vec<BTreeSet<Target>>, keeps_rows, sure| Mode { name: name.to_owned(), sets, keeps_rows, sure };
    let mut modes = vec![
        mode("each table", examined.iter().map(|&target| BTreeSet::from([target])).collect(), false, 85),
        mode("each update of one architecture", by_arch.collect(), false, 50),
        mode("each update", update.clone(), false, 50),
        mode("each update, its revisions known from other branches", update, true, 50),
        mode(
            "each release of one architecture",
            both().map(|(arch, number)| of(&|it| *it == (it.0, arch) && it.0.number == number)).collect(),
            false,
            10,
        ),
        mode("each release", releases.iter().map(|&number| of(&|target| target.0.number == number)).collect(), false, 0),
        mode(
            "one architecture after each release",
            both().map(|(arch, number)| of(&|target| target.1 == arch && target.0.number > number)).collect(),
            false,
            0,
        ),
    ];
    modes.extend(Arch::ALL.map(|arch| mode(&format!("all {arch}"), vec![of(&|target| target.1 == arch)], false, 0)));
    modes
}

/// Forgets tables in several ways, and asks for what was forgotten. No answer that is sure is wrong, neither about a structure nor about
/// a member. Prints rows of docs/TRUST.md.
#[test]
fn no_answer_about_a_forgotten_build_is_wrong_and_sure() {
    let known = Known::read();
    let mut members = Compared { places: members(&known.layouts), known: BTreeMap::new() };
    for Mode { name, sets, keeps_rows, sure } in modes(&known) {
        let mut count = Count::default();
        for out in sets.iter().filter(|out| !out.is_empty()) {
            count.ask(&known.without(out, keeps_rows), &mut members);
        }
        count.print(&name);
        let Count { structures, wrong_sure, .. } = &count;
        assert!(wrong_sure.is_empty(), "{name}: {:#?}", &wrong_sure[..wrong_sure.len().min(20)]);
        let (all, sure_and_right) = (structures.right_sure + structures.right, structures.right_sure);
        let asked = all + structures.wrong + structures.wrong_sure;
        assert!(asked > 0 && sure_and_right * 100 >= all * sure, "{name}: only {sure_and_right} of {all} right answers are sure");
        assert!(!name.starts_with("all ") || sure_and_right == 0, "{name}: sure without any facts about the architecture");
    }
}
