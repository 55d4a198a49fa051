  // Elements and numbers. Text of the trace is only ever text of an element, in a `bdi`, so that it cannot change the direction of the text around it.
  const make = (tag, properties, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };
  const draw = (tag, attributes, ...inside) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  };
  const traced = (text) => make("bdi", {}, text);
  // A text that can be long: its start, and a button that shows the whole.
  const whole = (text) => {
    if (text.length <= 160) return traced(text);
    const part = make("span", { className: "words whole" }, traced(`${text.slice(0, 120)}…`), " ");
    part.append(button(`Show ${grouped(text.length)} characters`, () => part.replaceChildren(traced(text))));
    return part;
  };
  const labelled = (element, label, role) => {
    if (role) element.setAttribute("role", role);
    element.setAttribute("aria-label", label);
    return element;
  };
  // A part that may be wider than the screen. It scrolls on its own, also by keyboard.
  const scrolled = (label, ...inside) => labelled(make("div", { className: "scroll", tabIndex: 0 }, ...inside), label, "region");
  const button = (text, act) => make("button", { type: "button", onclick: act }, text);
  // A command that can be copied.
  const command = (text) => {
    const code = make("code", {}, text);
    const copy = button("Copy", async () => {
      getSelection().selectAllChildren(code);
      try { await navigator.clipboard.writeText(text); } catch { document.execCommand("copy"); }
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    });
    return make("div", { className: "command" }, code, labelled(copy, `Copy ${text}`));
  };

  const grouped = (number) => number.toLocaleString("en");
  const several = (count, noun, plural = `${noun}s`) => `${grouped(count)} ${count === 1 ? noun : plural}`;
  const decimals = (number, most) => number.toLocaleString("en", { maximumFractionDigits: most });
  // Amounts of time are in units of 100 ns.
  const DAY = 864e9;
  const milliseconds = (time) => decimals(time / 1e4, time >= 1e6 ? 0 : 3);
  const seconds = (time, most = 3) => Math.abs(time) < 2 * DAY ? `${decimals(time / 1e7, most)} s` : `${decimals(time / DAY, 2)} days`;
  const size = (bytes) => {
    const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), 5);
    return power ? `${decimals(bytes / 1024 ** power, 1)} ${["", "KiB", "MiB", "GiB", "TiB", "PiB"][power]}` : `${bytes} B`;
  };
  const amount = (value, unit) => unit === "time" ? milliseconds(value) : unit === "bytes" ? size(value) : grouped(value);
  const percent = (part, whole) => whole ? `${decimals(part / whole * 100, 1)} %` : "";

  // A table. Cells are elements or text; columns with numbers are aligned to the right.
  const table = (label, heads, rows, numbers = []) => {
    const wrapped = (inside) => typeof inside === "string" && inside.length > 40 ? make("span", { className: "words" }, inside) : inside;
    const cell = (tag, inside, index) => make(tag, { className: numbers.includes(index) ? "number" : "" }, wrapped(inside));
    const head = make("tr", {}, ...heads.map((text, index) => Object.assign(cell("th", text, index), { scope: "col" })));
    const body = make("tbody", {}, ...rows.map((cells) => {
      const row = make("tr", {}, ...cells.map((inside, index) => cell(index ? "td" : "th", inside, index)));
      row.cells[0].scope = "row";
      return row;
    }));
    return make("table", {}, make("caption", { className: "unseen" }, label), make("thead", {}, head), body);
  };
  // A bar that shows a part of a whole.
  const bar = (part, whole) => {
    const width = whole > 0 ? Math.max(part / whole * 100, part > 0 ? 1 : 0) : 0;
    return draw("svg", { class: "share", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, draw("rect", { width, height: 10 }));
  };
  // Shows the first rows of a table, and a button for the others.
  const folded = (element, count) => {
    const rows = [...element.tBodies[0].rows].slice(count);
    if (rows.length < 3) return [element];
    for (const row of rows) row.classList.add("folded");
    const more = button(`Show ${grouped(rows.length)} more`, () => {
      for (const row of rows) row.classList.remove("folded");
      more.remove();
    });
    more.className = "more";
    return [element, more];
  };
