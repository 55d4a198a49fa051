//! Which spec files a change of one can concern, so that the others need not be read again for each mutant.

use etw_layouts_codegen::layouts::{Form, Layouts};
use etw_layouts_codegen::spec::Definition;
use std::collections::{BTreeMap, BTreeSet};

/// For each file: itself, what embeds it, all that those need, and the files that are no definition's.
pub fn concerned(layouts: &Layouts) -> Vec<BTreeSet<usize>> {
    let count = layouts.spec.sources.files().len();
    let file = |definition: &Definition| layouts.spec.sources.index(definition.name.span);
    let files: BTreeMap<&str, usize> = layouts.spec.definitions.iter().map(|(name, d)| (name.as_str(), file(d))).collect();
    let mut needs = vec![BTreeSet::new(); count];
    for layout in &layouts.layouts {
        if let (Form::Aggregate(aggregate), Some(&own)) = (&layout.form, files.get(layout.name.as_str())) {
            needs[own].extend(layouts.used(aggregate).iter().filter_map(|name| files.get(name).copied()));
        }
    }
    let definitions: BTreeSet<usize> = files.values().copied().collect();
    let basic: BTreeSet<usize> = (0..count).filter(|file| !definitions.contains(file)).collect();
    let all = || (0..count).collect();
    let users = |file| closure(file, |f| (0..count).filter(|&user| needs[user].contains(&f)).collect());
    let of = |file| match basic.contains(&file) {
        true => all(),
        false => {
            users(file).into_iter().flat_map(|user| closure(user, |f| needs[f].clone())).chain(basic.iter().copied()).collect()
        }
    };
    (0..count).map(of).collect()
}

fn closure(start: usize, next: impl Fn(usize) -> BTreeSet<usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        open.extend(next(file).into_iter().filter(|&file| found.insert(file)));
    }
    found
}
