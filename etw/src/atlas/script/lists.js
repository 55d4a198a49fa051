
  function filter() {
    const input = at("filter"), rows = [...document.querySelectorAll(".filtered tbody tr")];
    input?.addEventListener("input", () => {
      const words = input.value.trim().toLowerCase().split(/[\s_]+/);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      for (const table of document.querySelectorAll(".filtered")) {
        const isEmpty = table.classList.toggle("empty", [...table.tBodies[0].rows].every((row) => row.hidden)), around = table.closest("details");
        if (around) around.open = !isEmpty && words[0] !== "";
      }
      const left = rows.filter((row) => !row.hidden).length;
      at("count").textContent = left === rows.length ? "" : `${left} of ${rows.length}`;
    });
  }

  // The names of a value, by the rows of the table.
  function decoder() {
    const input = at("decode-value"), output = at("decode-names");
    if (!input) return;
    const rows = [...at("decode-table").tBodies[0].rows], isFlags = input.dataset.kind === "flags", of = (row) => BigInt(row.dataset.value);
    const show = () => {
      const value = number(input.value);
      let hits = value === null ? rows : rows.filter((row) => of(row) === value), rest = 0n;
      if (isFlags && !hits.length && value > 0n) {
        hits = rows.filter((row) => of(row) > 0n && (value & of(row)) === of(row));
        rest = hits.reduce((left, row) => left & ~of(row), value);
      }
      rows.forEach((row) => { row.hidden = !hits.includes(row); });
      const names = [...new Set(hits.map((row) => row.cells[1].textContent)), ...(rest ? ["unnamed bits " + hex(rest)] : [])];
      output.textContent = value === null ? (input.value.trim() ? "not a number" : "") : names.join(isFlags ? " | " : ", ") || "no match";
    };
    const read = () => { input.value = readState().value ?? input.value; if (input.value) show(); };
    input.addEventListener("input", () => { show(); writeState({ value: input.value.trim() }); });
    follow(read);
  }

  // What is wider than the window shows its newest versions first.
  function newest() {
    const show = () => document.querySelectorAll(".past .scroll").forEach((part) => { part.scrollLeft = part.scrollWidth; });
    document.querySelectorAll(".switch > input").forEach((input) => input.addEventListener("change", show));
    requestAnimationFrame(show);
  }

  // Each code and each identity can be copied.
  function copies() {
    const button = (text, of) => {
      const button = make("button", { type: "button", className: "copy" }, text);
      button.addEventListener("click", async () => {
        const copied = await of();
        button.dataset.copied = copied;
        button.textContent = await navigator.clipboard.writeText(copied).then(() => "Copied", () => "Not copied: select the text");
      });
      return button;
    };
    for (const code of document.querySelectorAll("pre.code")) {
      code.before(button("Copy", () => code.textContent), ...(at("ask-form") ? [button("Copy with dependencies", () => dependencies(code))] : []));
    }
    for (const code of document.querySelectorAll(".identities code")) code.after(button("Copy", () => code.textContent));
  }

  // The parts of a page, for what wide screens have beside it.
  function outline() {
    document.querySelector(".outline")?.remove();
    const heads = [...document.querySelectorAll("main h2")].filter((head) => head.id || head.closest("#tables"));
    if (at("ask-form") || heads.length < 3) return;
    heads.forEach((head, index) => { head.id ||= "part-" + index; });
    const links = heads.map((head) => link(head.firstChild.textContent, "#" + head.id));
    at("the-page").after(make("nav", { className: "outline", ariaLabel: "Parts of this page" }, ...links));
  }
