//! Where each page is, from the root of the atlas.

use etw_layouts_codegen::axis::Arch;

/// Of a structure, or of values.
pub fn of_type(name: &str) -> String {
    format!("type/{name}.html")
}

/// Of the lives of a structure's members, by the number of the page.
pub fn of_members(structure: &str, page: usize) -> String {
    match page {
        0 => format!("type/{structure}.members.html"),
        page => format!("type/{structure}.members-{}.html", page + 1),
    }
}

/// Of what lies at the offsets of a structure.
pub fn of_offsets(structure: &str, arch: Arch) -> String {
    format!("type/{structure}.{arch}.html")
}

/// Of a target, by its name.
pub fn of_kernel(target: &str) -> String {
    format!("kernel/{target}.html")
}

/// Of the map of a target's structures.
pub fn of_map(target: &str) -> String {
    format!("map/{target}.html")
}

/// Of the comparison of a target with the one before it.
pub fn of_step(before: &str, after: &str) -> String {
    format!("step/{before}--{after}.html")
}

/// From a page of a type to another of that folder.
pub fn near(page: &str) -> &str {
    page.trim_start_matches("type/")
}
