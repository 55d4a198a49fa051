//! Facts of sources that real events prove wrong.

use super::report::Report;
use super::rows::Row;
use etw_layouts_schemas::Count;

/// The number of values of a field that sources state wrong or leave out.
struct Erratum {
    /// The providers whose names begin so.
    providers: &'static str,
    field: &'static str,
    /// The field with the number.
    count: &'static str,
}

const ERRATA: [Erratum; 1] = [
    // Stacks of .NET: the manifest states two addresses. All 20,189 events of a trace of .NET 4.5.2 have as many as FrameCount states, and
    // end with the last.
    Erratum { providers: "Microsoft-Windows-DotNETRuntime", field: "Stack", count: "FrameCount" },
];

/// Corrects the rows.
pub fn correct(rows: &mut [Row], report: &mut Report) {
    for Erratum { providers, field, count } in &ERRATA {
        for row in rows.iter_mut().filter(|row| row.provider.starts_with(providers)) {
            let fields = row.fields.as_mut().into_iter().flatten();
            for field in fields.filter(|known| known.name == *field) {
                field.count = Count::Field((*count).to_owned());
                report.count("counts corrected by real events");
            }
        }
    }
}
