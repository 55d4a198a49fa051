//! The page of a report.

use crate::assets::{SCRIPT, STYLE};
use crate::frame;
use crate::report::Report;

/// Shows the data in the page.
const START: &str =
    "showEtwReport(JSON.parse(document.getElementById('etw-report-data').textContent), document.querySelector('main'));";

impl Report {
    /// The data as JSON.
    ///
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The page, which needs no other file. Its content security policy allows only its own style and script.
    #[must_use]
    pub fn page(&self) -> String {
        let script = format!("{SCRIPT}{START}");
        // These could end the script element, or begin a comment in it.
        let data = self.json().replace("</", "<\\/").replace("<!--", "<\\u0021--");
        let body = format!(
            "<body class=\"etw-report-page\"><main><noscript>The report needs scripts. Its data is also in the output of \
             `etw etl report --format json`.</noscript></main>\n\
             <script type=\"application/json\" id=\"etw-report-data\">{data}</script>"
        );
        frame::page("Trace report", STYLE, &script, &body, ("", ""))
    }
}
