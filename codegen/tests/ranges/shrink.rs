//! Reduces a case to the smallest one that still fails.

use super::Case;
use super::file::{File, Item, Value};

/// Removes one part at a time, as long as the case still fails.
pub fn smallest(mut case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    while let Some(smaller) = smaller(&case).into_iter().find(|smaller| fails(smaller)) {
        case = smaller;
    }
    case
}

fn smaller(case: &Case) -> Vec<Case> {
    let mut list = Vec::new();
    let mut tried = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        list.push(smaller);
    };
    let axis = &case.axis;
    (0..case.scopes.len()).for_each(|at| tried(&|case| drop(case.scopes.remove(at))));
    if case.file.is_some() {
        tried(&|case| case.file = None);
    }
    for smaller in case.file.iter().flat_map(files) {
        tried(&|case| case.file = Some(smaller.clone()));
    }
    for (at, scope) in case.scopes.iter().enumerate() {
        for less in parts(scope) {
            tried(&|case| case.scopes[at].clone_from(&less));
        }
    }
    (0..axis.updates.len()).for_each(|at| tried(&|case| drop(case.axis.updates.remove(at))));
    (0..axis.groups.len()).for_each(|at| tried(&|case| drop(case.axis.groups.remove(at))));
    (0..axis.releases.len()).for_each(|at| tried(&|case| drop(case.axis.releases.remove(at))));
    tried(&|case| case.axis.documents = None);
    tried(&|case| case.axis.follows = false);
    for (at, update) in axis.updates.iter().enumerate() {
        (0..update.kernels.len()).for_each(|kernel| tried(&|case| _ = case.axis.updates[at].kernels.remove(kernel)));
        (0..update.without.len()).for_each(|build| tried(&|case| _ = case.axis.updates[at].without.remove(build)));
        tried(&|case| case.axis.updates[at].architectures = None);
    }
    for (at, version) in axis.versions.iter().enumerate().filter(|_| axis.versions.len() > 1) {
        let label = &version.label;
        let names = axis.groups.iter().any(|group| group.of.contains(label));
        if !names {
            tried(&|case| drop(case.axis.versions.remove(at)));
        }
    }
    for (at, version) in axis.versions.iter().enumerate() {
        tried(&|case| case.axis.versions[at].architectures = None);
        for row in 0..version.rows.len() {
            if version.rows.len() > 1 {
                tried(&|case| drop(case.axis.versions[at].rows.remove(row)));
            }
            tried(&|case| case.axis.versions[at].rows[row].architectures = None);
            tried(&|case| case.axis.versions[at].rows[row].pack = None);
            tried(&|case| case.axis.versions[at].rows[row].same.clear());
        }
    }
    let size = |case: &Case| format!("{case:?}").len();
    list.retain(|smaller| size(smaller) < size(case));
    list
}

/// A scope without one of its parts, or of its words.
fn parts(scope: &str) -> Vec<String> {
    let without = |separator: &str| {
        let all: Vec<&str> = scope.split(separator).collect();
        let one = |at: usize| [&all[..at], &all[at + 1..]].concat().join(separator);
        (0..all.len()).filter(|_| all.len() > 1).map(one).collect::<Vec<_>>()
    };
    [without(", "), without(" ")].concat()
}

fn files(file: &File) -> Vec<File> {
    let mut list = vec![File { scope: None, ..file.clone() }];
    list.push(File { source: false, ..file.clone() });
    list.extend(values(&file.reason).into_iter().map(|reason| File { reason, ..file.clone() }));
    list.extend(values(&file.size).into_iter().map(|size| File { size, ..file.clone() }));
    list.extend(file.scope.iter().flat_map(|scope| parts(scope)).map(|scope| File { scope: Some(scope), ..file.clone() }));
    list.extend(items(&file.items).into_iter().map(|items| File { items, ..file.clone() }));
    list
}

fn items(items: &[Item]) -> Vec<Vec<Item>> {
    let mut list: Vec<_> =
        (0..items.len()).filter(|_| items.len() > 1).map(|at| [&items[..at], &items[at + 1..]].concat()).collect();
    for (at, item) in items.iter().enumerate() {
        let smaller: Vec<Item> = match item {
            Item::Member { name, scope, ty } => {
                let none = scope.as_ref().map(|_| Item::Member { name: name.clone(), scope: None, ty: ty.clone() });
                let types = values(ty).into_iter().map(|ty| Item::Member { name: name.clone(), scope: scope.clone(), ty });
                none.into_iter().chain(types).collect()
            }
            Item::Group { scope, items } => {
                let lists = self::items(items).into_iter().map(|items| Item::Group { scope: scope.clone(), items });
                lists.chain(items.iter().cloned()).collect()
            }
        };
        list.extend(smaller.into_iter().map(|item| [&items[..at], &[item], &items[at + 1..]].concat()));
    }
    list
}

fn values(value: &Value) -> Vec<Value> {
    let Value::Table(entries) = value else { return Vec::new() };
    let mut list = vec![Value::One(first(value))];
    for (at, (scope, value)) in entries.iter().enumerate() {
        if entries.len() > 1 {
            list.push(Value::Table([&entries[..at], &entries[at + 1..]].concat()));
        }
        let scopes = parts(scope).into_iter().map(|scope| (scope, value.clone()));
        let inner = values(value).into_iter().map(|value| (scope.clone(), value));
        let smaller = scopes.chain(inner).map(|entry| Value::Table([&entries[..at], &[entry], &entries[at + 1..]].concat()));
        list.extend(smaller);
    }
    list
}

/// The first value in a table.
fn first(value: &Value) -> String {
    match value {
        Value::One(value) => value.clone(),
        Value::Table(entries) => entries.first().map(|(_, value)| first(value)).unwrap_or_default(),
    }
}
