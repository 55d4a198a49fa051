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
        // Several releases can share a kernel. Their build numbers distinguish them.
        let shared = self.revisions.iter().flat_map(|revision| &revision.shared);
        let own = shared.into_iter().find(|shared| shared.build.number == build.number && !shared.name.is_empty());
        let later = || self.unimported.iter().find(|release| release.build.number == build.number).map(|release| &release.name);
        let number = self.canonical(build).number;
        let revision = || self.revisions.iter().find(|revision| revision.build.number == number);
        let release = || revision().map(|revision| &self.releases[revision.release].name);
        own.map(|shared| &shared.name).or_else(later).or_else(release).map(String::as_str)
    }

    /// The KB numbers of the update of a build: those of its own number, or of another number of its kernel.
    fn kb(&self, build: Build) -> &[u32] {
        let number = self.canonical(build).number;
        let shared =
            self.revisions.iter().filter(|revision| revision.build.number == number).flat_map(|revision| &revision.shared);
        let mut builds = [build.number, number].into_iter().chain(shared.map(|shared| shared.build.number));
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
