//! Names of files and folders.

/// Whether a name is a plain name on every system: no path, drive, stream, device, or name that a system changes when it
/// creates the file.
pub fn is_name(name: &str) -> bool {
    let is_forbidden = |char: char| char.is_control() || "\\/:*?\"<>|".contains(char);
    // Windows removes these characters at the end. `.` and `..` are such names, too.
    let is_changed = name.ends_with(['.', ' ']);
    !name.is_empty() && name.len() <= 255 && !is_changed && !name.contains(is_forbidden) && !is_device(name)
}

/// Whether Windows opens a device instead of a file, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    // Superscript digits count as digits.
    let is_port = |rest: &str| matches!(rest, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³");
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT")).is_some_and(is_port)
}
