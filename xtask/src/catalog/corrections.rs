//! Corrections of the sources by real events and other evidence: `catalog/corrections.toml`.

use super::fields;
use super::report::Report;
use super::rows::Row;
use crate::{Error, workspace};
use etw_layouts_schemas::Field;
use serde::Deserialize;

/// All corrections.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corrections {
    correction: Vec<Correction>,
    left_out: Vec<LeftOut>,
}

/// A correction of fields or of events. The keys are described in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Correction {
    providers: Vec<String>,
    #[serde(default)]
    fields: Vec<String>,
    #[serde(default)]
    ids: Vec<u16>,
    #[serde(default)]
    version: u8,
    states: Option<String>,
    actual: OneOrMore,
    evidence: Vec<String>,
    // What no payload shows, and payloads for the tests of the catalogue.
    #[serde(rename = "inferred")]
    _inferred: Option<String>,
    #[serde(default, rename = "payloads")]
    _payloads: Vec<toml::Table>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// An event that is not part of the catalogue.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    provider: String,
    id: u16,
    version: u8,
    evidence: Vec<String>,
}

impl Corrections {
    /// Reads the file.
    pub fn read() -> Result<Self, Error> {
        let path = workspace::root().join("catalog/corrections.toml");
        let failed = |error: String| Error::from(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let read: Self = toml::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let evidence = read.correction.iter().map(|correction| &correction.evidence);
        if evidence.chain(read.left_out.iter().map(|left_out| &left_out.evidence)).any(Vec::is_empty) {
            return Err(failed("a correction has no evidence; state it".to_owned()));
        }
        Ok(read)
    }

    /// Corrects the rows.
    pub fn apply(&self, rows: &mut Vec<Row>, report: &mut Report) -> Result<(), Error> {
        for LeftOut { provider, id, version, .. } in &self.left_out {
            let count = rows.len();
            rows.retain(|row| row.provider != *provider || (row.id, row.version) != (*id, *version));
            report.add("left out: by a correction", count - rows.len());
        }
        for correction in &self.correction {
            let (mut changed, mut added) = (0, Vec::new());
            for row in rows.iter_mut().filter(|row| correction.is_of(row)) {
                let before = changed;
                match &correction.actual {
                    OneOrMore::One(actual) => changed += correction.replace_fields(row, actual)?,
                    OneOrMore::More(lists) => {
                        let replaced = lists.iter().map(|list| replace_all(row, list)).collect::<Result<Vec<_>, _>>()?;
                        changed += replaced.len();
                        let mut replaced = replaced.into_iter();
                        *row = replaced.next().unwrap_or_else(|| row.clone());
                        added.extend(replaced);
                    }
                }
                row.is_corrected |= changed > before;
            }
            if changed == 0 {
                return Err(format!("a correction changes nothing: {:?}; delete it", correction.evidence).into());
            }
            report.add("corrected statements", changed);
            rows.extend(added);
        }
        Ok(())
    }
}

impl Correction {
    fn is_of(&self, row: &Row) -> bool {
        let is_event = self.ids.is_empty() || self.ids.contains(&row.id) && self.version == row.version;
        is_event && row.fields.is_some() && self.providers.iter().any(|name| name == "*" || *name == row.provider)
    }

    /// Replaces the fields with the names and the stated type. Returns their number.
    fn replace_fields(&self, row: &mut Row, actual: &str) -> Result<usize, Error> {
        let mut changed = 0;
        let (mut names, mut corrected): (Vec<String>, Vec<Field>) = (Vec::new(), Vec::new());
        for field in row.fields.take().unwrap_or_default() {
            let is_stated = self.states.as_deref().is_none_or(|states| field.in_type.name() == Some(states));
            if self.fields.contains(&field.name) && is_stated {
                let text = actual.replace('$', &field.name);
                let parsed = fields::parse_after(&text, &names).map_err(|text| Error::from(format!("cannot parse `{text}`")))?;
                // A statement that is right already is not corrected.
                changed += usize::from(parsed != [Field { map: None, ..field.clone() }]);
                corrected.extend(parsed.into_iter().map(|new| Field { map: field.map, ..new }));
            } else {
                corrected.push(field);
            }
            names.extend(corrected.last().map(|field| field.name.clone()));
        }
        row.fields = Some(corrected);
        Ok(changed)
    }
}

/// The row with other fields. Those with the names of former fields keep their maps.
fn replace_all(row: &Row, list: &str) -> Result<Row, Error> {
    let parsed = fields::parse_after(list, &[]).map_err(|text| Error::from(format!("cannot parse `{text}`")))?;
    let former = row.fields.as_deref().unwrap_or_default();
    let map = |name: &str| former.iter().find(|field| field.name == name).and_then(|field| field.map);
    let fields = parsed.into_iter().map(|field| Field { map: map(&field.name), ..field }).collect();
    Ok(Row { fields: Some(fields), is_corrected: true, ..row.clone() })
}
