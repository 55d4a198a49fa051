// Search, filters, decoder and comparison. Every page reads without it. It loads nothing but files of the atlas.
"use strict";
(() => {
  const root = document.body.dataset.root;
  const at = (id) => document.getElementById(id);
  document.documentElement.classList.add("js");

  const loading = {};
  const load = (name, key) => loading[name] ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = root + name;
    script.onload = () => done(window[key]);
    script.onerror = () => failed(new Error(name + " cannot be read"));
    document.head.append(script);
  });

  // A number as people write it.
  const number = (text) => {
    text = text.trim().replace(/^\+/, "").replace(/_/g, "");
    return /^(0x[0-9a-f]+|-?\d+)$/i.test(text) ? BigInt(text) : /^[0-9a-f]+h$/i.test(text) ? BigInt("0x" + text.slice(0, -1)) : null;
  };

  newest();
  search();
  filter();
  offsets();
  decoder();
  comparison();
  architecture();
  copies();

  function search() {
    const input = at("search-words"), list = at("search-found");
    let entries = null, chosen = -1;
    const prepare = async () => {
      if (entries) return;
      const { types, kernels } = await load("search.js", "atlasSearch");
      entries = [];
      for (const [name, page, members, pages] of types) {
        entries.push([name, page, "", name.toLowerCase(), 0]);
        for (const [member, index] of members) {
          entries.push([name + "." + member, pages[index] + "#" + member, "", member.toLowerCase(), 1]);
        }
      }
      for (const [name, page, release] of kernels) entries.push([name, page, release, (name + " " + release).toLowerCase(), 0]);
    };
    const show = async () => {
      const words = input.value.trim().toLowerCase().replace(/^nt!/, "").replace(/^_/, "");
      await prepare();
      const found = [];
      if (words) {
        for (const entry of entries) {
          const own = entry[3], whole = entry[4] ? entry[0].toLowerCase() : own;
          const rank = own === words ? 0 : own.startsWith(words) ? 1 : own.includes(words) ? 2 : whole.includes(words) ? 3 : -1;
          if (rank >= 0) found.push([rank * 2 + entry[4], entry]);
        }
        found.sort((a, b) => a[0] - b[0] || a[1][0].length - b[1][0].length || (a[1][0] < b[1][0] ? -1 : 1));
      }
      chosen = found.length ? 0 : -1;
      list.replaceChildren(...found.slice(0, 40).map(([, [name, page, note]], index) => {
        const item = document.createElement("li");
        item.id = "found-" + index;
        item.role = "option";
        item.dataset.page = page;
        item.textContent = name;
        if (note) item.append(Object.assign(document.createElement("small"), { textContent: note }));
        return item;
      }));
      if (words && !found.length) list.append(Object.assign(document.createElement("li"), { textContent: "nothing has that name" }));
      list.hidden = !words;
      input.setAttribute("aria-expanded", String(!list.hidden));
      mark();
    };
    const mark = () => {
      [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen)));
      const item = list.children[chosen];
      if (item && item.id) input.setAttribute("aria-activedescendant", item.id);
      else input.removeAttribute("aria-activedescendant");
      item?.scrollIntoView({ block: "nearest" });
    };
    const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
    const go = (item) => { if (item?.dataset.page) { location.href = root + item.dataset.page; close(); } };
    input.addEventListener("focus", prepare);
    input.addEventListener("input", show);
    input.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: 1, ArrowUp: -1 };
      if (event.key in steps && list.children.length) {
        chosen = (chosen + steps[event.key] + list.children.length) % list.children.length;
        mark();
        event.preventDefault();
      } else if (event.key === "Escape") {
        close();
        input.blur();
      }
    });
    at("search-form").addEventListener("submit", (event) => { event.preventDefault(); go(list.children[chosen]); });
    list.addEventListener("mousedown", (event) => { event.preventDefault(); go(event.target.closest("li")); });
    input.addEventListener("blur", close);
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, textarea, select");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { input.focus(); input.select(); event.preventDefault(); }
    });
  }

  // Hides rows; says how many are left.
  function narrow(table, keep) {
    let left = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !keep(row);
      left += row.hidden ? 0 : 1;
    }
    const all = table.tBodies[0].rows.length;
    at("count").textContent = left === all ? "" : `${left} of ${all}`;
  }

  function filter() {
    const input = at("filter"), list = at("list");
    input?.addEventListener("input", () => {
      const words = input.value.trim().toLowerCase();
      narrow(list, (row) => row.textContent.toLowerCase().includes(words));
    });
  }

  function offsets() {
    const input = at("offset"), of = at("of"), table = at("offsets");
    if (!input) return;
    const known = table.dataset.kernels.split(" ");
    // A build and revision is the last kernel of its build that the table has and that is not later.
    const resolve = (text) => {
      const [, build, revision] = text.match(/^(\d+(?:\.\d+\.\d+)?)\.(\d+)$/) ?? [];
      if (!build || known.includes(text)) return text;
      const own = known.filter((name) => name.startsWith(build + ".") && Number(name.slice(build.length + 1)) <= Number(revision));
      return own.sort((a, b) => a.slice(build.length + 1) - b.slice(build.length + 1)).at(-1) ?? text;
    };
    const show = () => {
      const wanted = number(input.value), asked = of.value.trim().replace(/^10\.0\./, "").replace(/-(x86|x64|arm64)$/, "");
      const kernel = resolve(asked), exact = known.includes(kernel);
      narrow(table, ({ dataset: { from, to, in: numbers } }) => {
        const first = BigInt(from), end = BigInt(to);
        const here = numbers.split(" ").some((index) => exact ? known[index] === kernel : known[index].includes(kernel));
        return here && (wanted === null || (first <= wanted && (wanted < end || first === wanted)));
      });
      if (kernel !== asked) at("count").textContent += `, with the layouts of ${kernel}`;
    };
    input.addEventListener("input", show);
    of.addEventListener("input", show);
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("offset")) { input.value = asked.get("offset"); of.value = asked.get("in") ?? ""; show(); }
  }

  function decoder() {
    const input = at("decode-value"), table = at("decode-table"), output = at("decode-names");
    if (!input) return;
    const rows = [...table.tBodies[0].rows];
    const names = (rows) => [...new Set(rows.map((row) => row.cells[1].textContent))];
    const show = () => {
      rows.forEach((row) => { row.hidden = false; });
      const value = number(input.value);
      if (value === null) { output.textContent = input.value.trim() ? "no number" : ""; return; }
      const of = (row) => BigInt(row.dataset.value);
      let hits = rows.filter((row) => of(row) === value), rest = 0n;
      if (input.dataset.kind === "flags" && !hits.length && value > 0n) {
        hits = rows.filter((row) => of(row) > 0n && (value & of(row)) === of(row));
        rest = hits.reduce((left, row) => left & ~of(row), value);
      }
      rows.forEach((row) => { row.hidden = !hits.includes(row); });
      const between = input.dataset.kind === "flags" ? " | " : ", ";
      const parts = names(hits);
      if (rest) parts.push("0x" + rest.toString(16) + " without a name");
      output.textContent = hits.length ? parts.join(between) : "no name";
    };
    input.addEventListener("input", show);
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("value")) { input.value = asked.get("value"); show(); }
  }

  // What is wider than the window shows its newest versions first.
  function newest() {
    const show = () => document.querySelectorAll(".panel .scroll").forEach((part) => { part.scrollLeft = part.scrollWidth; });
    document.querySelectorAll(".switch > input").forEach((input) => input.addEventListener("change", show));
    show();
  }

  // A link may name the architecture that is shown, as in #arm64.
  function architecture() {
    const choose = () => {
      const arch = location.hash.match(/(x86|x64|arm64)$/)?.[1];
      if (arch && at("arch-" + arch)) at("arch-" + arch).checked = true;
    };
    addEventListener("hashchange", choose);
    choose();
  }

  function copies() {
    for (const code of document.querySelectorAll("pre.code")) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" });
      button.addEventListener("click", async () => {
        getSelection().selectAllChildren(code);
        try { await navigator.clipboard.writeText(code.textContent); } catch { document.execCommand("copy"); }
        button.textContent = "Copied";
      });
      code.before(button);
    }
  }

  // The comparison, by the rules and in the words of `etw diff`.
  function comparison() {
    const form = at("compare");
    if (!form) return;
    const output = at("diff"), way = at("way");
    const show = async () => {
      const [a, b, only] = ["a", "b", "only"].map((id) => at(id).value.trim());
      if (!a || !b) return;
      const atlas = await load("compare.js", "atlasCompare");
      const one = kernel(atlas, a), other = kernel(atlas, b);
      const wrong = one.error ?? other.error ?? (only && !atlas.names.includes(only) ? `there is no structure ${only}` : null);
      if (wrong) { way.textContent = wrong; output.textContent = ""; return; }
      history.replaceState(null, "", "#" + new URLSearchParams(only ? { a, b, only } : { a, b }));
      const text = compare(atlas, one, other, only);
      output.replaceChildren(...text.split(/(?<=\n)/).map((line) => {
        const kind = { "+": "new", "-": "gone", "~": "moved" }[line[0]];
        return Object.assign(document.createElement("span"), { textContent: line, className: kind ?? "" });
      }));
      way.textContent = between(atlas, one, other, only);
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const id of ["a", "b", "only"]) if (asked.has(id)) at(id).value = asked.get(id);
    show();
  }

  // A kernel of the axis, or one that was seen to have the layouts of such a kernel.
  function kernel(atlas, name) {
    const index = atlas.kernels.findIndex((kernel) => kernel.name === name);
    if (index >= 0) return { index, label: name, standing: atlas.kernels[index].standing };
    const [, build, arch] = name.match(/^(.*)-(x86|x64|arm64)$/) ?? [];
    const seen = atlas.kernels.findIndex((kernel) => kernel.arch === arch && build in kernel.seen);
    if (seen < 0) return { error: `${name}: no kernel of that name was seen. etw diff tells which layouts it is likely to have.` };
    const standing = { s: "proven", c: "converted", i: "partly seen" }[atlas.kernels[seen].seen[build]];
    return { index: seen, label: `${name}, which has the layouts of ${atlas.kernels[seen].name}`, standing };
  }

  // Which kernels on the way from one to the other changed something, and how sure both ends are.
  function between(atlas, one, other, only) {
    const sure = `${one.label.split(",")[0]}: ${one.standing}. ${other.label.split(",")[0]}: ${other.standing}.`;
    const [a, b] = [one, other].map(({ index }) => atlas.kernels[index]);
    if (a.arch !== b.arch) return sure;
    const [from, to] = [one.index, other.index].sort((x, y) => x - y);
    const line = atlas.kernels.map((kernel, index) => index).filter((index) => atlas.kernels[index].arch === a.arch && index >= from && index <= to);
    const wanted = only ? [atlas.names.indexOf(only)] : atlas.names.map((_, index) => index);
    const changes = line.slice(1).filter((index, before) => wanted.some((name) => atlas.targets[index][name] !== atlas.targets[line[before]][name]));
    if (!changes.length) return sure;
    return `${sure} Changed on the way with ${changes.map((index) => atlas.kernels[index].name.replace(/-[^-]*$/, "")).join(", ")}.`;
  }

  function compare(atlas, one, other, only) {
    const { words, definitions, targets, names } = atlas;
    const counts = { added: 0, removed: 0, moved: 0, retyped: 0, bits: 0, constants: 0, sizes: 0 };
    let all = 0, differ = 0, text = "", owned = {};
    const [a, b] = [targets[one.index], targets[other.index]];
    const order = names.map((_, index) => index).sort((x, y) => (names[x] < names[y] ? -1 : 1));
    for (const index of order) {
      if (only && names[index] !== only || a[index] < 0 && b[index] < 0) continue;
      all += 1;
      if (a[index] === b[index]) continue;
      const section = structure(names[index], definitions[a[index]], definitions[b[index]]);
      if (section) { differ += 1; text += "\n" + section; }
    }
    text = `${one.label} -> ${other.label}\n${text}\n${all - differ} of ${all} structures and enumerations are equal\n`;
    return differ ? text + Object.entries(counts).map(([list, count]) => `${list} ${count}`).join(", ") + "\n" : text;

    function structure(name, before, after) {
      const entries = new Map(), whole = { lists: 0 };
      const add = (list, path, a, b) => {
        counts[list] += 1;
        if (!path) { whole.lists += 1; return; }
        const entry = entries.get(path) ?? { a, b, lists: [] };
        entry.lists.push(list);
        entries.set(path, entry);
      };
      if (!before || !after) {
        const has = before ?? after, aggregate = isAggregate(has);
        for (const member of has[2]) {
          const fact = aggregate ? place(member, 0) : { value: member[1] };
          add(aggregate ? (before ? "removed" : "added") : "constants", words[member[0]], before && fact, after && fact);
        }
        counts.sizes += 1;
        return `${name}: ${before ? "-" : "+"} ${described({ whole: has })}, ${entries.size} members\n`;
      }
      definition("", before, after, 0, 0);
      if (!whole.lists && !entries.size) return "";
      const turned = (x, y) => (x === y ? x : `${x} -> ${y}`);
      const head = whole.lists ? `: ${turned(before[0], after[0])}, ${turned(hex(before[1]), hex(after[1]))} bytes` : "";
      return name + head + "\n" + aligned(rows());

      function definition(path, before, after, base, there) {
        const owner = path.replace(/\.$/, "");
        if (isAggregate(before) !== isAggregate(after)) { add("retyped", owner, find(before), find(after)); return; }
        if (!isAggregate(before)) { constants(path, before, after); return; }
        if (!path && before[0] !== after[0]) add("retyped", "", null, null);
        if (before[1] !== after[1]) add(path ? "retyped" : "sizes", owner, path && owned.a, path && owned.b);
        const left = new Map(after[2].map((member) => [member[0], member]));
        for (const old of before[2]) {
          const member = left.get(old[0]);
          left.delete(old[0]);
          const own = path + words[old[0]], a = place(old, base);
          if (!member) { add("removed", own, a, null); continue; }
          const b = place(member, there);
          if (old[1] !== member[1]) add("moved", own, a, b);
          const kept = old[4] < 0 === member[4] < 0;
          if (old[3] !== member[3] || !kept) {
            const other = old[4] !== member[4] || old[5] !== member[5];
            if (other) add("bits", own, a, b);
            if (!other || old[3] !== member[3]) add("retyped", own, a, b);
            continue;
          }
          if (old[4] !== member[4] || old[5] !== member[5]) add("bits", own, a, b);
          if (old[6] && member[6]) {
            owned = { a, b };
            definition(own + ".", old[6], member[6], base + old[1], there + member[1]);
          }
        }
        for (const member of [...left.values()].sort((x, y) => x[1] - y[1])) add("added", path + words[member[0]], null, place(member, there));
      }

      function constants(path, before, after) {
        if (before[1] !== after[1] || before[0] !== after[0]) add(path ? "retyped" : "sizes", path.replace(/\.$/, ""), null, null);
        const left = new Map(after[2]);
        for (const [name, value] of before[2]) {
          const other = left.get(name);
          left.delete(name);
          if (other !== value) add("constants", path + words[name], { value }, other === undefined ? null : { value: other });
        }
        for (const [name, value] of left) add("constants", path + words[name], null, { value });
      }

      // The members of A in their order, those together that only moved; then what A does not have.
      function rows() {
        const list = [], known = new Set();
        let run = [], delta = 0;
        const end = (last) => {
          if (run.length > 1) {
            const [first] = run, to = last ? "on" : `to ${run.at(-1).path}`;
            const sign = delta < 0 ? "-" : "+";
            const words = `moved by ${sign}${hex(Math.abs(delta))} from ${first.path} ${to}`;
            list.push({ at: spot(first.b), cells: ["~", both(first, offset), `${run.length} members`, words] });
          } else for (const entry of run) list.push({ at: spot(entry.b), cells: cells(entry) });
          run = [];
        };
        if (isAggregate(before)) {
          const members = [...before[2]].sort((x, y) => x[1] - y[1] || Math.max(x[4], 0) - Math.max(y[4], 0));
          for (const member of members) {
            const path = words[member[0]], entry = entries.get(path);
            known.add(path);
            if (entry) entry.path = path;
            if (entry && !entry.b) { const [at, bit] = spot(entry.a); list.push({ at: [at + delta, bit], cells: cells(entry) }); continue; }
            const by = entry ? spot(entry.b)[0] - spot(entry.a)[0] : 0;
            if (by !== delta) { end(false); delta = by; }
            if (!entry) continue;
            if (entry.lists.length === 1 && entry.lists[0] === "moved") run.push(entry);
            else list.push({ at: spot(entry.b), cells: cells(entry) });
          }
          end(true);
        }
        for (const path of [...entries.keys()].filter((path) => !known.has(path)).sort((x, y) => (x < y ? -1 : 1))) {
          const entry = entries.get(path);
          entry.path = path;
          list.push({ at: spot(entry.b ?? entry.a), cells: cells(entry) });
        }
        list.sort((x, y) => x.at[0] - y.at[0] || x.at[1] - y.at[1]);
        return list.map((row) => row.cells);
      }
    }

    function isAggregate(definition) { return definition[0] === "struct" || definition[0] === "union"; }
    function find(definition) { return { whole: definition }; }
    function place(member, base) { return { offset: base + member[1], type: words[member[2]], bit: member[4], bits: member[5] }; }
    function spot(fact) { return !fact ? [0, 0] : "value" in fact ? [fact.value, 0] : [fact.offset ?? 0, Math.max(fact.bit ?? 0, 0)]; }
    function hex(value) { return "0x" + value.toString(16); }
    function offset(fact) { return "offset" in fact ? "0x" + fact.offset.toString(16).padStart(4, "0") : ""; }
    function both({ a, b }, words) {
      if (!a || !b) return words(a ?? b);
      const [old, now] = [words(a), words(b)];
      return old === now ? old : `${old} -> ${now}`;
    }
    function described(fact) {
      if ("value" in fact) return String(fact.value);
      if (fact.whole) return `${fact.whole[0]} of ${hex(fact.whole[1])} bytes`;
      if (fact.bit < 0) return fact.type;
      return fact.bits === 1 ? `${fact.type}, bit ${fact.bit}` : `${fact.type}, bits ${fact.bit}-${fact.bit + fact.bits - 1}`;
    }
    function cells(entry) {
      return [!entry.a ? "+" : !entry.b ? "-" : "~", both(entry, offset), entry.path, both(entry, described)];
    }
    function aligned(rows) {
      const count = Math.max(...rows.map((row) => row.length), 0);
      const widths = [...Array(count).keys()].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
      const used = [...Array(count).keys()].filter((column) => widths[column] > 0);
      return rows.map((row) => used.map((column, index) => {
        const cell = row[column] ?? "";
        return index + 1 < used.length ? cell.padEnd(widths[column] + 2) : cell;
      }).join("").trimEnd() + "\n").join("");
    }
  }
})();
