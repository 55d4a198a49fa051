
  function filter() {
    const input = at("filter"), rows = [...document.querySelectorAll(".filtered tbody tr")];
    const show = () => {
      const words = input.value.trim().toLowerCase().split(/[\s_]+/);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      for (const part of document.querySelectorAll("details:has(.filtered)")) part.open = words[0] !== "" && part.querySelector("tbody tr:not([hidden])") !== null;
      const left = rows.filter((row) => !row.hidden).length;
      at("count").textContent = left === rows.length ? "" : `${left} of ${rows.length}`;
    };
    input?.addEventListener("input", show);
    if (input) follow(() => { if (readState().words) { input.value = readState().words; show(); } });
  }

  // Decodes a number with the rows of the table.
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

  // Makes each copy button copy the code next to it.
  function copies() {
    document.addEventListener("click", async ({ target: button }) => {
      if (!button.matches(".copy")) return;
      const code = button.parentElement.querySelector("code, pre");
      const copied = button.matches(".whole") ? await dependencies(code) : code.textContent;
      button.dataset.copied = copied;
      button.textContent = await navigator.clipboard.writeText(copied).then(() => "Copied", () => "Not copied: select the text");
    });
  }
