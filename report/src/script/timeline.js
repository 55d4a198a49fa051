  // The time line: rows with one cursor and one selection.
  const HEIGHT = 44;
  const stackedRow = (data, layers) => {
    const tops = new Array(data.slot_count).fill(0);
    let most = 0;
    for (const { numbers } of layers) numbers.forEach((number, slot) => { tops[slot] += number; most = Math.max(most, tops[slot]); });
    const base = new Array(data.slot_count).fill(0), chart = draw("svg", { viewBox: `0 0 ${data.slot_count} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    layers.forEach(({ numbers }, layer) => {
      let path = "";
      numbers.forEach((number, slot) => {
        if (!number) return;
        const [low, high] = [base[slot], base[slot] + number].map((value) => Math.round((HEIGHT - value / most * (HEIGHT - 2)) * 10) / 10);
        path += `M${slot} ${low}V${high}h1V${low}z`;
        base[slot] += number;
      });
      if (path) chart.append(draw("path", { d: path, class: `layer${layer}` }));
    });
    return { chart, most, tops };
  };
  const timelineRows = (data) => {
    const layer = (table, measure, row) => ({ numbers: dense(data, row.slots ?? [], table.measures.length, measure) });
    const rows = [];
    const add = (name, unit, layers, names) => rows.push({ name, unit, layers, names });
    const missing = (name, what) => {
      const question = data.unanswered.find((question) => question.what === what);
      rows.push({ name, missing: question ? `not in the trace: needs ${question.needs}` : "none in the trace" });
    };
    const simple = (name, what, measures, unit, names) => {
      const table = find(data, what);
      if (!table) return missing(name, what);
      add(name, unit, measures.map((measure) => layer(table, table.measures.indexOf(measure), table)), names);
    };
    simple("Events", "events", ["events"], "count");
    const cpu = find(data, "cpu", "process") ?? find(data, "run", "process");
    if (cpu) {
      const index = cpu.measures.indexOf("ms"), name = cpu.what === "cpu" ? "CPU by process" : "CPU by process (switches)";
      const isIdle = (row) => row.keys[0] === 0, shown = cpu.rows.filter((row) => row.slots && !isIdle(row)).slice(0, 5);
      const layers = shown.map((row) => layer(cpu, index, row));
      const rest = dense(data, cpu.slots, cpu.measures.length, index);
      for (const row of cpu.rows.filter((row) => isIdle(row) && row.slots)) layer(cpu, index, row).numbers.forEach((number, slot) => { rest[slot] -= number; });
      for (const { numbers } of layers) numbers.forEach((number, slot) => { rest[slot] -= number; });
      const names = shown.map((row) => keyText(cpu, row)[0]);
      if (rest.some((number) => number > 0)) { layers.push({ numbers: rest }); names.push("others"); }
      add(name, "time", layers, names);
    } else missing("CPU by process", "cpu");
    simple("Disk", "disk", ["bytes"], "bytes");
    simple("Network", "net", ["sent_bytes", "received_bytes"], "bytes", ["sent", "received"]);
    simple(".NET pauses", "gc", ["ms"], "time");
    return rows;
  };
  const axis = (data) => {
    const length = data.slot_width * data.slot_count, unit = length < 2 * DAY ? 1 : DAY, steps = [1, 2, 5].flatMap((step) => Array.from({ length: 18 }, (_, power) => unit * step * 10 ** power));
    const step = steps.filter((step) => length / step <= 6).sort((a, b) => a - b)[0] ?? length;
    const line = make("div", { className: "axis" });
    line.setAttribute("aria-hidden", "true");
    for (let time = 0; time < length * 0.95; time += step) {
      const tick = make("span", {}, seconds(time, 6));
      tick.style.left = `${time / length * 100}%`;
      line.append(tick);
    }
    return line;
  };
  const timeline = (view) => {
    const { data } = view, count = data.slot_count, last = count - 1;
    const part = make("div", { className: "lines" }), rows = timelineRows(data);
    for (const row of rows) {
      const label = make("div", { className: "label" }, make("b", {}, row.name));
      const line = make("div", { className: "line" }, label);
      if (row.missing) line.append(make("p", { className: "missing" }, row.missing));
      else {
        const { chart, most, tops } = stackedRow(data, row.layers);
        row.tops = tops;
        label.append(make("small", {}, ` most in a slot: ${amount(most, row.unit)}${row.unit === "time" ? " ms" : ""}`));
        line.append(make("div", { className: "chart" }, chart));
        if (row.names) label.append(make("span", { className: "keys" }, ...row.names.map((name, index) => make("span", {}, make("i", { className: `layer${index}` }), traced(name)))));
      }
      part.append(line);
    }
    const { marks, more } = data.marks;
    const markRow = make("div", { className: "line" }, make("div", { className: "label" }, make("b", {}, "Marks"), make("small", {}, ` ${several(marks.length + more, "mark")}`)));
    if (marks.length) {
      const ticks = draw("svg", { viewBox: `0 0 ${count} 10`, preserveAspectRatio: "none", "aria-hidden": "true", class: "marks" });
      for (const { time } of marks) ticks.append(draw("rect", { x: Math.min(Math.max(time / data.slot_width, 0), count) - 0.3, width: 0.6, height: 10 }));
      markRow.append(make("div", { className: "chart low" }, ticks));
    } else markRow.append(make("p", { className: "missing" }, "none in the trace"));
    part.append(markRow, axis(data));

    // Pointer and keyboard act on a slider over all rows: its value is the cursor.
    const over = make("div", { className: "over", tabIndex: 0 }), mark = make("div", { className: "range" }), line = make("div", { className: "cursor" });
    labelled(over, "Time. Arrow keys move the cursor, with Shift they select, Escape selects the whole trace.", "slider");
    over.setAttribute("aria-valuemin", 0);
    over.setAttribute("aria-valuemax", last);
    over.append(mark, line);
    part.append(over);
    const readout = make("output", { className: "readout" });
    let cursor = 0, anchor = null;
    line.hidden = true;
    readout.textContent = "Point at or touch the time line to read the numbers of a slot; drag to select a time.";
    over.setAttribute("aria-valuenow", 0);
    const show = () => {
      line.hidden = false;
      line.style.left = `${(cursor + 0.5) / count * 100}%`;
      const near = data.marks.marks.find(({ time }) => Math.floor(time / data.slot_width) === cursor);
      const values = rows.filter((row) => row.tops).map((row) => `${row.name} ${amount(row.tops[cursor], row.unit)}${row.unit === "time" ? " ms" : ""}`);
      const time = Date.parse(data.start_utc) + view.time(cursor) / 1e4;
      // Dates of scripts end in the year 275760.
      const utc = Math.abs(time) < 8.64e15 ? ` (${new Date(time).toISOString().slice(11, 23)} UTC)` : "";
      const text = `${seconds(view.time(cursor))}${utc}: ${values.join(", ")}`;
      readout.replaceChildren(text, ...near ? [", mark ", traced(near.text)] : []);
      over.setAttribute("aria-valuenow", cursor);
      over.setAttribute("aria-valuetext", text);
    };
    const move = (slot) => { cursor = Math.min(Math.max(slot, 0), last); show(); };
    const extend = () => view.select([Math.min(anchor, cursor), Math.max(anchor, cursor)]);
    const slotAt = (event) => {
      const { left, width } = over.getBoundingClientRect();
      return Math.floor((event.clientX - left) / width * count);
    };
    let isDragged = false, pending = false;
    over.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      over.setPointerCapture?.(event.pointerId);
      move(slotAt(event));
      [anchor, isDragged] = [cursor, true];
    });
    over.addEventListener("pointermove", (event) => {
      const before = cursor;
      move(slotAt(event));
      if (!isDragged || before === cursor || pending) return;
      pending = true;
      requestAnimationFrame(() => { pending = false; if (isDragged) extend(); });
    });
    over.addEventListener("pointerup", (event) => {
      if (!isDragged) return;
      move(slotAt(event));
      isDragged = false;
      // A click without a movement only moves the cursor, and keeps the selection.
      if (anchor !== cursor) extend();
    });
    // The browser scrolls the page instead.
    over.addEventListener("pointercancel", () => { isDragged = false; });
    over.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10, Home: -count, End: count }[event.key];
      if (event.key === "Escape") view.select(null);
      else if (step === undefined) return;
      else if (event.shiftKey) {
        if (!view.range) anchor = cursor;
        anchor ??= cursor;
        move(cursor + step);
        extend();
      } else { anchor = null; move(cursor + step); }
      event.preventDefault();
    });
    view.follow(() => {
      mark.hidden = !view.range;
      if (!view.range) return;
      mark.style.left = `${view.range[0] / count * 100}%`;
      mark.style.width = `${(view.range[1] - view.range[0] + 1) / count * 100}%`;
    });
    const all = make("details", {}, make("summary", {}, "Time line as a table"));
    all.addEventListener("toggle", () => {
      const shown = rows.filter((row) => row.tops), heads = shown.map((row) => row.unit === "time" ? `${row.name}, ms` : row.name);
      const lines = Array.from({ length: count }, (_, slot) => [seconds(view.time(slot), 6), ...shown.map((row) => amount(row.tops[slot], row.unit))]);
      all.append(scrolled("Time line as a table", table("Time line", ["from", ...heads], lines, heads.map((_, index) => index + 1))));
    }, { once: true });
    const named = marks.length ? [make("details", {}, make("summary", {}, "Marks as a table"), scrolled("Marks", table("Marks", ["time", "text"], marks.map(({ time, text }) => [seconds(time, 6), traced(text)]))))] : [];
    return [part, readout, all, ...named];
  };
