//! The selection of a structure or one of its members at a target.

use crate::evidence::shows;
use crate::members::{Member, at, expanded, has};
use crate::names::{Among, declared_as, name, no_member};
use crate::{Choice, Confidence, Error, Refusal, Remedy, Source};
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Arch, Axis, TargetId, TargetSet};
use etw_layouts_codegen::layouts::{Info, Layouts};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::spec::{Body, Constant};
use std::collections::BTreeMap;

/// A structure or one of its members, at a target that has it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The structure, enumeration or set of macros.
    pub structure: String,
    /// The selected member or constant, after the names of the enclosing members, as in `u.LowPart`.
    pub member: Option<String>,
    /// The selected offset from the start of the structure, in bytes.
    pub offset: Option<u64>,
    /// The target.
    pub choice: Choice,
    /// The number of levels of embedded structures that are expanded.
    pub levels: usize,
}

impl Subject {
    /// Selects `STRUCTURE`, `STRUCTURE.MEMBER` or `STRUCTURE+OFFSET` at a build. Without a build, the newest that has it; without an architecture, x64 if it has
    /// it, or else x86 or ARM64.
    ///
    /// # Errors
    ///
    /// The structure, member or build does not exist, or the build does not have the structure or member; the error lists builds that do.
    pub fn find(
        layouts: &Layouts,
        registry: &Registry,
        asked: &str,
        build: Option<&str>,
        arch: Option<Arch>,
    ) -> Result<Self, Error> {
        let axis = &layouts.spec.axis;
        let (whole, offset) = asked.split_once('+').map_or((asked, None), |(one, other)| (one, Some(other)));
        let offset = offset.map(|offset| parsed(asked, offset)).transpose()?;
        let (structure, member) = whole.split_once('.').map_or((whole, None), |(one, other)| (one, Some(other)));
        if let (Some(_), Some(member)) = (offset, member) {
            return Err(format!("{asked}: an offset counts from the start of a structure; remove `.{member}`").into());
        }
        let structure = name(layouts, Among::All, structure).map_err(|error| match choose(axis, asked, arch) {
            Ok(_) => Refusal::new(format!("unknown structure `{asked}`"), Remedy::NotBuild(asked.to_owned())).into(),
            Err(_) => error,
        })?;
        let known = member.and_then(|member| declared_as(layouts, structure, member));
        let member = known.as_deref().or(member);
        let has = |target| is_there(layouts, structure, member, target);
        let kernel = match build {
            Some(build) => choose(axis, build, arch)?,
            None => newest(axis, arch, has).ok_or_else(|| elsewhere(layouts, structure, member, None))?,
        };
        let choice = Choice::of(layouts, registry, kernel, Some(structure));
        if !has(choice.target()) {
            return Err(elsewhere(layouts, structure, member, Some(&choice)));
        }
        let size = layouts.get(choice.target(), structure).map_or(0, |layout| layout.extent().size);
        if let Some(offset) = offset.filter(|offset| *offset >= size) {
            let at = axis.target_name(choice.target());
            return Err(format!("offset {offset:#x} is outside of {structure}, which has {size:#x} bytes in {at}").into());
        }
        Ok(Self { structure: structure.to_owned(), member: member.map(str::to_owned), offset, choice, levels: 0 })
    }

    /// Sets the number of levels of embedded structures that are expanded.
    pub fn expanded(self, levels: usize) -> Self {
        Self { levels, ..self }
    }

    /// All members, the selected one with the members in it, or those at the selected offset.
    pub fn members<'a>(&self, layouts: &'a Layouts) -> Vec<Member<'a>> {
        self.members_at(layouts, self.choice.target())
    }

    fn members_at<'a>(&self, layouts: &'a Layouts, target: TargetId) -> Vec<Member<'a>> {
        match self.offset {
            Some(offset) => at(layouts, &self.structure, target, offset),
            None => of(layouts, &self.structure, self.member.as_deref(), target, self.levels),
        }
    }

    /// The evidence for each member at the build, as text; empty for padding.
    pub fn known(&self, layouts: &Layouts, registry: &Registry, members: &[Member]) -> Vec<String> {
        let axis = &layouts.spec.axis;
        self.of_each(layouts, registry, members, |choice, info, shows, of| choice.known(axis, info, shows, layouts.is_own(of)))
    }

    /// The evidence for each member at the build; `None` for padding.
    pub fn sources(&self, layouts: &Layouts, registry: &Registry, members: &[Member]) -> Vec<Option<Source>> {
        let axis = &layouts.spec.axis;
        self.of_each(layouts, registry, members, |choice, info, shows, _| Some(choice.source(axis, info, shows)))
    }

    /// Whether the offset of each member can be used without checking the data: it is the same in all layouts that the build can have.
    pub fn is_sure(&self, layouts: &Layouts, members: &[Member]) -> Vec<bool> {
        let choice = &self.choice;
        let place = |member: &Member| (member.offset, member.size, member.bits);
        let others = choice.candidates[1..].iter();
        let others: Vec<_> = others.map(|target| self.members_at(layouts, *target)).collect();
        let is_sure = |member: &Member| {
            let is_at =
                |other: &Vec<Member>| other.iter().any(|other| other.path == member.path && place(other) == place(member));
            choice.confidence.is_sure_if_same(|| others.iter().all(is_at))
        };
        members.iter().map(is_sure).collect()
    }

    /// Calls `ask` for each member, with the choice for the structure that declares it, with whether an image of the build shows its
    /// offset, and with the name of that structure.
    fn of_each<T: Default>(
        &self,
        layouts: &Layouts,
        registry: &Registry,
        members: &[Member],
        ask: impl Fn(&Choice, &Info, bool, &str) -> T,
    ) -> Vec<T> {
        let axis = &layouts.spec.axis;
        // A symbol table can lack an embedded structure, so each structure has its own choice.
        let mut choices = BTreeMap::from([(self.structure.as_str(), self.choice.clone())]);
        let mut list = Vec::new();
        for Member { field, of, path, .. } in members {
            let own = || Choice::of(layouts, registry, self.choice.asked.clone(), Some(of));
            let choice = choices.entry(of).or_insert_with(own);
            let Asked { build, target, .. } = choice.asked;
            let arch = axis.targets[target].arch;
            let in_image = |path: &String| shows(registry, axis, build, arch, of, path);
            let is_shown = choice.confidence == Confidence::PartlyVerified && path.as_ref().is_some_and(in_image);
            list.push(field.as_ref().map_or_else(T::default, |(_, info)| ask(choice, info, is_shown, of)));
        }
        list
    }

    /// All constants, or the selected one.
    pub fn constants<'a>(&self, layouts: &'a Layouts) -> Vec<&'a Constant> {
        constants(layouts, &self.structure, self.member.as_deref(), self.choice.target())
    }
}

/// An offset as decimal digits, or as hexadecimal digits after `0x`.
fn parsed(asked: &str, offset: &str) -> Result<u64, Error> {
    let parsed = match offset.strip_prefix("0x").or_else(|| offset.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => offset.parse(),
    };
    parsed.map_err(|_| format!("{asked}: invalid offset `{offset}`; write a number of bytes, such as 0x2c8").into())
}

/// Selects a build by its name. Without an architecture, x64 if the build has it, or else x86 or ARM64.
///
/// # Errors
///
/// The name is unknown; the error lists known names.
pub fn choose(axis: &Axis, build: &str, arch: Option<Arch>) -> Result<Asked, Error> {
    let found = architectures(arch).into_iter().map(|arch| axis.find_build(build, arch));
    Ok(found.reduce(|first, second| first.or_else(|error| second.map_err(|_| error))).ok_or("no architecture selected")??)
}

/// The newest build for which `has` is true; without an architecture, x64 if there is one, or else x86 or ARM64.
pub fn newest(axis: &Axis, arch: Option<Arch>, has: impl Fn(TargetId) -> bool) -> Option<Asked> {
    let of = |arch: Arch| axis.filter(|t| t.arch == arch).iter().filter(|&target| has(target)).last();
    architectures(arch).into_iter().find_map(of).map(|target| axis.newest(target))
}

/// The architectures to search, in order.
fn architectures(arch: Option<Arch>) -> Vec<Arch> {
    arch.map_or_else(|| vec![Arch::X64, Arch::X86, Arch::Arm64], |arch| vec![arch])
}

fn of<'a>(layouts: &'a Layouts, structure: &str, member: Option<&str>, target: TargetId, levels: usize) -> Vec<Member<'a>> {
    let Some(member) = member else { return expanded(layouts, structure, target, levels) };
    let above = member.matches('.').count();
    let mut list = expanded(layouts, structure, target, levels.saturating_add(above));
    let Some(at) = list.iter().position(|row| row.path.as_deref() == Some(member)) else { return Vec::new() };
    let depth = list[at].depth;
    let end = list[at + 1..].iter().position(|row| row.depth <= depth).map_or(list.len(), |length| at + 1 + length);
    list.truncate(end);
    list.drain(..at);
    list.iter_mut().for_each(|row| row.depth -= depth);
    list
}

fn constants<'a>(layouts: &'a Layouts, structure: &str, name: Option<&str>, target: TargetId) -> Vec<&'a Constant> {
    match layouts.spec.definitions.get(structure).map(|definition| &definition.body) {
        Some(Body::Values(values)) => {
            let wanted = |constant: &&Constant| name.is_none_or(|name| constant.name.value == name);
            values.constants.iter().filter(wanted).filter(|constant| constant.scope.contains(target)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_there(layouts: &Layouts, structure: &str, member: Option<&str>, target: TargetId) -> bool {
    let inside =
        || !constants(layouts, structure, member, target).is_empty() || !of(layouts, structure, member, target, 0).is_empty();
    layouts.get(target, structure).is_some() && (member.is_none() || inside())
}

/// The error of a structure or member that a build does not have, with the versions that have it.
fn elsewhere(layouts: &Layouts, structure: &str, member: Option<&str>, choice: Option<&Choice>) -> Error {
    let axis = &layouts.spec.axis;
    let mut targets = TargetSet::default();
    has(layouts, structure).iter().filter(|&target| is_there(layouts, structure, member, target)).for_each(|t| targets.insert(t));
    let subject = member.map_or(structure.to_owned(), |member| format!("{structure}.{member}"));
    match (member, choice) {
        (Some(member), _) if targets.is_empty() => no_member(layouts, structure, member),
        (_, None) => format!("{subject} exists only in these versions: {}", axis.words(&targets)).into(),
        (_, Some(choice)) => {
            let note = choice.note(axis).map_or(String::new(), |note| format!("\n{note}"));
            let at = axis.target_name(choice.target());
            format!("{subject} does not exist in {at}; versions with it: {}{note}", axis.words(&targets)).into()
        }
    }
}
