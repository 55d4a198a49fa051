//! The references between the structures of a target.

use crate::members::members;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::{Field, Form, Info, Layouts, Type};
use etw_layouts_codegen::spec::Body;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The structures of a target that reference others, each before the structures that only it references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// The structure that all references lead to, if one was selected.
    pub to: Option<String>,
    /// The structures.
    pub structures: Vec<Structure>,
}

/// A structure, and the references of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Microsoft's name.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// In the order of the members.
    pub links: Vec<Link>,
}

/// A reference of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The member, after the names of the enclosing members, as in `u.LowPart`.
    pub member: String,
    /// Bytes from the start of the structure.
    pub offset: u64,
    /// The number of elements of an array, or 1.
    pub count: u64,
    /// The kind of reference.
    pub way: Way,
    /// The referenced structure.
    pub to: String,
    /// The member that links the entries of a list.
    pub link: Option<String>,
    /// Whether the target has a layout of the referenced structure.
    pub is_specified: bool,
}

/// The kind of reference from a member to a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It embeds the structure.
    Embeds,
    /// It is a pointer, or contains a pointer and other bits.
    PointsTo,
    /// It is the head of a list of them.
    Lists,
}

impl Way {
    /// The text of the kind.
    pub fn word(self) -> &'static str {
        match self {
            Self::Embeds => "embeds",
            Self::PointsTo => "points to",
            Self::Lists => "list head of",
        }
    }
}

impl Map {
    /// The map of a target: of all its structures, or of those that can be reached from one.
    ///
    /// A structure without references is part of the map only if a pointer or a list references it, not if it is only embedded.
    pub fn of(layouts: &Layouts, target: TargetId, only: Option<&str>) -> Self {
        let types = layouts.by_target.get(target);
        let all: BTreeMap<&str, Structure> = types
            .into_iter()
            .flatten()
            .filter_map(|(name, _)| Some((name.as_str(), structure(layouts, name, target)?)))
            .collect();
        let alive = alive(&all);
        let shown = |link: &Link| link.way != Way::Embeds || alive.contains(link.to.as_str());
        let next =
            |name: &str| -> Vec<&Link> { all.get(name).map_or(&[][..], |s| &s.links).iter().filter(|l| shown(l)).collect() };
        let roots = only.map_or_else(|| roots(&alive, &next), |only| vec![only.to_owned()]);
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut structures = Vec::new();
        for root in roots {
            let mut pending = VecDeque::from([root]);
            while let Some(name) = pending.pop_front() {
                let Some(Structure { size, .. }) = all.get(name.as_str()).filter(|_| known.insert(name.clone())) else {
                    continue;
                };
                let links: Vec<Link> = next(&name).into_iter().cloned().collect();
                pending.extend(links.iter().map(|link| link.to.clone()));
                if !links.is_empty() || only == Some(&name) {
                    structures.push(Structure { name, size: *size, links });
                }
            }
        }
        Self { to: None, structures }
    }

    /// The structures of a target that reference a structure, with these references only.
    pub fn to(layouts: &Layouts, target: TargetId, to: &str) -> Self {
        let types = layouts.by_target.get(target);
        let of = |name: &String| {
            let mut structure = structure(layouts, name, target)?;
            structure.links.retain(|link| link.to == to);
            Some(structure).filter(|structure| !structure.links.is_empty())
        };
        Self { to: Some(to.to_owned()), structures: types.into_iter().flatten().filter_map(|(name, _)| of(name)).collect() }
    }
}

/// The structures that contain a list head, or that reference such a structure directly or through others.
fn alive<'a>(all: &BTreeMap<&'a str, Structure>) -> BTreeSet<&'a str> {
    let mut alive: BTreeSet<&str> = BTreeSet::new();
    loop {
        let before = alive.len();
        let leads =
            |structure: &Structure| structure.links.iter().any(|link| link.way == Way::Lists || alive.contains(link.to.as_str()));
        let new: Vec<_> = all.iter().filter(|(_, structure)| leads(structure)).map(|(name, _)| *name).collect();
        alive.extend(new);
        if alive.len() == before {
            return alive;
        }
    }
}

/// The structures that no other one references, those that reach the most structures first. Then the remaining structures, which
/// are part of cycles.
fn roots<'a>(alive: &BTreeSet<&'a str>, next: &impl Fn(&str) -> Vec<&'a Link>) -> Vec<String> {
    let led_to: BTreeSet<&str> = alive
        .iter()
        .flat_map(|name| next(name).into_iter().filter(move |link| link.to != **name))
        .map(|link| link.to.as_str())
        .collect();
    let reach = |name: &str| {
        let mut known = BTreeSet::from([name.to_owned()]);
        let mut pending = vec![name.to_owned()];
        while let Some(name) = pending.pop() {
            pending.extend(next(&name).into_iter().filter(|link| known.insert(link.to.clone())).map(|link| link.to.clone()));
        }
        known.len()
    };
    let mut roots: Vec<_> = alive.iter().map(|name| (led_to.contains(name), Reverse(reach(name)), (*name).to_owned())).collect();
    roots.sort();
    roots.into_iter().map(|(.., name)| name).collect()
}

fn structure(layouts: &Layouts, name: &str, target: TargetId) -> Option<Structure> {
    let Form::Aggregate(aggregate) = &layouts.get(target, name)?.form else { return None };
    let mut links = Vec::new();
    for member in members(layouts, name, target) {
        let (Some(path), Some((field, info))) = (member.path, &member.field) else { continue };
        for (way, to, link) in leads(layouts, field, info) {
            let is_stated = !info.leads_to.is_empty();
            let is_specified = is_there(layouts, target, &to, link.as_deref());
            // A statement for all builds can name a structure or a list member that this build lacks.
            if is_specified && is_stated || !is_stated && to != name {
                links.push(Link {
                    member: path.clone(),
                    offset: member.offset,
                    count: count(&field.ty),
                    way,
                    to,
                    link,
                    is_specified,
                });
            }
        }
    }
    Some(Structure { name: name.to_owned(), size: aggregate.extent.size, links })
}

/// Whether a build has a layout of a structure, with the given member that links list entries.
fn is_there(layouts: &Layouts, target: TargetId, name: &str, link: Option<&str>) -> bool {
    match layouts.get(target, name).map(|layout| &layout.form) {
        Some(Form::Aggregate(aggregate)) => link.is_none_or(|link| aggregate.flat().iter().any(|member| member.name == link)),
        _ => false,
    }
}

/// The references of a member: those that its spec states, or else that of its type.
fn leads(layouts: &Layouts, field: &Field, info: &Info) -> Vec<(Way, String, Option<String>)> {
    let stated = info.leads_to.iter().map(|path| match path.split_once('.') {
        Some((to, link)) => (Way::Lists, to.to_owned(), Some(link.to_owned())),
        None => (Way::PointsTo, path.clone(), None),
    });
    let stated: Vec<_> = stated.collect();
    if !stated.is_empty() {
        return stated;
    }
    let mut ty = field.ty.element();
    let mut way = Way::Embeds;
    while let Type::Pointer { to, .. } = ty {
        (ty, way) = (to.element(), Way::PointsTo);
    }
    let to = match ty {
        Type::Layout(id) => &layouts.layouts[*id].name,
        Type::Named(name) => name,
        _ => return Vec::new(),
    };
    // A member with the type of an enumeration has no reference.
    match layouts.spec.definitions.get(to).map(|definition| &definition.body) {
        Some(Body::Values(_)) => Vec::new(),
        _ => vec![(way, to.clone(), None)],
    }
}

fn count(ty: &Type) -> u64 {
    match ty {
        Type::Array { of, count: own } => own.saturating_mul(count(of)),
        _ => 1,
    }
}
