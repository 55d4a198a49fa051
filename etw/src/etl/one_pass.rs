//! `events --one-pass`.

use super::traces::Reported;
use crate::input::{Input, Opened, each};
use crate::output::Output;
use crate::output::kind::LineKinds;
use crate::output::line::{Line, Name, Names, Origin};
use crate::output::printer::Printer;
use crate::output::stop::{Done, Stop};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::names;

/// Prints the events of each file while it is read.
pub fn run(inputs: &[Input], printer: &mut Printer<'_>, is_strict: bool, out: &mut Output) -> Result<Done, Stop> {
    let done = each(inputs, out, |input, out| match printer.is_done() {
        true => Ok(Outcome::Good),
        false => file(input.open()?, printer, is_strict, out),
    })?;
    printer.end(out);
    Ok(done)
}

fn file(source: Opened<'_>, printer: &mut Printer<'_>, is_strict: bool, out: &mut Output) -> Result<Outcome, Stop> {
    let (file, mut reported) = (Name::new(source.name), Reported::new(source.name, out));
    let mut buffers = source.reader()?;
    let wanted = printer.layout.wanted;
    let messages = wanted.schemas.messages();
    let (log, schemas) = (buffers.log_file().clone(), wanted.schemas.of_trace(buffers.log_file()));
    let (clock, filter) = (log.to_clock(), wanted.filter(log.start_time, &schemas));
    let note = "read once: processes are those of headers, and schemas in the trace are not used";
    reported.note(note.into(), out);
    reported.without_start(&log, out);
    printer.head(out)?;
    let (mut text_names, mut kinds) = (Names::default(), LineKinds::default());
    while let Some(buffer) = buffers.next()? {
        let mut found = Vec::new();
        match buffer {
            Ok(decoded) => {
                let origin = Origin::new(decoded.buffer());
                for event in decoded.events() {
                    let event = match event {
                        Ok(event) => event,
                        Err(diagnostic) => {
                            found.push(diagnostic);
                            continue;
                        }
                    };
                    found.extend(event.fault().map(|kind| origin.diagnostic(&event, kind)));
                    printer.seen += 1;
                    if printer.is_done() || !filter.matches(&event, origin.processor, &clock) {
                        continue;
                    }
                    let time = event.time_stamp().and_then(|stamp| clock.time(stamp)).map(|time| time.0);
                    let line = Line {
                        clock: Some(clock),
                        log: Some(&log),
                        message: messages.of(&event),
                        ..Line::new(&file, &event, &schemas, origin, time, printer.layout.payload)
                    };
                    if let Some(fault) = printer.event(&line, &mut text_names, &mut kinds, out)? {
                        found.push(origin.diagnostic(&event, names::undecoded(&event, &schemas, fault)));
                    }
                }
            }
            Err(diagnostic) => found.push(diagnostic),
        }
        for diagnostic in &found {
            reported.diagnostic(diagnostic, out);
            if is_strict && (diagnostic.is_damage() || diagnostic.is_uncovered()) {
                reported.end(out);
                return Err(Stop::Strict);
            }
        }
        if printer.is_done() {
            break;
        }
    }
    Ok(reported.end(out))
}
