//! The table of messages of a manifest.

use super::xml::Element;
use crate::schemas::{SchemaError, Schemas};
use std::collections::HashMap;

/// Messages by identifier.
pub(super) struct Strings<'a>(HashMap<&'a str, &'a str>);

impl<'a> Strings<'a> {
    /// The messages in English, otherwise in the first language.
    pub fn of(root: &'a Element) -> Self {
        let resources: Vec<_> =
            root.all("localization").into_iter().flat_map(|localization| localization.named("resources")).collect();
        let is_english =
            |element: &&&Element| element.get("culture").is_some_and(|culture| culture.eq_ignore_ascii_case("en-US"));
        let culture = resources.iter().find(is_english).or(resources.first()).and_then(|element| element.get("culture"));
        let mut strings = HashMap::new();
        for element in resources.iter().filter(|element| element.get("culture") == culture) {
            for string in element.listed("stringTable", "string") {
                if let (Some(id), Some(value)) = (string.get("id"), string.get("value")) {
                    strings.entry(id).or_insert(value);
                }
            }
        }
        Self(strings)
    }

    /// The message that an attribute refers to as `$(string.ID)`, otherwise the attribute itself. The error is an identifier without a message.
    pub fn message<'b>(&self, attribute: &'b str) -> Result<&'b str, &'b str>
    where
        'a: 'b,
    {
        match attribute.strip_prefix("$(string.").and_then(|rest| rest.strip_suffix(')')) {
            Some(id) => self.0.get(id).copied().ok_or(id),
            None => Ok(attribute),
        }
    }

    /// The message of an element. Reports one that is undefined.
    pub fn message_of(&self, element: &'a Element, schemas: &mut Schemas) -> Option<&'a str> {
        match self.message(element.get("message")?) {
            Ok(message) => Some(message),
            Err(id) => {
                schemas.report(SchemaError::line(
                    element.line,
                    format!("undefined string `{id}` in a message; add it to the string table"),
                ));
                None
            }
        }
    }
}
