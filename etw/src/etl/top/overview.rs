//! The first rows of each question that a trace can answer.

use super::table::Line;
use super::{Args, Done, print_answer, report, report_nothing};
use crate::etl::traces::Opened;
use crate::input::Input;
use crate::object::object;
use crate::output::stop::Stop;
use crate::output::{Format, Output};
use etw_layouts_answers::top::{Answer, Value, overview};

/// Number of rows of each question without --limit.
const LIMIT: usize = 5;

/// Prints the first rows of each question, and the events that are missing for the others.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    args.check(out)?;
    let (mut done, opened) = Opened::of_inputs(inputs, &args.wanted.schemas, out)?;
    let Some(opened) = opened else { return Ok(done) };
    let answers = overview(&opened.trace, &opened.filters(&args.wanted))?;
    done.add(opened.end(out));
    let limit = args.limit.unwrap_or(LIMIT);
    let (answered, missing): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.relevant > 0);
    for answer in &answered {
        if out.format == Format::Text {
            print_answer(answer, Some(limit), out)?;
            out.write_line("", &())?;
        } else {
            print_rows(answer, limit, out)?;
        }
    }
    for Answer { what, .. } in missing {
        let (name, needs, record) = (what.name(), what.needs(), what.record());
        let document = object! { what: name, needs: needs, record: record };
        out.write_line(format_args!("{name}: no events; needs {needs}"), &document)?;
    }
    if let Some(answer) = answers.first().filter(|_| answered.iter().all(|answer| answer.rows.is_empty())) {
        report_nothing(answer, &args.wanted, out);
    }
    Ok(done)
}

/// Prints rows as JSON, each with the name of its question.
fn print_rows(answer: &Answer, limit: usize, out: &mut Output) -> Result<(), Stop> {
    let columns = answer.columns();
    for row in answer.rows.iter().take(limit) {
        let what = ("what", Value::Text(answer.what.name().into()));
        let cells = columns.iter().map(|column| column.name).zip(answer.values(row));
        out.write_line("", &Line([what].into_iter().chain(cells).collect()))?;
    }
    report(answer, limit, out);
    Ok(())
}
