//! The style sheet and the script of a report.

/// The style sheet.
pub const STYLE: &str = include_str!("style.css");

/// The script. It defines the function `showEtwReport(data, element)`, which shows the data of a `Report` in an element.
pub const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("script/elements.js"),
    include_str!("script/data.js"),
    include_str!("script/timeline.js"),
    include_str!("script/tables.js"),
    include_str!("script/processes.js"),
    include_str!("script/flame.js"),
    include_str!("script/page.js"),
    "})();\n"
);
