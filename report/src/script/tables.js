  // Answers to questions, providers and diagnostics.
  const answers = (view) => {
    const sections = view.data.tables.map((answer) => answerSection(view, answer));
    return sections;
  };
  const answerSection = (view, answer) => {
    const { maxima, units, main } = answer, title = `${answer.title[0].toUpperCase()}${answer.title.slice(1)} by ${answer.by.join(", ")}`;
    const shown = answer.measures.map((_, index) => index), isUnknown = (index) => answer.unknown.includes(index);
    // The share is beside the keys: a narrow screen cuts other amounts first.
    const heads = [...answer.by, "%", "", ...shown.map((index) => answer.measures[index].replace("_", " "))], first = answer.by.length;
    const numbers = [first, ...shown.map((_, index) => first + 2 + index)];
    const part = make("div", {});
    view.follow(() => {
      const totals = view.range ? view.sums(answer.slots, maxima) : answer.totals, rest = [...totals];
      const rows = answer.rows.filter((row) => row.slots || !view.range).map((row) => ({ row, sums: view.range ? view.sums(row.slots, maxima) : row.amounts }));
      for (const { sums } of rows) sums.forEach((sum, index) => { rest[index] -= sum; });
      const listed = rows.filter(({ sums }) => sums.some((sum) => sum > 0) || !view.range).sort((a, b) => b.sums[main] - a.sums[main]);
      const most = listed[0]?.sums[main];
      const cells = (sums, isRest) => shown.map((index) => isUnknown(index) ? "–" : isRest && maxima[index] ? "" : amount(sums[index], units[index]));
      const share = (sums) => isUnknown(main) ? "–" : percent(sums[main], totals[main]);
      const lines = listed.map(({ row, sums }) => [...keyText(answer, row).map((text) => traced(String(text))), share(sums), bar(sums[main], most), ...cells(sums)]);
      const blank = answer.by.slice(1).map(() => "");
      const left = answer.rows.length - rows.length + answer.more_rows;
      if (left) lines.push([`${several(left, "other row")}`, ...blank, share(rest), "", ...cells(rest, true)]);
      const element = table(title, heads, lines, numbers);
      const foot = element.createTFoot().insertRow();
      for (const text of ["total", ...blank, totals[main] ? "100 %" : "", "", ...cells(totals)]) foot.append(make("td", { className: "number" }, text));
      part.replaceChildren(...listed.length || totals.some((total) => total > 0) ? folded(element, 8) : [make("p", {}, "Nothing in the selected time.")]);
    });
    const notes = answer.notes.map(({ note, count }) => make("li", {}, `${note} (${grouped(count)})`));
    const commands = make("div", { className: "commands" });
    view.follow(() => commands.replaceChildren(command(view.command(`top ${answer.what} --by ${answer.by.join()}`)), command(view.command("events --payload fields", answer.select))));
    const { idle, samples } = view.data.stacks;
    const without = answer.what === "cpu" && idle ? ` ${several(idle, "sample")} of the idle process (process 0) are in this table; the flame graph leaves them out, and has the other ${grouped(samples)}.` : "";
    const section = make("section", { className: "answer" }, make("h3", {}, title), make("p", { className: "lead" }, `${answer.summary}.${without}`), scrolled(title, part), commands);
    if (notes.length) section.append(make("ul", { className: "notes" }, ...notes));
    return section;
  };
  const unanswered = ({ data }) => {
    if (!data.unanswered.length) return [];
    const rows = data.unanswered.map(({ title, summary, needs, record }) => [make("span", { className: "words" }, title, make("small", {}, ` ${summary}`)), make("span", { className: "words" }, needs), make("code", {}, record)]);
    return [make("h3", {}, "Questions that this trace cannot answer"), scrolled("Questions without an answer", table("Questions without an answer", ["question", "needs the events", "record with"], rows))];
  };
  // The command that lists events in the selected time, if options select them.
  const eventsOf = (view, select) => {
    if (!select) return [];
    const part = make("div", {});
    view.follow(() => part.replaceChildren(command(view.command("events --payload fields", select))));
    return [part];
  };
  // The first events of a kind as text, in a row below it.
  const sampleRow = (view, { samples, select }) => {
    const lines = samples.map(({ time, process, thread, text }) => {
      const who = [process === null ? "" : `process ${process}`, thread === null ? "" : `thread ${thread}`].filter((text) => text).join(", ");
      return make("li", {}, make("small", {}, `${time === null ? "no time" : seconds(time, 7)}${who && `, ${who}`} `), traced(text || "no payload"));
    });
    const cell = make("td", { colSpan: 4 }, make("ol", { className: "samples" }, ...lines), ...eventsOf(view, select));
    return make("tr", { className: "sampled" }, cell);
  };
  const providers = (view) => {
    const { providers, more_providers: more, more_events: moreEvents, more_bytes: moreBytes, more_decoded: moreDecoded, events } = view.data.providers;
    const state = (decoded, all) => decoded === all ? "all" : decoded ? percent(decoded, all) : "none";
    const kindsOf = (provider) => {
      const kinds = provider.kinds.map(({ name, schema, events, bytes }) => [traced(name), grouped(events), size(bytes), schema ?? "no schema"]);
      if (provider.more_kinds) kinds.push([several(provider.more_kinds, "other kind"), "", "", ""]);
      const list = table(`Events of ${provider.name}`, ["event", "events", "size", "schema"], kinds, [1, 2]);
      const rows = [...list.tBodies[0].rows];
      provider.kinds.forEach((kind, index) => rows[index].after(sampleRow(view, kind)));
      return [...eventsOf(view, provider.select), list];
    };
    const rows = providers.map((provider) => {
      const list = make("details", {}, make("summary", {}, traced(provider.name)));
      let inside = null;
      list.addEventListener("toggle", () => {
        inside ??= make("tr", { className: "inside" }, make("td", { colSpan: 6 }, make("div", {}, ...kindsOf(provider))));
        if (list.open) list.closest("tr").after(inside); else inside.remove();
      });
      return [list, grouped(provider.events), percent(provider.events, events), size(provider.bytes), state(provider.decoded, provider.events), provider.guid ?? ""];
    });
    if (more || moreEvents) rows.push([more ? several(more, "other provider") : "other kinds of events", grouped(moreEvents), percent(moreEvents, events), size(moreBytes), state(moreDecoded, moreEvents), ""]);
    return [make("p", { className: "lead" }, "Open a provider: it lists its events, the first of each kind with their fields, and the commands that list all."),
      scrolled("Providers", ...folded(table("Providers", ["provider", "events", "%", "size", "with schema", "GUID"], rows, [1, 2, 3, 4]), 15))];
  };
  const diagnostics = (view) => {
    const { kinds, more, unknown } = view.data.diagnostics;
    if (!kinds.length && !unknown) return [make("p", {}, "None.")];
    const rows = kinds.map(({ file, kind, is_note: isNote, count, buffer, buffer_offset: start, offset, message }) =>
      [isNote ? `note: ${kind}` : kind, grouped(count), traced(message), `buffer ${buffer} at 0x${start.toString(16)}, offset 0x${offset.toString(16)}`, traced(file)]);
    if (more) rows.push(["other kinds", grouped(more), "only counted", "", ""]);
    if (unknown) rows.push(["not known", grouped(unknown), "only counted", "", ""]);
    return [scrolled("Diagnostics", table("Diagnostics", ["kind", "count", "first message", "at", "file"], rows, [1])),
      make("p", { className: "lead" }, "All of them with their places, and the events that were read:"), command(`etw etl events --payload fields --diagnostics ${view.data.about.arguments}`)];
  };
