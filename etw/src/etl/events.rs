//! `events`.

use super::symbols::StackSymbols;
use super::traces::{Files, Opened};
use super::{Done, messages, one_pass};
use crate::input::{self, Input};
use crate::output::column::{Column, DEFAULT};
use crate::output::kind::LineKinds;
use crate::output::line::{Line, Name, Names, Payload};
use crate::output::printer::{Layout, PrintOptions, Printer};
use crate::output::stack::EventStack;
use crate::output::stop::Stop;
use crate::output::{Choices, Format, Output, choice};
use crate::wpp::WppMessages;
use etw_layouts_answers::{Frames, Functions};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_etl::{Diagnostic, Filter, HeaderType, names as etl_names};
use etw_layouts_trace::{self as trace, Order, Session, Slice, Trace, in_order};
use std::collections::BTreeSet;
use std::thread;

/// Print the events of trace files, one per line. Exit with status 1 if there are diagnostics.
///
/// The first line names the columns. Default columns in text: time (UTC), processor, process, thread, event,
/// version and payload_size; with several files also file. The column `event` has a name such as Process/Start. For
/// an event without a known name, it has the provider and the event ID, such as
/// 22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716/8. Default columns in CSV: time_utc, processor, process, thread, header,
/// provider, provider_name, id, id_name, opcode, opcode_name, event, version and payload_size. Select columns with
/// --columns; JSON always contains all columns. Diagnostics are printed to standard error, one line for each kind and
/// file. Payloads longer than their schemas are only counted.
///
/// A trace is read twice: the first pass finds the schemas in it and the processes of its events. --one-pass prints
/// at once.
///
/// With --order time, the events of all files are merged by system time. Events of one session with equal system
/// time are in the order of their time stamps; all others are in the order of the files.
///
///     etw etl events trace.etl
///     etw etl events --order time --payload hex trace.etl
///     etw etl events --order time folder
///     etw etl events --payload fields trace.etl
///     etw etl events --provider PROCESS --from 1.5 --to 2 trace.etl
///     etw etl events --level 1 --level 2 --columns default,level,keyword trace.etl
///     etw etl events --format csv --columns time,file,id --limit 1000 folder
///     etw etl events --format json trace.etl
///     etw etl events --stacks --event PerfInfo/SampleProf --process 1234 trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
    /// Order of the events.
    #[arg(long, value_parser = choice(ORDERS), default_value = "file")]
    order: Order,
    /// Print events while the trace is read, in file order: for a stream that has no end yet. Without this option, a trace is read twice, and a stream
    /// is first copied to a temporary file. Processes are then read only from headers, and schemas in the trace are not used.
    #[arg(long, conflicts_with = "order")]
    one_pass: bool,
    /// Stop before the events of a damaged trace, or at the first payload longer than its schema; exit status 1.
    #[arg(long)]
    strict: bool,
    /// Print the call stack of each event, the innermost frame first: in text, a line for each frame below the event; in JSON, as
    /// `stack`, which is null for an event without one. A frame has the address, `kind`, the image with an offset, and the
    /// function: a method of .NET by the trace, or a function of a PDB with its source line and inlined functions. `kind` is
    /// method, function, module (an image without a known function), or why nothing is known: `other time` (an image or
    /// method was there at another time only), `outside` (outside of all images), or `no images` (the trace has no images of the process). In JSON, `undefined_stack_keys` has
    /// the keys of parts that the trace does not define; a stack with more than 1,024 frames is cut, and has `stack_is_cut`.
    #[arg(long, conflicts_with = "one_pass")]
    stacks: bool,
    #[command(flatten)]
    symbols: StackSymbols,
    #[command(flatten)]
    pub(crate) asked: PrintOptions,
}

const ORDERS: &Choices<Order> = &[
    ("file", "Order in the file, buffer by buffer; one file after another", Order::File),
    ("time", "By time, merged over all processors and files", Order::Time),
];

/// Bytes of decompressed buffers in memory for each thread.
const MEMORY: u64 = 2 << 20;

/// Size of the lines that a thread passes on together, in bytes.
const CHUNK: usize = 1 << 20;

/// Prints the events of all files.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let file = (inputs.len() > 1).then_some(Column::File);
    let columns: Vec<_> = DEFAULT.into_iter().chain(file).collect();
    let mut printer = Printer::new(&args.asked, &columns);
    if printer.is_done() {
        // With a limit of 0, only the column names are printed.
        printer.head(out)?;
        return Ok(Done::default());
    }
    if args.one_pass {
        return one_pass::run(inputs, &mut printer, args.strict, out);
    }
    if args.stacks && out.format == Format::Csv {
        return Err(Stop::Input("call stacks have no form in CSV; use --format json or --format text with --stacks".into()));
    }
    let functions = if args.stacks { args.symbols.all().map_err(Stop::Input)? } else { Functions::default() };
    let mut pdbs = args.symbols.search().map_err(Stop::Input)?;
    let files = Files::open(inputs, out);
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    let traces = match args.order {
        Order::Time if files.files.is_empty() => Vec::new(),
        Order::Time => vec![files.files],
        Order::File => files.by_session(),
    };
    for files in traces {
        if printer.is_done() {
            break;
        }
        let mut opened = Opened::read_with(files, &args.asked.wanted.schemas, &mut pdbs, out)?;
        done.unusable += opened.unusable;
        printer.head(out)?;
        if args.strict && opened.outcome() == Outcome::Differs {
            opened.end(out);
            return Err(Stop::Strict);
        }
        let result = print(args, &functions, &mut printer, &mut opened, out);
        done.add(opened.end(out));
        result?;
    }
    args.symbols.report(&functions, out);
    printer.end(out);
    Ok(done)
}

/// Prints the events of a trace.
fn print(
    args: &Args,
    functions: &Functions,
    printer: &mut Printer<'_>,
    opened: &mut Opened,
    out: &mut Output,
) -> Result<(), Stop> {
    let filters = opened.filters(printer.layout.wanted);
    let Opened { trace, files, messages: known, .. } = opened;
    let (slices, is_ordered) = trace.slices(None, args.order, MEMORY);
    let names: Vec<_> = trace.files().iter().map(|file| Name::new(file.name())).collect();
    if !is_ordered && let Some(file) = files.first() {
        file.note("buffers are so far out of order that only parts are sorted".into(), out);
    }
    let left = printer.left();
    let is_limited = args.strict || left < u64::MAX || out.is_terminal;
    let threads = if is_limited { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
    let work =
        Work { filters, names, printer: &printer.layout.clone(), messages: known, stacks: args.stacks.then_some(functions) };
    let mut without_format = 0;
    let result = in_order(
        slices,
        threads,
        || Worker::new(trace, left, work.stacks),
        |worker, slice, put| work.chunks(slice, worker, put),
        |chunk: Result<Chunk, _>| {
            let mut chunk = chunk.map_err(|why| Some(why.into()))?;
            printer.seen += chunk.seen;
            printer.printed(chunk.printed, &mut chunk.fields);
            without_format += chunk.without_format;
            out.put_all(&mut chunk.text).map_err(|error| Some(error.into()))?;
            for (file, diagnostic) in &chunk.diagnostics {
                files[*file].diagnostic(diagnostic, out);
                if args.strict && (diagnostic.is_damage() || diagnostic.is_uncovered()) {
                    return Err(Some(Stop::Strict));
                }
            }
            if printer.is_done() { Err(None) } else { Ok(()) }
        },
    );
    if let (1.., Some(file)) = (without_format, files.first()) {
        file.note(messages::without_format(without_format, trace.sessions().iter().map(Session::wpp)), out);
    }
    match result {
        Ok(()) | Err(None) => Ok(()),
        Err(Some(stop)) => Err(stop),
    }
}

/// What the lines of the events of a trace need.
struct Work<'w> {
    /// The filter and the name of each file.
    filters: Vec<Filter>,
    names: Vec<Name>,
    printer: &'w Layout<'w>,
    messages: &'w WppMessages,
    /// The functions of program databases, if call stacks are printed.
    stacks: Option<&'w Functions>,
}

/// Lines of a slice.
#[derive(Default)]
struct Chunk {
    text: Vec<u8>,
    /// The number of events that were examined.
    seen: u64,
    printed: u64,
    fields: BTreeSet<&'static str>,
    /// Diagnostics of events, each with the index of its file.
    diagnostics: Vec<(usize, Diagnostic)>,
    /// The number of WPP messages without a known format.
    without_format: u64,
}

/// The state of a thread.
struct Worker<'t> {
    events: trace::Events<'t>,
    names: Names,
    /// The kinds of events of each session.
    kinds: Vec<LineKinds>,
    /// The frames of each session, if call stacks are printed.
    frames: Vec<Frames<'t>>,
    /// The number of events left before the limit.
    left: u64,
}

impl<'t> Worker<'t> {
    fn new(trace: &'t Trace, left: u64, stacks: Option<&Functions>) -> Self {
        let kinds = trace.sessions().iter().map(|_| LineKinds::default()).collect();
        let frames = |functions: &Functions| {
            let names = (0..trace.sessions().len()).filter_map(|session| trace.names(session));
            names.map(|names| Frames::with_functions(names, functions.clone())).collect()
        };
        let frames = stacks.map(frames).unwrap_or_default();
        Self { events: trace.no_events(), names: Names::default(), kinds, frames, left }
    }
}

impl Work<'_> {
    /// Passes on the lines of the events of a slice that match, at most as many as are left.
    fn chunks(&self, slice: Slice, worker: &mut Worker<'_>, put: &mut dyn FnMut(Result<Chunk, trace::Error>) -> bool) {
        let Worker { events, names, kinds, frames, left } = worker;
        let mut chunk = Chunk::default();
        let is_decoded = matches!(self.printer.payload, Some(Payload::Fields | Payload::Message));
        for event in events.of_slice(slice) {
            if *left == 0 {
                break;
            }
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    put(Err(error));
                    return;
                }
            };
            chunk.seen += 1;
            let file = event.file_index();
            if !event.matches(&self.filters[file]) {
                continue;
            }
            let stack = frames.get_mut(event.session_index()).map(|frames| EventStack::read(&event, frames)).transpose();
            let stack = match stack {
                Ok(stack) => stack,
                Err(error) => {
                    put(Err(error));
                    return;
                }
            };
            let (header, kinds) = (event.header(), &mut kinds[event.session_index()]);
            let is_message = is_decoded && header.header_type() == HeaderType::Message;
            chunk.without_format += u64::from(is_message && self.messages.of(&header).is_none());
            if let Some(fault) = self.line(&event, &header, stack.as_ref(), names, kinds, &mut chunk.text) {
                let kind = etl_names::undecoded(&header, event.schemas(), fault);
                chunk.diagnostics.push((file, event.place().diagnostic(kind)));
            }
            chunk.printed += 1;
            *left -= 1;
            if chunk.text.len() >= CHUNK && !put(Ok(std::mem::take(&mut chunk))) {
                return;
            }
        }
        chunk.fields = std::mem::take(names.fields());
        put(Ok(chunk));
    }

    fn line(
        &self,
        event: &trace::Event<'_>,
        header: &etw_layouts_etl::Event<'_>,
        stack: Option<&EventStack>,
        names: &mut Names,
        kinds: &mut LineKinds,
        out: &mut Vec<u8>,
    ) -> Option<Fault> {
        let payload = self.printer.payload;
        let line = Line {
            who: self.printer.has_who().then(|| event.who()),
            stack,
            ..Line::of_event(&self.names[event.file_index()], event, header, self.messages, payload)
        };
        self.printer.write(&line, names, kinds, out)
    }
}
