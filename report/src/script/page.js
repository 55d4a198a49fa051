  // The parts of the report. `showEtwReport` shows the data of a report in an element, which gets the event `etw-selection` with the selected time since the
  // start of the report, in units of 100 ns, or nothing for the whole trace.
  const facts = (data) => {
    const { about } = data, fact = (name, ...value) => make("div", {}, make("dt", {}, name), make("dd", {}, ...value));
    const one = (session) => make("dl", { className: "facts" },
      fact("session", traced(session.name)), fact("computer", traced(session.host ?? "not stated")), fact("Windows", session.windows),
      fact("processors", `${session.processors}, ${session.pointer_size * 8}-bit`), fact("computer started (UTC)", utc(session.boot_utc)), fact("session started (UTC)", utc(session.start_utc)),
      fact("session ended (UTC)", session.end_utc ? utc(session.end_utc) : "not stated: not closed"), fact("local time", `UTC${session.time_zone_minutes < 0 ? "" : "+"}${decimals(session.time_zone_minutes / 60, 2)} h`));
    const times = ({ first_utc: first, last_utc: last }) => first ? `: ${utc(first)} to ${utc(last)}` : ": no events";
    const files = about.files.map((file) => make("li", {}, traced(file.name), times(file)));
    if (about.more_files) files.push(make("li", {}, several(about.more_files, "other file")));
    return [...about.sessions.map(one), ...about.more_sessions ? [make("p", {}, several(about.more_sessions, "other session"))] : [],
      make("details", { open: files.length > 1 && files.length < 9 }, make("summary", {}, `${several(about.files.length + about.more_files, "file")}, ${size(about.bytes)}`), make("ul", {}, ...files))];
  };
  const utc = (text) => text ? text.replace("T", " ").replace(/\.?0*Z$/, "") : "not stated";
  // Also for a page around the report.
  globalThis.etwElements = { make, grouped, several };
  globalThis.showEtwReport = (data, element) => {
    const page = make("div", { className: "etw-report" }), view = selection(data, element);
    const first = data.about.files[0]?.name.split(/[\\/]/).pop() ?? "trace", more = data.about.files.length + data.about.more_files - 1;
    const [lead, ...sentences] = data.about.sentences;
    const chosen = make("output", {}), clear = button("Whole trace", () => view.select(null));
    const bar = labelled(make("div", { className: "chosen" }, chosen, clear), "Selected time", "region");
    view.follow(() => {
      chosen.textContent = view.range ? `Selected: ${view.words()}. All numbers below are of this time.` : "All numbers are of the whole trace. Drag over the time line to select a time.";
      clear.hidden = !view.range;
    });
    const parts = [
      ["Time line", () => [make("p", { className: "lead" }, `${data.slot_count === 1 ? "All events have nearly the same time, so there is one slot." : `${several(data.slot_count, "slot")} of ${data.slot_width < 1e8 ? `${milliseconds(data.slot_width)} ms` : seconds(data.slot_width)}.`} An amount is in the slot of the event that states it; that of an interval is the event at its end.`), bar, ...timeline(view)]],
      ["Processes", () => processes(view)],
      ["Flame graph", () => flame(view)],
      ["Answers", () => [...answers(view), ...unanswered(view)]],
      ["Providers and events", () => providers(view)],
      ["Diagnostics", () => diagnostics(view)],
      ["What is left out", () => [data.reduced.length ? make("ul", {}, ...data.reduced.map((text) => make("li", {}, text))) : make("p", {}, "Nothing: all rows are in this report."), make("p", { className: "lead" }, "Counts by provider, and those of diagnostics, are of the whole trace, also with a selection.")]],
    ];
    const go = make("nav", {});
    labelled(go, "Parts of the report");
    page.append(make("h1", {}, "Report of ", traced(first), more > 0 ? ` and ${several(more, "other file")}` : ""), make("p", { className: "answer-first" }, lead), make("ul", { className: "sentences" }, ...sentences.map((text, index) => make("li", {}, data.about.warnings.includes(index + 1) ? make("strong", {}, text) : text))), ...facts(data), go);
    element.replaceChildren(page);
    const showParts = () => {
      for (const [title, show] of parts) {
        const heading = make("h2", { tabIndex: -1 }, title);
        page.append(make("section", {}, heading, ...show()));
        go.append(button(title, () => { heading.scrollIntoView(); heading.focus({ preventScroll: true }); }));
      }
    };
    // The browser shows the sentences before the parts are made.
    if (document.hidden) showParts();
    else requestAnimationFrame(() => setTimeout(showParts));
  };
