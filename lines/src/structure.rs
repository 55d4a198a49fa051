//! The log file header as text and JSON: the members of its layout, and the two names after it.

use etw_layouts::runtime::packed::{Member, Type};
use etw_layouts::runtime::{Value, View};
use etw_layouts::{Arch, Build, structures};
use etw_layouts_etl::payload::Text;
use etw_layouts_etl::text::Style;
use etw_layouts_etl::text::put;
use etw_layouts_etl::{FileTime, LogFile};

/// Writes the TRACE_LOGFILE_HEADER of a payload as fields. Returns `false` without output if no layout of its version is known.
pub fn log_file(payload: &[u8], log: &LogFile, style: Style, out: &mut Vec<u8>) -> bool {
    let [major, minor, ..] = log.version;
    let arch = if log.pointer_size == 8 { Arch::X64 } else { Arch::X86 };
    let build = Build::new(major.into(), minor.into(), log.build, 0);
    let Ok(chosen) = structures::TRACE_LOGFILE_HEADER.select(build, arch) else { return false };
    let Ok(view) = View::new(chosen.layout, payload) else { return false };
    // Show names instead of their pointers, and times instead of numbers.
    let text = |member: &Member| {
        let time = match member.name {
            "LoggerName" => return Some(log.logger_name.clone()),
            "LogFileName" => return Some(log.file_name.clone()),
            "BootTime" => log.boot_time,
            "StartTime" => log.start_time,
            "EndTime" => log.end_time,
            _ => 0,
        };
        (time != 0).then(|| FileTime(time).rfc3339().to_string())
    };
    members(&view, &text, style, out);
    true
}

/// Writes members in the order of the declaration. `text` can replace the value of a member.
fn members<S>(view: &View<'_, S>, text: &dyn Fn(&Member) -> Option<String>, style: Style, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (member, value)) in view.members().enumerate() {
        let Member { name, c, .. } = member;
        match style {
            Style::Text => put::shown(out, format_args!("{}{name} = ", if index > 0 { ", " } else { "" })),
            Style::Json => put::shown(out, format_args!("{}\"{name}\":", if index > 0 { "," } else { "" })),
        }
        match (text(&member), style) {
            (Some(text), Style::Text) if c.starts_with("WCHAR") => put::quoted(out, text.chars()),
            (Some(text), Style::Text) => put::shown(out, text),
            (Some(text), Style::Json) => put::json(out, text.chars()),
            (None, _) => put_value(value, c.starts_with("WCHAR ") || c.starts_with("WCHAR["), style, out),
        }
    }
    out.push(b'}');
}

fn put_value(value: Value<'_>, is_wide: bool, style: Style, out: &mut Vec<u8>) {
    match value.ty() {
        Type::Values(_) if style == Style::Text => put::shown(out, format_args!("{value:?}")),
        Type::Unsigned => put::number(out, value.unsigned()),
        Type::Signed => put::number(out, value.signed()),
        Type::Pointer => {
            let quote = if style == Style::Json { "\"" } else { "" };
            put::shown(out, format_args!("{quote}{:#x}{quote}", value.unsigned()));
        }
        // Printing the union itself would repeat the same number three times.
        Type::Layout(layout) if layout.name == "LARGE_INTEGER" => put::number(out, value.signed()),
        // The kernel's TIME_ZONE_INFORMATION has TIME_FIELDS here; in files, the dates have the user-mode layout SYSTEMTIME.
        Type::Layout(layout) if layout.name == "TIME_FIELDS" => {
            let date = structures::ETW_SYSTEMTIME.select(Build::new(10, 0, 19041, 1), Arch::X64);
            if let Some(view) = date.ok().and_then(|date| View::new(date.layout, value.bytes()).ok()) {
                members(&view, &|_| None, style, out);
            }
        }
        Type::Layout(layout) => {
            if let Ok(view) = View::new(layout, value.bytes()) {
                members(&view, &|_| None, style, out);
            }
        }
        Type::Array(..) if is_wide => {
            let text = Text::fixed_utf16(value.bytes()).chars();
            match style {
                Style::Text => put::quoted(out, text),
                Style::Json => put::json(out, text),
            }
        }
        Type::Array(..) => {
            out.push(b'[');
            for (index, element) in value.elements().enumerate() {
                let between: &[u8] = if style == Style::Text { b", " } else { b"," };
                out.extend_from_slice(if index > 0 { between } else { b"" });
                put_value(element, false, style, out);
            }
            out.push(b']');
        }
        // Values, and types of a later version.
        _ => put::json(out, format!("{value:?}").chars()),
    }
}
