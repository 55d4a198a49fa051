//! The call stack of an event.

use etw_layouts_answers::{Frame, Frames, Function, MAX_FRAMES};
use etw_layouts_etl::text::{Escaped, put};
use etw_layouts_trace::{Error, Event};
use std::sync::Arc;

/// The call stack of an event, with names.
pub struct EventStack {
    /// The frames, the innermost first; `None` for an event without a stack.
    frames: Option<Vec<Arc<Frame>>>,
    /// Whether it has more frames, which are left out.
    is_cut: bool,
    /// The keys of parts that the trace does not define.
    undefined: Vec<u64>,
}

impl EventStack {
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn read(event: &Event<'_>, frames: &mut Frames<'_>) -> Result<Self, Error> {
        let stack = event.stack()?;
        let parts = stack.iter().flat_map(|stack| stack.parts()).filter(|part| part.frames.is_none());
        let is_cut = stack.as_ref().is_some_and(|stack| stack.frames().nth(MAX_FRAMES).is_some());
        let undefined = parts.filter_map(|part| part.key).collect();
        Ok(Self { frames: stack.map(|stack| frames.of_stack(event, &stack)).transpose()?, is_cut, undefined })
    }

    /// Appends a line for each frame. Inlined functions have lines of their own.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        for frame in self.frames.iter().flatten() {
            for Function { name, source, .. } in &frame.inlined {
                line(out, frame, Some(name), source.as_ref(), "inlined");
            }
            let note = match frame.export_offset {
                Some(offset) => format!("{offset:#x} bytes after it"),
                None if frame.module.is_none() && frame.function.is_none() => frame.kind.as_str().to_owned(),
                None => String::new(),
            };
            line(out, frame, frame.function.as_ref(), frame.source.as_ref(), &note);
        }
        if self.is_cut {
            put::shown(out, format_args!("    more frames left out after {MAX_FRAMES}\n"));
        }
        for key in &self.undefined {
            put::shown(out, format_args!("    no addresses: the trace does not define the stack key {key:#x}\n"));
        }
    }

    /// Appends the members `stack`, `stack_is_cut` if frames are left out, and `undefined_stack_keys` if the trace does not define keys of parts.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"stack\":");
        let Some(frames) = &self.frames else {
            out.extend_from_slice(b"null");
            return;
        };
        out.push(b'[');
        for (index, frame) in frames.iter().enumerate() {
            out.extend_from_slice(if index > 0 { b",{\"address\":\"" } else { b"{\"address\":\"" });
            put::hexadecimal(out, frame.address);
            put::shown(out, format_args!("\",\"kind\":\"{}\",\"module\":", frame.kind.as_str()));
            text(out, frame.module.as_ref());
            put::shown(out, format_args!(",\"offset\":"));
            match frame.offset {
                Some(offset) => put::number(out, offset),
                None => out.extend_from_slice(b"null"),
            }
            function(out, frame.function.as_ref(), frame.source.as_ref(), b",");
            if let Some(offset) = frame.export_offset {
                put::shown(out, format_args!(",\"export_offset\":{offset}"));
            }
            out.extend_from_slice(b",\"inlined\":[");
            for (index, Function { name, source, .. }) in frame.inlined.iter().enumerate() {
                out.extend_from_slice(if index > 0 { b",{" } else { b"{" });
                function(out, Some(name), source.as_ref(), b"");
                out.push(b'}');
            }
            out.extend_from_slice(b"]}");
        }
        out.push(b']');
        if self.is_cut {
            out.extend_from_slice(b",\"stack_is_cut\":true");
        }
        for (index, key) in self.undefined.iter().enumerate() {
            out.extend_from_slice(if index > 0 { b",\"" } else { b",\"undefined_stack_keys\":[\"" });
            put::hexadecimal(out, *key);
            out.push(b'"');
        }
        if !self.undefined.is_empty() {
            out.push(b']');
        }
    }
}

fn line(out: &mut Vec<u8>, frame: &Frame, name: Option<&Arc<str>>, source: Option<&(Arc<str>, u32)>, note: &str) {
    put::shown(out, format_args!("    {:#018x}  ", frame.address));
    match (&frame.module, frame.offset) {
        (Some(module), Some(offset)) => put::shown(out, format_args!("{}+{offset:#x}", Escaped(module))),
        _ => out.push(b'-'),
    }
    if let Some(name) = name {
        put::shown(out, format_args!("  {}", Escaped(name)));
    }
    if let Some((file, line)) = source {
        put::shown(out, format_args!("  {}:{line}", Escaped(file)));
    }
    if !note.is_empty() {
        put::shown(out, format_args!("  ({})", note));
    }
    out.push(b'\n');
}

fn function(out: &mut Vec<u8>, name: Option<&Arc<str>>, source: Option<&(Arc<str>, u32)>, before: &[u8]) {
    out.extend_from_slice(before);
    out.extend_from_slice(b"\"function\":");
    text(out, name);
    out.extend_from_slice(b",\"source\":");
    text(out, source.map(|(file, _)| file));
    out.extend_from_slice(b",\"line\":");
    match source {
        Some((_, line)) => put::number(out, *line),
        None => out.extend_from_slice(b"null"),
    }
}

fn text(out: &mut Vec<u8>, text: Option<&Arc<str>>) {
    match text {
        Some(text) => put::json(out, text.chars()),
        None => out.extend_from_slice(b"null"),
    }
}
