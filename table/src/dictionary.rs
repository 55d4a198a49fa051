//! Names in dictionaries: each name is stored once, and rows refer to it by number.

use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow_schema::ArrowError;
use std::collections::HashMap;
use std::sync::Arc;

/// Names with their numbers. Names are only added, so that the names of a batch begin with those of the batch before it.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    numbers: HashMap<Box<str>, i32>,
    names: Vec<Box<str>>,
    bytes: usize,
    array: Option<Arc<StringArray>>,
}

impl Dictionary {
    /// The number of a name.
    pub fn add(&mut self, name: &str) -> i32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as i32;
        self.bytes += name.len();
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    /// Memory for names, in bytes.
    pub fn size(&self) -> usize {
        256 + self.bytes + 64 * self.names.len()
    }

    /// A column of names by their numbers.
    pub fn column(&mut self, numbers: Int32Array) -> Result<ArrayRef, ArrowError> {
        let names = match &self.array {
            Some(array) if array.len() == self.names.len() => array.clone(),
            _ => self.array.insert(Arc::new(StringArray::from_iter_values(&self.names))).clone(),
        };
        Ok(Arc::new(DictionaryArray::try_new(numbers, names)?))
    }
}
