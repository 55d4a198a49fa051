//! Version axes, as an author states them.

use std::fmt::Write;

pub type Arch = &'static str;

#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub architectures: Vec<Arch>,
    /// Whether ARM64 follows x64.
    pub follows: bool,
    pub documents: Option<String>,
    pub versions: Vec<Version>,
    pub groups: Vec<Group>,
    pub updates: Vec<Update>,
    pub releases: Vec<Release>,
}

#[derive(Clone, Debug)]
pub struct Version {
    pub label: String,
    pub architectures: Option<Vec<Arch>>,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub build: Build,
    pub pack: Option<u32>,
    pub architectures: Option<Vec<Arch>>,
    pub same: Vec<Build>,
}

/// A build as it is written: with or without a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    pub number: [u32; 3],
    pub revision: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub label: String,
    pub of: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Update {
    pub name: String,
    pub kernels: Vec<Build>,
    pub without: Vec<[u32; 3]>,
    pub architectures: Option<Vec<Arch>>,
}

#[derive(Clone, Debug)]
pub struct Release {
    pub label: String,
    pub build: Build,
}

impl Axis {
    /// The text of windows.toml.
    pub fn text(&self) -> String {
        let mut out = format!("architectures = {:?}\n", self.architectures);
        if self.follows {
            out += "ranges = { arm64 = \"x64\" }\n";
        }
        if let Some(documents) = &self.documents {
            let _ = writeln!(out, "documented_range = {documents:?}");
        }
        let of = |of: &Option<Vec<Arch>>| of.as_ref().map(|of| format!("architectures = {of:?}"));
        let mut modules = 0..;
        for Version { label, architectures, rows } in &self.versions {
            // The labels of groups are further labels of their releases.
            let groups = self.groups.iter().filter(|group| group.of.contains(label)).map(|group| &group.label);
            let labels: Vec<_> = [label].into_iter().chain(groups).collect();
            let _ = writeln!(out, "[[release]]\nlabels = {labels:?}");
            out.extend(of(architectures).map(|line| line + "\n"));
            out += "revisions = [\n";
            for Row { build, pack, architectures, same } in rows {
                let mut keys =
                    vec![format!("build = \"{}\"", build.text()), format!("module = \"m{}\"", modules.next().unwrap_or(0))];
                keys.extend(pack.map(|pack| format!("service_pack = {pack}")));
                keys.extend(of(architectures));
                if !same.is_empty() {
                    let all: Vec<_> = same.iter().map(|build| format!("{{ build = \"{}\" }}", build.text())).collect();
                    keys.push(format!("releases = [{}]", all.join(", ")));
                }
                let _ = writeln!(out, "  {{ {} }},", keys.join(", "));
            }
            out += "]\n";
        }
        for Update { name, kernels, without, architectures } in &self.updates {
            let _ = writeln!(out, "[[update]]\nname = {name:?}\nrevisions = {}", list(kernels));
            if !without.is_empty() {
                let without: Vec<_> = without.iter().map(|&number| Build { number, revision: None }).collect();
                let _ = writeln!(out, "without = {}", list(&without));
            }
            out.extend(of(architectures).map(|line| line + "\n"));
        }
        for (index, Release { label, build }) in self.releases.iter().enumerate() {
            let build = build.text();
            let _ = writeln!(out, "[[release]]\nlabels = [{label:?}]\nname = \"R\"\nbuild = \"{build}\"\nmodule = \"r{index}\"");
        }
        out
    }
}

impl Build {
    pub fn text(self) -> String {
        let [major, minor, build] = self.number;
        let revision = self.revision.map(|revision| format!(".{revision}"));
        format!("{major}.{minor}.{build}{}", revision.unwrap_or_default())
    }
}

fn list(builds: &[Build]) -> String {
    format!("{:?}", builds.iter().map(|build| build.text()).collect::<Vec<_>>())
}
