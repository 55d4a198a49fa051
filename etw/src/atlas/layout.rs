//! The page of one layout: a map of its bytes, its members with what each is known from, and what changed before.

use super::facts::Atlas;
use super::frame::{page as framed, scrolled};
use super::{marks, memory, moved, paths};
use crate::html::Html;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::emit::{c, isf};
use etw_layouts_codegen::layouts::{Form, LayoutId};
use etw_layouts_project::matrix::Matrix;
use etw_layouts_project::members::{Member, keyword};
use etw_layouts_project::subject::Subject;
use etw_layouts_project::{Choice, Source};
use std::fmt;

/// Beyond that a header is left to the command that prints it.
const LONGEST: usize = 80_000;

/// The page; nothing for an enumeration.
pub fn page(atlas: &Atlas, id: LayoutId) -> Option<(String, String)> {
    let layout = &atlas.layouts.layouts[id];
    let Form::Aggregate(aggregate) = &layout.form else { return None };
    let name = &layout.name;
    let choice = |target: TargetId| Choice::of(atlas.layouts, atlas.registry, atlas.axis.newest(target), Some(name));
    // Of the kernels that have it, one whose symbols state it speaks for all.
    let targets: Vec<_> = layout.targets.iter().collect();
    let speaker = targets.iter().copied().min_by_key(|&target| atlas.source(Some(name), target, choice(target).confidence))?;
    let subject = Subject { structure: name.clone(), member: None, choice: choice(speaker), levels: 0 };
    let members = subject.members(atlas.layouts);
    let known = subject.known(atlas.layouts, atlas.registry, &members);
    let sources = subject.sources(atlas.layouts, atlas.registry, &members);
    let kernel = &atlas.kernels[speaker].name;
    Some(framed(atlas.layout_page(id), "structures", format_args!("{name} in {}", atlas.scope(&layout.targets)), |html| {
        html.el("h1", &[], |html| {
            html.leaf("span", &[("class", &"kind")], keyword(aggregate.kind));
            html.el("code", &[], |html| html.link(format_args!("../{}", paths::of_type(name)), name));
            html.text(format_args!(" in {}", atlas.scope(&layout.targets)));
        });
        let extent = layout.extent();
        html.leaf("p", &[("class", &"lead")], format_args!("{:#x} bytes, aligned to {}.", extent.size, extent.align));
        html.el("p", &[("class", &"kernels")], |html| {
            html.text("Targets with this layout: ");
            for &target in &targets {
                html.el("span", &[], |html| {
                    let confidence = choice(target).confidence;
                    marks::source(html, atlas.source(Some(name), target, confidence), confidence);
                    html.text(" ");
                    html.link(format_args!("../kernel/{}.html", atlas.kernels[target].name), &atlas.kernels[target].name);
                });
            }
        });
        html.leaf("h2", &[("id", &"bytes")], "Bytes");
        memory::draw(&members, extent.size, html);
        html.leaf("h2", &[("id", &"members")], "Members");
        html.leaf("p", &[], format_args!("The evidence column applies to {kernel}."));
        scrolled(html, format_args!("Members of {name}"), |html| table(&members, &known, &sources, html));
        for [before, now] in steps(atlas, name, id) {
            let arch = atlas.axis.targets[now].arch;
            html.leaf(
                "h2",
                &[("id", &format_args!("before-{arch}"))],
                format_args!("Comparison with the previous layout, {arch}"),
            );
            let (a, b) = (&atlas.kernels[before].name, &atlas.kernels[now].name);
            html.el("p", &[], |html| {
                html.text("The build that changed the layout, and the last one before it. ");
                html.leaf(
                    "a",
                    &[("href", &format_args!("../{}#a={a}&b={b}", paths::of_type(name))), ("class", &"scripted")],
                    "Compare other versions",
                );
            });
            moved::draw(atlas, name, [before, now], html);
            moved::legend(html);
        }
        copies(atlas, name, speaker, html);
        marks::legend(html, "../");
    }))
}

/// Where the layout follows another, by architecture: the last target before, and the first with it.
fn steps(atlas: &Atlas, name: &str, id: LayoutId) -> Vec<[TargetId; 2]> {
    let structure = atlas.structures.iter().find(|structure| structure.name() == name);
    let matrices = structure.map_or(&[][..], |structure| &structure.matrices);
    let step = |matrix: &Matrix| {
        let pair = matrix.columns.windows(2).find(|pair| pair[1].layout == id && pair[0].layout != id)?;
        let targets = [pair[0].targets.last()?.0, pair[1].targets.first()?.0];
        Some((pair[0].layout, targets))
    };
    let mut steps: Vec<_> = matrices.iter().filter_map(step).collect();
    // The same step on two architectures is shown once.
    steps.dedup_by_key(|(before, _)| *before);
    steps.into_iter().map(|(_, targets)| targets).collect()
}

fn table(members: &[Member], known: &[String], sources: &[Option<Source>], html: &mut Html) {
    html.el("table", &[("class", &"members")], |html| {
        html.el("thead", &[], |html| {
            html.el("tr", &[], |html| {
                for heading in ["Offset", "Size", "Member", "Type", "Bits", "Evidence", "Description"] {
                    html.leaf("th", &[("scope", &"col")], heading);
                }
            });
        });
        html.el("tbody", &[], |html| {
            for (index, member) in members.iter().enumerate() {
                let id = format!("r{index}");
                let class = if member.field.is_none() { "padding" } else { "" };
                html.el("tr", &[("id", &id), ("class", &class)], |html| {
                    html.leaf("td", &[], format_args!("{:#06x}", member.offset));
                    html.leaf("td", &[], format_args!("{:#x}", member.size));
                    let (label, ty) = memory::names(member);
                    html.leaf("th", &[("scope", &"row"), ("style", &format_args!("--depth:{}", member.depth))], label);
                    html.leaf("td", &[], ty);
                    html.leaf("td", &[], member.bits.map(crate::show::range).unwrap_or_default());
                    html.el("td", &[], |html| {
                        if let Some(of) = sources[index].filter(|_| member.path.is_some()) {
                            marks::source(html, of, &known[index]);
                            html.text(format_args!(" {}", known[index]));
                        }
                    });
                    html.leaf("td", &[("class", &"doc")], member.field.as_ref().map_or("", |(_, info)| &info.doc));
                });
            }
        });
    });
}

/// The layout for a program.
fn copies(atlas: &Atlas, name: &str, target: TargetId, html: &mut Html) {
    let axis = atlas.axis;
    let kernel = &atlas.kernels[target].name;
    html.leaf("h2", &[("id", &"copy")], "Source code");
    html.el("details", &[], |html| {
        html.leaf("summary", &[], "Rust");
        let module = &axis.kernel_of(target).module;
        html.leaf(
            "pre",
            &[("class", &"code"), ("tabindex", &"0")],
            format_args!("use etw_layouts::{module}::{}::{name};", axis.targets[target].arch),
        );
    });
    let c = c::header(atlas.layouts, target, Some(name), c::Style::default());
    copy("C, with embedded structures and assertions", &c, format_args!("etw export c {kernel} --only {name}"), html);
    let isf = isf::table(atlas.layouts, target, Some(name), None, &format!("etw-layouts: {kernel}"));
    copy("ISF, for Volatility 3", &isf, format_args!("etw export isf {kernel} --only {name}"), html);
}

/// A text to copy, or the command that prints it.
fn copy(what: &str, text: &str, command: fmt::Arguments, html: &mut Html) {
    html.el("details", &[], |html| {
        html.leaf("summary", &[], what);
        match text.len() {
            0..LONGEST => html.leaf("pre", &[("class", &"code"), ("tabindex", &"0")], text),
            _ => html.leaf("p", &[], format_args!("Too long for this page; print it with: {command}")),
        }
    });
}
