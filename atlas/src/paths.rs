//! The path of each page, from the root of the atlas.

use etw_layouts_codegen::emit::rust::is_device;

/// The page of a structure, enumeration, flags or constants.
pub fn type_page(name: &str) -> String {
    format!("type/{}.html", file(name))
}

/// The script's data for a structure.
pub fn data_file(structure: &str) -> String {
    format!("type/{}.js", file(structure))
}

/// The page of a layout. `first` is the first target with the layout.
pub fn layout_page(structure: &str, first: &str) -> String {
    format!("layout/{}.{first}.html", file(structure))
}

/// The page of a target.
pub fn target_page(target: &str) -> String {
    format!("kernel/{target}.html")
}

/// The page of a target's map.
pub fn map_page(target: &str) -> String {
    format!("map/{target}.html")
}

/// The page of a class of events.
pub fn class_page(class: &str) -> String {
    format!("event/{}.html", file(class))
}

/// An event on the page of its class, by its full name.
pub fn event_address(name: &str) -> String {
    let (class, event) = name.split_once('/').unwrap_or((name, ""));
    format!("{}#{event}", class_page(class))
}

/// The file name of a type, without its extension. On Windows, `CON.html` is a device: such a name gets a suffix. Type names have
/// no hyphen.
fn file(name: &str) -> String {
    format!("{name}{}", if is_device(&name.to_ascii_uppercase()) { "-type" } else { "" })
}
