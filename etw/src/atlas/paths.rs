//! Where each page is, from the root of the atlas.

use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::emit::rust::is_device;

/// Of a structure, or of values.
pub fn of_type(name: &str) -> String {
    format!("type/{}.html", file(name))
}

/// Of the lives of a structure's members, by the number of the page.
pub fn of_members(structure: &str, page: usize) -> String {
    match page {
        0 => format!("type/{}.members.html", file(structure)),
        page => format!("type/{}.members-{}.html", file(structure), page + 1),
    }
}

/// Of what lies at the offsets of a structure.
pub fn of_offsets(structure: &str, arch: Arch) -> String {
    format!("type/{}.{arch}.html", file(structure))
}

/// Of a layout, by the first target that has it.
pub fn of_layout(structure: &str, first: &str) -> String {
    format!("layout/{}.{first}.html", file(structure))
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

/// Of a class of events.
pub fn of_class(class: &str) -> String {
    format!("event/{}.html", file(class))
}

/// Of an event on the page of its class, by its whole name.
pub fn of_event(name: &str) -> String {
    let (class, event) = name.split_once('/').unwrap_or((name, ""));
    format!("{}#{event}", of_class(class))
}

/// From a page of a type to another of that folder.
pub fn near(page: &str) -> &str {
    page.trim_start_matches("type/")
}

/// What the files of a type begin with: on Windows, `CON.html` is no file but a device. No type's name has a hyphen.
fn file(name: &str) -> String {
    format!("{name}{}", if is_device(&name.to_ascii_uppercase()) { "-type" } else { "" })
}
