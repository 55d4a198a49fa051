//! The names that Windows uses for a build: its release and its update.

use super::{Axis, Build};
use core::fmt;

/// The names of a build, as in `Windows 10 22H2 (19045.3570, KB5031356)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowsName<'a> {
    /// The release, or the releases that share this kernel; `None` if the build is not on the axis.
    pub release: Option<&'a str>,
    /// Build and revision.
    pub update: Build,
    /// The KB numbers of the update, such as 5031356. Some updates have two, and the first revision of a build has none.
    pub kb: &'a [u32],
}

impl Axis {
    /// The names of a build, with the build number that was selected.
    pub fn windows(&self, update: Build) -> WindowsName<'_> {
        WindowsName { release: self.release(update), update, kb: self.kb(update) }
    }

    fn release(&self, build: Build) -> Option<&str> {
        // Several releases can share a kernel. Another build number of the kernel denotes one of them.
        let own = self.builds.iter().find(|(_, own)| own.number == build.number);
        let own = own.and_then(|(label, _)| self.names.get(label));
        let later = || self.releases.iter().find(|release| release.build.number == build.number).map(|release| &release.release);
        let number = self.canonical(build).number;
        let kernel = || self.kernels.iter().find(|kernel| kernel.build.number == number);
        let version = || kernel().map(|kernel| &self.versions[kernel.version].release);
        own.or_else(later).or_else(version).map(String::as_str)
    }

    /// The KB numbers of the update of a build: those of its own number, or of another number of its kernel.
    fn kb(&self, build: Build) -> &[u32] {
        let number = self.canonical(build).number;
        let same = self.kernels.iter().filter(|kernel| kernel.build.number == number).flat_map(|kernel| &kernel.same);
        let mut builds = [build.number, number].into_iter().chain(same.map(|same| same.number));
        builds.find_map(|number| self.kbs.get(&Build { number, ..build })).map_or(&[], Vec::as_slice)
    }
}

impl fmt::Display for WindowsName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Build { number: [_, _, build], revision } = self.update;
        let update = if revision == 0 { build.to_string() } else { format!("{build}.{revision}") };
        let kb: String = self.kb.iter().map(|kb| format!(", KB{kb}")).collect();
        match self.release {
            Some(release) => write!(f, "{release} ({update}{kb})"),
            None => write!(f, "{update}{kb}"),
        }
    }
}
