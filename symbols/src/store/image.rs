//! Images in the folders of a symbol path.

use super::search::candidates;
use super::{Store, SymbolPath};
use crate::identity::{ImageFile, Pdb, is_file_name};
use crate::image::{self, Exports};

/// Finds an image that has the identity. Servers are not contacted.
pub(super) fn find(path: &SymbolPath, image: &ImageFile, pdb: Option<&Pdb>) -> Option<Exports> {
    if !is_file_name(&image.name) {
        return None;
    }
    let folders = path.elements.iter().flatten().filter_map(|store| match store {
        Store::Folder(root) => Some(root),
        Store::Server(_) => None,
    });
    let files = folders.flat_map(|root| candidates(root, &image.name, &image.key()));
    let read = |file: std::path::PathBuf| Exports::read(&image::load(&file).ok()?).ok();
    files.filter_map(read).find(|exports| exports.is_of(image, pdb))
}
