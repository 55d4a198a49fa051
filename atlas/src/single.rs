//! One page of the atlas as a file that needs no other file.

use crate::confidence::Confidences;
use crate::facts::Lines;
use crate::{SCRIPT, STYLE, builds, structure, type_data, values};
use etw_layouts_codegen::layouts::{Form, Layouts};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Error;
use etw_layouts_project::events::Statements;
use std::collections::BTreeSet;

/// The page of a type, with the style sheet, the script and the data embedded. Links to other pages become plain text.
/// The script first shows the layout of `build`.
///
/// # Errors
///
/// The type is unknown.
pub fn page(
    layouts: &Layouts,
    registry: &Registry,
    statements: &Statements,
    (name, build): (&str, Option<&str>),
    lines: Lines,
) -> Result<String, Error> {
    let only = embedded(layouts, name);
    let atlas = crate::collect::atlas(layouts, registry, statements, lines, |name| only.contains(name))?;
    let confidences = Confidences::of(&atlas, false);
    let mut data = vec![builds::data(&atlas)?, confidences.data()?];
    for structure in &atlas.structures {
        data.push(type_data::file(&atlas, &confidences, structure)?.1);
    }
    let own = atlas.structures.iter().find(|structure| structure.name() == name);
    let (_, text) = match (own, layouts.spec.definitions.get(name)) {
        (Some(own), _) => structure::page(&atlas, own),
        (None, Some(definition)) => values::page(&atlas, definition),
        (None, None) => return Err(format!("unknown structure `{name}`").into()),
    };
    let (head, body) = text.split_once("<link ").ok_or("the page has no head")?;
    let (_, body) = body.split_once("</head>").ok_or("the page has no head")?;
    let body = unlinked(body);
    let (body, end) = body.split_once("</body>").ok_or("the page has no end")?;
    // A `</` in the data could end the script element.
    let data = data.concat().replace("</", "<\\/");
    // The script selects the build in the fragment of the URL.
    let first = build.map(|build| format!("location.hash ||= \"build={}\";\n", encoded(build, "."))).unwrap_or_default();
    let script = first + &SCRIPT.concat();
    let style = format!("{STYLE}.top, .skip {{ display: none; }} .bar {{ top: 0; }}");
    Ok(format!("{head}<style>{style}</style></head>{body}<script>{data}</script><script>{script}</script></body>{end}"))
}

/// A structure and all types that its members embed, at any target.
fn embedded(layouts: &Layouts, name: &str) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    let mut pending = vec![name];
    while let Some(name) = pending.pop() {
        if !known.insert(name.to_owned()) {
            continue;
        }
        for layout in layouts.layouts.iter().filter(|layout| layout.name == name) {
            if let Form::Aggregate(aggregate) = &layout.form {
                pending.extend(layouts.used(aggregate));
            }
        }
    }
    known
}

/// Removes the links to other pages.
fn unlinked(text: &str) -> String {
    let mut parts = text.split(" href=\"");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('"') {
            Some((to, rest)) if !to.starts_with('#') => all.push_str(rest),
            _ => all.extend([" href=\"", part]),
        }
    }
    all
}

/// Percent-encodes a part of a URL, except letters, digits, `-`, `_` and the characters in `plain`.
pub fn encoded(text: &str, plain: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || plain.as_bytes().contains(&byte);
    let one = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}
