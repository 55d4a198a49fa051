//! Errors in sources that real events disprove.

use super::report::Report;
use super::rows::Row;
use etw_layouts_schemas::Count;

/// A field for which sources have a wrong number of values, or none.
struct Erratum {
    /// The start of the providers' names.
    providers: &'static str,
    field: &'static str,
    /// The field that contains the number of values.
    count: &'static str,
}

const ERRATA: [Erratum; 1] = [
    // Stacks of .NET: the manifest has an array of two addresses. In all 20,189 events of a trace of .NET 4.5.2, FrameCount is
    // the number of addresses, and the event ends after the last one.
    Erratum { providers: "Microsoft-Windows-DotNETRuntime", field: "Stack", count: "FrameCount" },
];

/// Corrects the rows.
pub fn correct(rows: &mut [Row], report: &mut Report) {
    for Erratum { providers, field, count } in &ERRATA {
        for row in rows.iter_mut().filter(|row| row.provider.starts_with(providers)) {
            let fields = row.fields.as_mut().into_iter().flatten();
            for field in fields.filter(|known| known.name == *field) {
                field.count = Count::Field((*count).into());
                report.count("counts corrected by real events");
            }
        }
    }
}
