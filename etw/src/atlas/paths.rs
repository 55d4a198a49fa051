//! Where each page is, from the root of the atlas.

use etw_layouts_codegen::emit::rust::is_device;

/// Of a structure, or of values.
pub fn of_type(name: &str) -> String {
    format!("type/{}.html", file(name))
}

/// The page of a type, for a link from a page in a folder.
pub fn to_type(name: &str) -> String {
    format!("../{}", of_type(name))
}

/// Of what the script knows of a structure.
pub fn of_data(structure: &str) -> String {
    format!("type/{}.js", file(structure))
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

/// Of a class of events.
pub fn of_class(class: &str) -> String {
    format!("event/{}.html", file(class))
}

/// Of an event on the page of its class, by its whole name.
pub fn of_event(name: &str) -> String {
    let (class, event) = name.split_once('/').unwrap_or((name, ""));
    format!("{}#{event}", of_class(class))
}

/// What the files of a type begin with: on Windows, `CON.html` is no file but a device. No type's name has a hyphen.
fn file(name: &str) -> String {
    format!("{name}{}", if is_device(&name.to_ascii_uppercase()) { "-type" } else { "" })
}
