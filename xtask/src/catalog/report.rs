//! Counts of data that was read, changed or left out, by reason.

use etw_layouts_schemas::{Count, Field, Length};
use std::collections::BTreeMap;
use std::fmt;

/// Counts by reason, with the first examples.
#[derive(Default)]
pub struct Report {
    counts: BTreeMap<String, usize>,
    examples: BTreeMap<String, Vec<String>>,
    types: BTreeMap<String, usize>,
}

/// The number of examples for each reason.
const EXAMPLES: usize = 4;

impl Report {
    pub fn count(&mut self, reason: &str) {
        self.add(reason, 1);
    }

    pub fn add(&mut self, reason: &str, count: usize) {
        *self.counts.entry(reason.to_owned()).or_default() += count;
    }

    pub fn example(&mut self, reason: &str, provider: &str, text: &str) {
        self.count(reason);
        let examples = self.examples.entry(reason.to_owned()).or_default();
        if examples.len() < EXAMPLES {
            examples.push(format!("{provider}: {}", text.chars().take(100).collect::<String>()));
        }
    }

    /// Counts the forms of fields: their types, and how their counts and lengths are stated.
    pub fn fields(&mut self, fields: &[Field]) {
        for field in fields {
            let mut form = field.in_type.name().map_or_else(|| field.in_type.0.to_string(), str::to_owned);
            if let Some(name) = field.out_type.name().filter(|name| *name != "Null") {
                form = format!("{form}:{name}");
            }
            form += match field.count {
                Count::One => "",
                Count::Constant(_) => " count=N",
                Count::Field(_) => " count=field",
            };
            form += match field.length {
                Length::Type => "",
                Length::Constant(_) => " length=N",
                Length::Field(_) => " length=field",
            };
            *self.types.entry(form).or_default() += 1;
            self.fields(&field.members);
        }
    }

    /// The forms of fields, the most frequent first.
    pub fn forms(&self) -> Vec<(&str, usize)> {
        let mut forms: Vec<_> = self.types.iter().map(|(form, count)| (form.as_str(), *count)).collect();
        forms.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        forms
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (reason, count) in &self.counts {
            writeln!(f, "{count:>8}  {reason}")?;
            for example in self.examples.get(reason).into_iter().flatten() {
                writeln!(f, "            {example}")?;
            }
        }
        Ok(())
    }
}
