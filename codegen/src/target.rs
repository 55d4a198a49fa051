//! Targets by name: `1709-x64`, `10.0.19041.1415-x64`, `5.1.2600-sp3-x86`.

use crate::axis::{Arch, Axis, Build};
use crate::diagnostic::nearest;

/// A target that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index of the target whose layouts apply.
    pub target: usize,
    /// What to know if it is not the very build that was asked for.
    pub note: Option<String>,
}

impl Axis {
    /// The target of that name. A build that is not on the axis takes the nearest earlier kernel, and says so.
    ///
    /// # Errors
    ///
    /// What is wrong with the name, and which names exist.
    pub fn find(&self, name: &str) -> Result<Choice, String> {
        let split = name.rsplit_once('-').and_then(|(build, arch)| Some((build, Arch::parse(arch)?)));
        match split {
            Some((build, arch)) => self.find_build(build, arch),
            None => Err(format!(
                "`{name}` does not end in an architecture: write BUILD-ARCH, such as 1709-x64 or 10.0.19041.1415-x64"
            )),
        }
    }

    /// The target of a build's name and an architecture.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn find_build(&self, build: &str, arch: Arch) -> Result<Choice, String> {
        let kernel = match Build::parse(build) {
            Some((number, _)) => return self.nearest(number, arch),
            // A label or service pack stands for its first kernel.
            None => self.scope(&format!("{build} {arch}")).ok().and_then(|set| set.iter().next()),
        };
        let known = || self.labels().chain(["10.0.19041.1415"]).collect::<Vec<_>>().join(", ");
        let exact = |target| Choice { target, note: None };
        kernel.map(exact).ok_or_else(|| match nearest(build, self.labels()).filter(|_| !self.labels().any(|l| l == build)) {
            Some(near) => format!("`{build}` is no build; did you mean `{near}`? There are {}", known()),
            None => format!("there is no `{build}` for {arch}; there are {}", known()),
        })
    }

    fn nearest(&self, build: Build, arch: Arch) -> Result<Choice, String> {
        let same = self.kernels.iter().find(|kernel| kernel.same.iter().any(|same| same.number == build.number));
        let wanted = same.map_or(build, |kernel| Build { number: kernel.build.number, ..build });
        let of = |t: usize| &self.kernels[self.targets[t].kernel];
        let targets = || (0..self.targets.len()).filter(|&t| self.targets[t].arch == arch);
        let Some(target) = targets().rfind(|&t| of(t).build <= wanted) else {
            let first = targets().next().map(|t| self.target_name(t)).unwrap_or_default();
            return Err(format!("{build} is older than every known kernel for {arch}; the oldest is {first}"));
        };
        let note = (of(target).build != wanted).then(|| {
            let name = self.target_name(target);
            match targets().any(|t| of(t).build > wanted) {
                true => format!("{build} lies between known kernels; taken as {name}, the one before it"),
                false => format!("{build} is newer than every known kernel; taken as {name}, the newest"),
            }
        });
        Ok(Choice { target, note })
    }
}
