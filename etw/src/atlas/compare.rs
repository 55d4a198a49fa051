//! The comparison of kernels: of those that follow each other on pages of their own, of any two by a script, in the words of `etw diff`.

use super::facts::Atlas;
use super::frame::page as framed;
use super::paths;
use crate::html::Html;
use crate::{Error, diff};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::registry::WitnessKind;
use etw_layouts_project::Choice;
use etw_layouts_project::diff::compact::Compact;
use etw_layouts_project::diff::{Side, changes};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// The page that compares a target with the one before it, if there is one.
pub fn step(atlas: &Atlas, target: TargetId) -> Option<(String, String)> {
    let now = &atlas.kernels[target];
    let before = now.before?;
    let then = &atlas.kernels[before];
    Some(framed(
        paths::of_step(&atlas.kernels[before].name, &atlas.kernels[target].name),
        "compare",
        format_args!("{} to {}", then.name, now.name),
        |html| {
            html.el("h1", &[], |html| {
                html.link(format_args!("../{}", paths::of_kernel(&then.name)), &then.name);
                html.text(" → ");
                html.link(format_args!("../{}", paths::of_kernel(&now.name)), &now.name);
            });
            html.leaf("p", &[("class", &"lead")], format_args!("{} → {}", atlas.release(before), atlas.release(target)));
            html.leaf("p", &[], format_args!("Output of etw diff {} {}.", then.name, now.name));
            lines(&words(&then.side, &now.side), html);
        },
    ))
}

/// What differs, in the words of `etw diff` without its styles.
pub fn words(a: &Side, b: &Side) -> String {
    anstream::adapter::strip_str(&diff::text(a, b, &changes(a, b))).to_string()
}

fn lines(text: &str, html: &mut Html) {
    html.el("pre", &[("class", &"diff"), ("tabindex", &"0"), ("id", &"diff")], |html| {
        for line in text.lines() {
            let class = match line.as_bytes().first() {
                Some(b'+') => "new",
                Some(b'-') => "gone",
                Some(b'~') => "moved",
                _ => "",
            };
            match class {
                "" => html.text(line),
                class => html.leaf("span", &[("class", &class)], line),
            }
            html.text("\n");
        }
    });
}

/// The page that compares any two.
pub fn page(atlas: &Atlas) -> (String, String) {
    framed("compare.html".into(), "compare", "Compare two targets", |html| {
        html.leaf("h1", &[], "Compare two targets");
        html.leaf("p", &[("class", &"lead")], "Differences as printed by etw diff, with the build that introduced each one.");
        html.leaf(
            "p",
            &[],
            "Enter a build and revision, or a label: 10.0.19041.1415-x64, 19041.1415, 2004-x64. “Last build without \
             the change” names the last examined build before the change; it can be a later update of the preceding build. Each has its \
             evidence level.",
        );
        html.el("form", &[("class", &"scripted filter"), ("id", &"compare")], |html| {
            for (id, label) in [("a", "from"), ("b", "to")] {
                html.leaf("label", &[("for", &id)], label);
                let input: [(&str, &dyn Display); 7] = [
                    ("id", &id),
                    ("list", &"kernels"),
                    ("size", &"22"),
                    ("placeholder", &"10.0.19041.1415-x64"),
                    ("autocomplete", &"off"),
                    ("spellcheck", &"false"),
                    ("required", &"required"),
                ];
                html.void("input", &input);
            }
            html.leaf("label", &[("for", &"only")], "only");
            html.void(
                "input",
                &[
                    ("id", &"only"),
                    ("list", &"names"),
                    ("size", &"26"),
                    ("placeholder", &"every structure"),
                    ("autocomplete", &"off"),
                    ("spellcheck", &"false"),
                ],
            );
            html.leaf("button", &[], "Compare");
            html.el("datalist", &[("id", &"kernels")], |html| {
                for (target, kernel) in atlas.kernels.iter() {
                    html.void("option", &[("value", &kernel.name), ("label", &atlas.release(target))]);
                }
            });
            html.el("datalist", &[("id", &"names")], |html| {
                atlas.layouts.spec.definitions.keys().for_each(|name| html.void("option", &[("value", name)]));
            });
        });
        html.el("div", &[("id", &"outcome"), ("aria-live", &"polite"), ("class", &"scripted")], |html| {
            html.leaf("p", &[("id", &"way")], "");
            html.leaf("pre", &[("class", &"diff"), ("id", &"diff"), ("tabindex", &"0"), ("aria-label", &"Differences")], "");
        });
        html.leaf("h2", &[("id", &"steps")], "Consecutive builds");
        html.leaf("p", &[], "These pages work without JavaScript.");
        for arch in super::facts::ARCHITECTURES {
            html.leaf("h3", &[], arch);
            html.el("ol", &[("class", &"steps")], |html| {
                for (_, target) in atlas.axis.along(arch) {
                    let Some(before) = atlas.kernels[target].before else { continue };
                    html.el("li", &[], |html| {
                        html.link(
                            paths::of_step(&atlas.kernels[before].name, &atlas.kernels[target].name),
                            format_args!("{} → {}", atlas.build(before), atlas.build(target)),
                        );
                    });
                }
            });
        }
    })
}

/// What the script compares: the definitions of all targets, and the kernels that were seen, by target.
#[derive(Serialize)]
struct Data<'a> {
    kernels: Vec<KernelData<'a>>,
    /// Targets by their other names, each with what it is called then.
    named: BTreeMap<String, (usize, String)>,
    /// Builds that are the kernel of another.
    same: BTreeMap<String, (String, u32)>,
    /// What the numbers of `confidences` mean.
    words_of_confidence: Vec<&'static str>,
    /// The confidence by target in a structure that is not everywhere as sure as its kernel.
    confidences: BTreeMap<&'a str, Vec<usize>>,
    #[serde(flatten)]
    compact: Compact,
}

#[derive(Serialize)]
struct KernelData<'a> {
    name: &'a str,
    arch: &'static str,
    confidence: &'static str,
    /// The kernels that were seen to have its layouts, by their builds, with the strongest of what was seen.
    seen: BTreeMap<String, &'static str>,
}

/// The data of the script.
pub fn data(atlas: &Atlas) -> Result<String, Error> {
    let sides: Vec<&Side> = atlas.kernels.values().map(|kernel| &kernel.side).collect();
    let kernels = atlas.kernels.iter().map(|(target, kernel)| KernelData {
        name: &kernel.name,
        arch: atlas.axis.targets[target].arch.as_str(),
        confidence: kernel.choice.confidence.word(),
        seen: seen(atlas, kernel),
    });
    let kernels = kernels.collect();
    let (words_of_confidence, confidences) = confidences(atlas);
    let (named, same) = (named(atlas), same(atlas));
    let data = Data { kernels, named, same, words_of_confidence, confidences, compact: Compact::of(atlas.layouts, &sides) };
    Ok(format!("window.atlasCompare = {};\n", serde_json::to_string(&data)?))
}

/// Labels, and builds without a revision, as [`find`](etw_layouts_codegen::axis::Axis::find) knows them.
fn named(atlas: &Atlas) -> BTreeMap<String, (usize, String)> {
    let own = atlas.axis.kernels.iter().enumerate().flat_map(|(index, kernel)| {
        let numbers = kernel.same.iter().chain([&kernel.build]);
        numbers.map(|build| dotted(build.number)).chain([atlas.axis.kernel_name(index)])
    });
    let names: BTreeSet<String> = atlas.axis.labels().map(str::to_owned).chain(own).collect();
    let all = names.iter().flat_map(|name| super::facts::ARCHITECTURES.map(|arch| atlas.axis.find_build(name, arch)));
    let choices = all.flatten().map(|asked| Choice::of(atlas.layouts, atlas.registry, asked, None));
    choices.map(|choice| (choice.asked.name.clone(), (choice.target().into(), choice.label(atlas.axis)))).collect()
}

/// The builds that are other ones, by number, and the first revision of each.
fn same(atlas: &Atlas) -> BTreeMap<String, (String, u32)> {
    let pairs = atlas.axis.kernels.iter().flat_map(|kernel| kernel.same.iter().map(|same| (same, kernel.build.number)));
    pairs.map(|(same, own)| (dotted(same.number), (dotted(own), same.revision))).collect()
}

fn dotted([major, minor, build]: [u32; 3]) -> String {
    format!("{major}.{minor}.{build}")
}

/// The words for the confidence, and their numbers for structures by target, where one is not that of the kernel.
fn confidences<'a>(atlas: &Atlas<'a>) -> (Vec<&'static str>, BTreeMap<&'a str, Vec<usize>>) {
    let of = |name: &'a String| {
        let words = atlas
            .kernels
            .values()
            .map(|kernel| Choice::of(atlas.layouts, atlas.registry, kernel.choice.asked.clone(), Some(name)).confidence.word());
        (name.as_str(), words.collect::<Vec<_>>())
    };
    let all: Vec<_> = atlas.layouts.spec.definitions.par_iter().map(|(name, _)| of(name)).collect();
    let own: Vec<_> = atlas.kernels.values().map(|kernel| kernel.choice.confidence.word()).collect();
    let mut words = Vec::new();
    let mut numbers = BTreeMap::new();
    for (name, list) in all.into_iter().filter(|(_, list)| *list != own) {
        let number = |word| {
            words.iter().position(|known| *known == word).unwrap_or_else(|| {
                words.push(word);
                words.len() - 1
            })
        };
        numbers.insert(name, list.into_iter().map(number).collect());
    }
    (words, numbers)
}

fn seen(atlas: &Atlas, kernel: &super::facts::AtlasTarget) -> BTreeMap<String, &'static str> {
    let mut all = BTreeMap::new();
    for seen in &kernel.seen {
        let (rank, word) = match atlas.registry.witnesses.get(seen.witness).map(|witness| witness.kind) {
            Some(WitnessKind::Symbols) => (0, "s"),
            Some(WitnessKind::Converted) => (1, "c"),
            _ => (2, "i"),
        };
        let entry = all.entry(seen.build.to_string()).or_insert((rank, word));
        *entry = (*entry).min((rank, word));
    }
    all.into_iter().map(|(build, (_, word))| (build, word)).collect()
}
