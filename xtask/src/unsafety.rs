//! Counts of `unsafe` by file.

use crate::{Error, workspace};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Uses of `unsafe` in a file.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Blocks.
    pub blocks: usize,
    /// Implementations.
    pub impls: usize,
    /// Functions.
    pub functions: usize,
}

/// The sources with `unsafe`, by path from the root.
pub fn counts() -> Result<BTreeMap<String, Count>, Error> {
    let mut counts = BTreeMap::new();
    let mut sources = Vec::new();
    find(&workspace::root(), "", &mut sources)?;
    for path in sources {
        let text = fs::read_to_string(workspace::root().join(&path))?;
        // Most files have no `unsafe` code and need no parsing.
        if text.contains("unsafe") {
            let tokens: TokenStream = text.parse().map_err(|error| format!("{path}: {error}"))?;
            count(tokens, counts.entry(path).or_default());
        }
    }
    counts.retain(|_, count| *count != Count::default());
    Ok(counts)
}

fn find(root: &Path, folder: &str, found: &mut Vec<String>) -> Result<(), Error> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        match entry.file_type()?.is_dir() {
            true if name == "target" || name.starts_with('.') => {}
            true => find(root, &path, found)?,
            false if name.ends_with(".rs") => found.push(path),
            false => {}
        }
    }
    Ok(())
}

fn count(tokens: TokenStream, count: &mut Count) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if let TokenTree::Group(group) = token {
            self::count(group.stream(), count);
            continue;
        }
        if token.to_string() != "unsafe" {
            continue;
        }
        match tokens.peek() {
            Some(TokenTree::Group(_)) => count.blocks += 1,
            Some(TokenTree::Ident(word)) if word == "impl" => count.impls += 1,
            Some(TokenTree::Ident(word)) if word == "fn" || word == "extern" => count.functions += 1,
            _ => {}
        }
    }
}
