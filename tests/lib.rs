//! Holds the tests of the whole pipeline, and tests the example of the README.

#[doc = include_str!("../README.md")]
pub struct Readme;

#[doc = include_str!("../CONTRIBUTING.md")]
pub struct Contributing;
