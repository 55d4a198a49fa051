//! docs/TRUST.md, a handwritten page with generated table rows.

use crate::hosts::{HOSTS, ValueForm};
use crate::trust_tables::{FUZZ, read, replaced, rows};
use crate::{Error, fuzz, unsafety};

/// The page with up-to-date counts of fuzz targets, hosts, and `unsafe`.
pub fn page() -> Result<String, Error> {
    let page = read()?;
    let recorded = rows(&page, FUZZ)?;
    let row = |target: String| {
        let begins = format!("| {target} |");
        let known = recorded.iter().find(|row| row.starts_with(&begins));
        known.map_or_else(|| format!("{begins} – | – | {} |", fuzz::regressions(&target)), |row| (*row).to_owned())
    };
    let targets: Vec<_> = fuzz::targets()?.into_iter().map(row).collect();
    let hosts = HOSTS.map(|(host, holds)| match holds {
        ValueForm::Tests => format!("| {host} | tests of layouts, views and traces run |"),
        ValueForm::Compiles => format!("| {host} | all layout assertions compile |"),
        ValueForm::Refuses(words) => format!("| {host} | does not compile: \"{words} …\" |"),
    });
    let counts = unsafety::counts()?.into_iter();
    let counts: Vec<_> = counts.map(|(path, c)| format!("| {path} | {} | {} | {} |", c.blocks, c.impls, c.functions)).collect();
    replaced(&replaced(&replaced(&page, FUZZ, &targets)?, "| host |", &hosts)?, "| `unsafe` in |", &counts)
}
