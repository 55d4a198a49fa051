//! The page of a report.

use crate::assets::{SCRIPT, STYLE};
use crate::report::Report;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

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
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
            hash(&script),
            hash(STYLE)
        );
        // These could end the script element, or begin a comment in it.
        let data = self.json().replace("</", "<\\/").replace("<!--", "<\\u0021--");
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><title>Trace report</title><style>{STYLE}</style></head>\n\
             <body class=\"etw-report-page\"><main><noscript>The report needs scripts. Its data is also in the output of \
             `etw etl report --format json`.</noscript></main>\n\
             <script type=\"application/json\" id=\"etw-report-data\">{data}</script>\n\
             <script>{script}</script></body></html>\n"
        )
    }
}
