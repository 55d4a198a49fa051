//! The lives of a structure's members: every offset, type and width that each had. What is too long for one page goes on on others.

use super::scopes::Scopes;
use super::{marks, paths};
use crate::html::Html;
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::layouts::Bits;
use etw_layouts_project::history::{History, Stage, TargetFact};
use etw_layouts_project::matrix::Matrix;
use std::collections::{BTreeMap, HashMap};

/// The bytes of tables on a page.
const PAGE: usize = 200_000;

/// The lives of all members, on pages.
pub struct Life {
    structure: String,
    pages: Vec<Html>,
    /// On which page each member is.
    members: BTreeMap<String, usize>,
}

impl Life {
    pub fn of(scopes: &Scopes, history: &History, matrices: &[Matrix]) -> Self {
        let rows = matrices.iter().flat_map(|matrix| &matrix.rows);
        let docs: HashMap<&str, &str> = rows.map(|row| (row.member.as_str(), row.doc.as_str())).collect();
        let mut life = Self { structure: history.structure.clone(), pages: vec![Html::default()], members: BTreeMap::new() };
        for (member, stages) in &history.members {
            let mut section = Html::default();
            let doc = docs.get(member.as_str()).copied().unwrap_or_default();
            self::section(scopes, member, doc, stages, &mut section);
            if life.pages.last().is_some_and(|page| page.len() > 0 && page.len() + section.len() > PAGE) {
                life.pages.push(Html::default());
            }
            let page = life.pages.len() - 1;
            life.pages[page].add(&section);
            life.members.insert(member.clone(), page);
        }
        life
    }

    /// Where the life of a member is told, from the root.
    pub fn page(&self, member: &str) -> Option<String> {
        self.members.get(member).map(|&page| format!("{}#{member}", self.path(page)))
    }

    /// Where the first of all is told.
    pub fn first(&self) -> Option<String> {
        (!self.members.is_empty()).then(|| self.path(0))
    }

    fn path(&self, page: usize) -> String {
        paths::of_members(&self.structure, page)
    }

    /// The pages' tables, with the path of each.
    pub fn pages(&self) -> impl Iterator<Item = (String, &Html)> {
        let pages = self.pages.iter().enumerate().filter(|(_, page)| page.len() > 0);
        pages.map(|(page, table)| (self.path(page), table))
    }
}

fn section(scopes: &Scopes, member: &str, doc: &str, stages: &[Stage], html: &mut Html) {
    html.el("tbody", &[("id", &member)], |html| {
        html.el("tr", &[], |html| {
            html.el("th", &[("scope", &"rowgroup"), ("colspan", &8)], |html| {
                html.link(format_args!("#{member}"), member);
                if !doc.is_empty() {
                    html.leaf("span", &[], doc);
                }
            });
        });
        stages.iter().for_each(|stage| row(scopes, member, stage, html));
    });
}

fn row(scopes: &Scopes, member: &str, stage: &Stage, html: &mut Html) {
    let kernel = stage.targets.iter().next().map_or_else(String::new, |first| scopes.build(first));
    let id = format!("{member}@{kernel}");
    html.el("tr", &[("id", &id)], |html| {
        html.el("td", &[], |html| html.link(format_args!("#{id}"), scopes.words(&stage.targets)));
        for arch in Arch::ALL {
            match &stage.facts[arch as usize] {
                Some(Some(TargetFact::Size { size: number, .. } | TargetFact::Member { offset: number, .. })) => {
                    html.leaf("td", &[], format_args!("{number:#06x}"));
                }
                Some(Some(TargetFact::Constant { value })) => html.leaf("td", &[], value),
                Some(None) => html.leaf("td", &[], "–"),
                None => html.leaf("td", &[], ""),
            }
        }
        let facts = || stage.facts.iter().flatten().flatten();
        let mut types: Vec<&str> =
            facts().filter_map(|f| if let TargetFact::Member { r#type, .. } = f { Some(&**r#type) } else { None }).collect();
        types.dedup();
        html.leaf("td", &[], types.join(" / "));
        let mut bits: Vec<_> = facts().filter_map(range).collect();
        bits.dedup();
        html.leaf("td", &[], bits.join(" / "));
        html.leaf("td", &[], &stage.change);
        html.el("td", &[], |html| stage.sources.iter().for_each(|&source| marks::source(html, source, source.word())));
    });
}

fn range(fact: &TargetFact) -> Option<String> {
    match *fact {
        TargetFact::Member { bit: Some(position), bits: Some(width), .. } => Some(crate::show::range(Bits { position, width })),
        _ => None,
    }
}
