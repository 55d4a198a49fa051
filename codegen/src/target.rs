//! Targets by name: `1709-x64`, `10.0.19041.1415-x64`, `5.1.2600-sp3-x86`.

use crate::axis::{self, Arch, Axis, Build, TargetId};
use crate::diagnostic::nearest;
use etw_layouts_runtime::meta::{Absent, place};

/// A selected build, and the target with its layouts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The selection, as BUILD-ARCH; empty if no build was named.
    pub name: String,
    /// How the build was selected.
    pub selected_by: SelectedBy,
    /// The build, with the build number that was selected.
    pub own: Build,
    /// The build, with the build number that the version axis uses.
    pub build: Build,
    /// The target with its layouts.
    pub target: TargetId,
}

/// How a build was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectedBy {
    /// By its build and revision, or by a service pack.
    Revision,
    /// By a label, or by a build without a revision: it denotes this number of revisions of the version axis, and all revisions that
    /// are not on the axis. The first of them is used.
    First(usize),
    /// Not by a name. The newest build with the selected item is used.
    Newest,
}

impl Asked {
    /// Whether the target is of the same build, at the same or an earlier revision.
    pub fn is_of_build(&self, axis: &Axis) -> bool {
        !self.is_of_other_build(axis) && self.taken(axis) <= self.build
    }

    /// Whether the build is not on the version axis, so that the layouts of another build are used.
    pub fn is_of_other_build(&self, axis: &Axis) -> bool {
        self.taken(axis).number != self.build.number
    }

    /// Whether the build number never had this revision: it shares the revision of another build number, and its first revision is
    /// later.
    pub fn is_before_its_build(&self, axis: &Axis) -> bool {
        axis.shared(self.own).is_some_and(|(_, first)| self.own.revision < first.revision)
    }

    /// A note on the target that is used for a build that is not on the version axis.
    pub fn note(&self, axis: &Axis) -> Option<String> {
        let (name, target) = (&self.name, axis.target_name(self.target));
        (self.taken(axis) != self.build).then(|| format!("{name}: not on the version axis; using {target}"))
    }

    fn taken(&self, axis: &Axis) -> Build {
        axis.revision_of(self.target).build
    }
}

impl SelectedBy {
    /// The keyword in JSON documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Revision => "revision",
            Self::First(_) => "first",
            Self::Newest => "newest",
        }
    }
}

impl Axis {
    /// The target with a name.
    ///
    /// # Errors
    ///
    /// The name is invalid or unknown.
    pub fn find(&self, name: &str) -> Result<Asked, String> {
        let split = name.rsplit_once('-').and_then(|(build, arch)| Some((build, arch.parse().ok()?)));
        match split {
            Some((build, arch)) => self.find_build(build, arch),
            None => Err(match name.rsplit_once('-').filter(|_| !self.is_build(name)) {
                Some((_, arch)) => {
                    let known = Arch::ALL.map(Arch::as_str).join(", ");
                    let near = axis::architecture(arch).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
                    format!("unknown architecture `{arch}` in target `{name}`; {near}known: {known}")
                }
                None => format!("target `{name}` has no architecture; write BUILD-ARCH, such as 1709-x64 or 10.0.19041.1415-x64"),
            }),
        }
    }

    /// The build with a name, on an architecture. A label, or a build without a revision, selects the first of its revisions.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn find_build(&self, build: &str, arch: Arch) -> Result<Asked, String> {
        if build.contains("..") || build.contains(',') {
            return Err(format!("`{build}` is a range, not a build; write BUILD-ARCH, such as 1709-x64"));
        }
        if let Some((build, arch)) = build.rsplit_once('-')
            && arch.parse::<Arch>().is_ok()
            && self.is_build(build)
        {
            return Err(format!("`{build}-{arch}` has a build and an architecture; write --build {build} --arch {arch}"));
        }
        let of_update = self.build_of_update(build, arch).map(|build| format!("{build:#}"));
        let build = of_update.as_deref().unwrap_or(build);
        let whole = if self.label(build).is_none() { whole(build)? } else { None };
        let build = self.label(build).or(whole.as_deref()).unwrap_or(build);
        if axis::build(build)
            .is_some_and(|(build, _)| self.revisions.iter().any(|revision| revision.build.number[2] <= build.number[0]))
        {
            return Err(self.no_build(build, arch));
        }
        let build = match self.numbered(build)[..] {
            [] => build,
            [one] if self.label(build).is_none() => one,
            _ => return Err(format!("ambiguous release `{build}`; write {}", self.typed(build))),
        };
        let name = format!("{build}-{arch}");
        let number = axis::build(build).or_else(|| Some((self.shared_build(build)?, false)));
        let of = |target: TargetId| self.targets[target].revision;
        let named: Vec<_> = match number {
            Some((number, true)) => return self.select(number, arch).map(|asked| Asked { name, ..asked }),
            Some((number, false)) => match self.shared(number) {
                Some((_, first)) => {
                    let asked = self.select(first, arch)?;
                    let revisions = self.line(number, arch).into_iter().filter(|&target| target >= asked.target).count();
                    return Ok(Asked { name, selected_by: SelectedBy::First(revisions), ..asked });
                }
                None => self.line(number, arch),
            },
            None => {
                let revisions = self.point(build).unwrap_or_default();
                self.along(arch).map(|(_, target)| target).filter(|&target| revisions.contains(&of(target))).collect()
            }
        };
        match (named.first(), number) {
            (Some(&target), _) => {
                // A service pack denotes one revision. Other builds can have revisions that are not on the axis.
                let is_name = number.is_none() && self.revision_name(of(target)) == build;
                let selected_by = if is_name { SelectedBy::Revision } else { SelectedBy::First(named.len()) };
                Ok(Asked { name, selected_by, ..self.newest(target) })
            }
            (None, Some((number, _))) => self.select(number, arch).map(|asked| Asked { name, ..asked }),
            (None, None) => Err(self.no_build(build, arch)),
        }
    }

    /// The first build of an update, by its number as in `KB5031356`. Case is ignored.
    fn build_of_update(&self, text: &str, arch: Arch) -> Option<Build> {
        let (kb, number) = text.split_at_checked(2)?;
        let number: u32 = number.parse().ok().filter(|_| kb.eq_ignore_ascii_case("KB"))?;
        let builds = self.kbs.iter().filter(|(_, kbs)| kbs.contains(&number)).map(|(build, _)| *build);
        builds.into_iter().find(|build| self.at(*build, arch).is_some())
    }

    /// Selects a build by all of its numbers; without a revision, it is revision 0.
    ///
    /// # Errors
    ///
    /// No layouts exist for the build.
    pub fn select(&self, build: Build, arch: Arch) -> Result<Asked, String> {
        let name = format!("{build:#}-{arch}");
        let (own, build) = (build, self.canonical(build));
        match self.placed(build, arch) {
            Ok(target) => Ok(Asked { name, selected_by: SelectedBy::Revision, own, build, target }),
            Err(absent) => Err(format!("{name}: {absent}")),
        }
    }

    fn placed(&self, build: Build, arch: Arch) -> Result<TargetId, Absent> {
        let newest = self.revisions.last().map(|revision| revision.build);
        place(build, self.along(arch), newest).map(|(_, target)| target)
    }

    /// The target with the layouts of a build: the last revision of the build on the axis at or before its own. Revisions of other builds do not
    /// count.
    pub fn at(&self, build: Build, arch: Arch) -> Option<TargetId> {
        let build = self.canonical(build);
        let target = self.placed(build, arch).ok()?;
        let own = self.revision_of(target).build;
        (own.number == build.number && own <= build).then_some(target)
    }

    /// The selection of a target as the newest one.
    pub fn newest(&self, target: TargetId) -> Asked {
        let build = self.revision_of(target).build;
        Asked { name: String::new(), selected_by: SelectedBy::Newest, own: build, build, target }
    }

    /// The label that equals a text. Case is ignored.
    fn label(&self, text: &str) -> Option<&str> {
        let is = self.labels().find(|label| *label == text);
        is.or_else(|| self.labels().find(|label| label.eq_ignore_ascii_case(text)))
    }

    /// The label to write for the first label of a release, which releases of several systems can share: `11-22H2` for `22H2`.
    pub fn single<'a>(&'a self, label: &'a str) -> &'a str {
        let release = self.releases.iter().find(|release| release.label() == label);
        let is_it = |name: &&String| is_numbered(name, label) && self.labelled(name).is_some_and(|releases| releases.len() == 1);
        release.and_then(|release| release.labels.iter().find(is_it)).map_or(label, String::as_str)
    }

    /// The labels that are another one with the number of a system before it: `10-22H2` and `11-22H2` for `22H2`.
    fn numbered(&self, text: &str) -> Vec<&str> {
        self.labels().filter(|label| is_numbered(label, text)).collect()
    }

    /// The labels to write for a label, quoted.
    fn typed(&self, label: &str) -> String {
        let several = self.numbered(label);
        let all = if several.is_empty() { vec![label] } else { several };
        all.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(" or ")
    }

    /// Whether a text names a build without an architecture.
    fn is_build(&self, text: &str) -> bool {
        self.label(text).is_some() || self.shared_build(text).is_some() || axis::build(text).is_some()
    }

    fn no_build(&self, build: &str, arch: Arch) -> String {
        let revisions = self.point(build).unwrap_or_default();
        let has = |arch: &Arch| self.along(*arch).any(|(_, target)| revisions.contains(&self.targets[target].revision));
        let others: Vec<_> = Arch::ALL.into_iter().filter(has).map(Arch::as_str).collect();
        if !others.is_empty() {
            return format!("no layouts of build `{build}` for {arch}; it has {}", others.join(" and "));
        }
        if let Some(first) = self.update(build).and_then(|update| update.revisions.first()) {
            let help = format!("write one of them, such as {first:#}; `etw list --updates {build}` prints them");
            return format!("update `{build}` applies to several builds; {help}");
        }
        let is_kb = |number: u32| self.kbs.values().any(|kbs| kbs.contains(&number));
        if let Some(kb) = build.parse().ok().filter(|number| is_kb(*number)) {
            return format!("unknown build `{build}`; did you mean the update `KB{kb}`?");
        }
        // A release can be written with the number of its system although no other system has it: `11-24H2` for `24H2`.
        let end = build.split_once('-').and_then(|(_, end)| self.labels().find(|label| *label == end));
        let near = end.or_else(|| nearest(build, self.labels())).filter(|_| !self.labels().any(|label| label == build));
        let near = near.map(|near| format!("did you mean {}? ", self.typed(near))).unwrap_or_default();
        let labels: Vec<_> = self.labels().collect();
        let example = |wanted| labels.iter().find(|label| **label == wanted);
        let examples: Vec<_> = ["1709", "11-22H2", "server-2022"].into_iter().filter_map(example).copied().collect();
        // Axes of other systems have labels of their own.
        let labels = if examples.is_empty() { labels } else { examples };
        format!(
            "unknown build `{build}`; {near}write a label such as {}, or a build such as 10.0.19041.1415; `etw list --targets` prints all",
            labels.into_iter().take(5).collect::<Vec<_>>().join(", ")
        )
    }
}

/// Completes a build without its system: 10.0.19045.3570 for `19045.3570`.
fn whole(text: &str) -> Result<Option<String>, String> {
    match text.parse::<Build>() {
        Ok(Build { number: [major, minor, _], .. }) if text.split('.').count() < 3 => Ok(Some(format!("{major}.{minor}.{text}"))),
        Err(error) if error.meant().is_some() => Err(error.to_string()),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Whether a label is another one with the number of a system before it, as `10-22H2` for `22H2`.
fn is_numbered(label: &str, other: &str) -> bool {
    let system = label.strip_suffix(other).and_then(|rest| rest.strip_suffix('-'));
    system.is_some_and(|system| !system.is_empty() && system.bytes().all(|byte| byte.is_ascii_digit()))
}
