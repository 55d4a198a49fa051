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

  search();
  filter();
  offsets();
  decoder();
  comparison();
  beside();
  architecture();
  copies();
  // With the first layout, which it would else force before that.
  requestAnimationFrame(newest);

  function search() {
    const input = at("search-words"), list = at("search-found");
    let entries = null, chosen = -1;
    const prepare = async () => {
      if (entries) return;
      const { types, classes, events, kernels } = await load("search.js", "atlasSearch");
      entries = [];
      for (const [name, page, members, pages] of types) {
        entries.push([name, page, "", name.toLowerCase(), 0]);
        for (const [member, index] of members) {
          entries.push([name + "." + member, pages[index] + "#" + member, "", member.toLowerCase(), 1]);
        }
      }
      for (const [name, page] of classes) entries.push([name, page, "events", name.toLowerCase(), 0]);
      for (const [name, page, hook, names, fields] of events) {
        const others = hook ? [hook, "0x" + Number(hook).toString(16), String(Number(hook)), ...names.map((other) => other.toLowerCase())] : [];
        entries.push([name, page, hook, name.toLowerCase(), 0, others]);
        for (const field of fields) entries.push([name + "." + field, page + "." + field, "", field.toLowerCase(), 1]);
      }
      for (const [name, page, release] of kernels) entries.push([name, page, release, (name + " " + release).toLowerCase(), 0]);
    };
    const show = async () => {
      const words = input.value.trim().toLowerCase().replace(/^nt!/, "").replace(/^_/, "");
      await prepare();
      const found = [];
      if (words) {
        for (const entry of entries) {
          const own = entry[3], whole = entry[4] ? entry[0].toLowerCase() : own, others = entry[5] ?? [];
          const has = own.includes(words) || words.length > 2 && others.some((other) => other.startsWith(words));
          const rank = own === words || others.includes(words) ? 0 : own.startsWith(words) ? 1 : has ? 2 : whole.includes(words) ? 3 : -1;
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
      if (words && !found.length) list.append(Object.assign(document.createElement("li"), { textContent: "no match" }));
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
      if (value === null) { output.textContent = input.value.trim() ? "not a number" : ""; return; }
      const of = (row) => BigInt(row.dataset.value);
      let hits = rows.filter((row) => of(row) === value), rest = 0n;
      if (input.dataset.kind === "flags" && !hits.length && value > 0n) {
        hits = rows.filter((row) => of(row) > 0n && (value & of(row)) === of(row));
        rest = hits.reduce((left, row) => left & ~of(row), value);
      }
      rows.forEach((row) => { row.hidden = !hits.includes(row); });
      const between = input.dataset.kind === "flags" ? " | " : ", ";
      const parts = names(hits);
      if (rest) parts.push("unnamed bits 0x" + rest.toString(16));
      output.textContent = hits.length ? parts.join(between) : "no match";
    };
    input.addEventListener("input", show);
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("value")) { input.value = asked.get("value"); show(); }
  }

  // What is wider than the window shows its newest versions first.
  function newest() {
    // First all is read and then all is written, so that the browser lays the page out once for each.
    const show = () => {
      const parts = [...document.querySelectorAll(".panel .scroll")].filter((part) => part.clientWidth).map((part) => {
        const [member, , ...columns] = part.querySelectorAll(".matrix thead th"), edge = member?.getBoundingClientRect().right;
        const last = part.scrollWidth - part.clientWidth - (parseFloat(part.style.paddingRight) || 0);
        // What is beside the column that stays begins with a whole one: there is room for that after the last.
        const starts = columns.map((column) => column.getBoundingClientRect().left - edge + part.scrollLeft);
        return { part, last, at: last > 0 ? starts.find((start) => start > last - 1) ?? last : 0 };
      });
      for (const { part, last, at } of parts) if (at > last) part.style.paddingRight = at - last + "px";
      for (const { part, at } of parts) part.scrollLeft = at;
    };
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
      const [a, b, asked] = ["a", "b", "only"].map((id) => at(id).value.trim());
      if (!a || !b) return;
      const atlas = await load("compare.js", "atlasCompare");
      const one = kernel(atlas, a, arch(b)), other = kernel(atlas, b, arch(a));
      const tag = asked.replace(/^nt!/, ""), only = [tag, tag.replace(/^_/, "")].find((name) => atlas.names.includes(name)) ?? "";
      const wrong = one.error ?? other.error ?? (asked && !only ? `unknown structure ${asked}` : null);
      if (wrong) {
        const near = !one.error && !other.error && nearest(tag, atlas.names);
        way.replaceChildren(wrong, ...(near ? ["; did you mean ", link(near, "#" + new URLSearchParams({ a, b, only: near })), "?"] : []));
        output.textContent = "";
        return;
      }
      history.replaceState(null, "", "#" + new URLSearchParams(only ? { a, b, only } : { a, b }));
      const to = (before, at) => `step/${before}--${at}.html`;
      const { lines, steps } = explained(atlas, one, other, only, to);
      output.replaceChildren(...lines);
      way.replaceChildren(`${said(one)} ${said(other)}`, ...steps);
    };
    const read = () => {
      const asked = new URLSearchParams(location.hash.slice(1));
      for (const id of ["a", "b", "only"]) if (asked.has(id)) at(id).value = asked.get(id);
      show();
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
    addEventListener("hashchange", read);
    read();
  }

  function link(text, href) { return Object.assign(document.createElement("a"), { textContent: text, href }); }
  function arch(name) { return name.match(/-(x86|x64|arm64)$/)?.[1]; }
  function bare(name) { return name.replace(/-[^-]*$/, ""); }
  function said({ label, confidence }) { return `${label.split(",")[0]}: ${confidence}.`; }

  // A kernel of the axis by any of its names, or an examined build that has the layouts of such a kernel. A name without an
  // architecture has that of the other kernel.
  function kernel(atlas, asked, other) {
    const { kernels, named, same } = atlas, own = arch(asked) ?? other ?? "x64";
    let build = arch(asked) ? bare(asked) : asked;
    if (/^\d{4,5}(\.\d+)?$/.test(build) && !(`${build}-${own}` in named)) {
      const [number] = build.split(".");
      build = (kernels.find(({ name }) => name.match(/^\d+\.\d+\.(\d+)/)[1] === number)?.name.match(/^\d+\.\d+\./)[0] ?? "10.0.") + build;
    }
    const name = `${build}-${own}`, of = (index, label, confidence) => ({ index, label, confidence: confidence ?? kernels[index].confidence });
    if (name in named) return of(...named[name]);
    const [, number, revision] = build.match(/^(\d+\.\d+\.\d+)\.(\d+)$/) ?? [];
    const [line, first] = same[number] ?? [number, 0], numbers = [number, line];
    const all = kernels.flatMap(({ arch, seen }, index) => arch !== own ? [] : Object.keys(seen).map((build) => [build, index]));
    // What was examined under another number is not evidence for a revision that this number never had.
    const counts = ([build]) => numbers.includes(bareBuild(build)) && (revision >= first || last(build) !== Number(revision));
    const known = all.filter(counts).sort(([a], [b]) => last(a) - last(b));
    const older = known.filter(([build]) => last(build) <= revision).at(-1), newer = known.find(([build]) => last(build) >= revision);
    if (!older) return { error: `${name}: no symbols or images of this build were examined; run etw diff to compare inferred layouts` };
    const taken = kernels[older[1]].name;
    if (older[0] === newer?.[0]) return of(older[1], `${name}, which has the layouts of ${taken}`, sureness(kernels[older[1]].seen[older[0]]));
    const both = newer && `${older[0]} and ${newer[0]}`;
    const evidence = !newer ? `inferred from ${older[0]}, the last examined update of this build`
      : newer[1] === older[1] ? `inferred: the examined builds ${both} have the same layouts`
      : `uncertain: ${both}, the nearest examined builds, have different layouts`;
    return of(older[1], `${name}, using the layouts of ${taken}`, evidence);
  }

  function bareBuild(build) { return build.replace(/\.\d+$/, ""); }
  function last(build) { return Number(build.split(".").at(-1)); }
  function sureness(letter) { return { s: "verified (PDB)", c: "verified (converted symbols)", i: "partly verified (image)" }[letter]; }

  // The name that somebody most likely meant, as `etw` finds it.
  function nearest(asked, names) {
    const far = (a, b) => {
      let row = [...Array(b.length + 1).keys()];
      for (let i = 0; i < a.length; i++) {
        const next = [i + 1];
        for (let j = 0; j < b.length; j++) next.push(Math.min(row[j] + (a[i] === b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1));
        row = next;
      }
      return row[b.length];
    };
    const all = names.map((name) => [far(asked.slice(0, 128).toLowerCase(), name.toLowerCase()), name]);
    const [distance, name] = all.sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1))[0] ?? [Infinity, ""];
    return distance <= Math.max(asked.length, name.length) / 3 + 1 ? name : null;
  }

  // The lines of a comparison, each with the kernels with which it came, and those of the way.
  function explained(atlas, one, other, only, to) {
    const came = arrivals(atlas, one, other), causes = new Set();
    const span = (className, ...inside) => {
      const element = Object.assign(document.createElement("span"), { className });
      element.append(...inside);
      return element;
    };
    const lines = compare(atlas, one, other, only).lines.map(([text, name, paths, sign]) => {
      const steps = paths ? came(name, paths, sign) : [], note = [];
      steps.forEach((step, index) => note.push(index ? "; " : "", ...told(atlas, name, step, to)));
      steps.forEach(({ at }) => causes.add(at));
      const kind = { "+": "new", "-": "gone", "~": "moved" }[text[0]] ?? "";
      return span(kind, text + "\n", ...(steps.length ? [span("with", ...note)] : []));
    });
    return { lines, steps: onTheWay(atlas, along(atlas, one, other), only, causes, to) };
  }

  // The build that made a change, the last examined build without it, and the confidence in both.
  function told(atlas, name, { before, at, kind, part, sign }, to) {
    const [old, now] = [before, at].map((index) => atlas.kernels[index]);
    const latest = Object.keys(old.seen).sort((a, b) => last(a) - last(b)).at(-1) ?? bare(old.name);
    const sure = [before, at].map((index) => {
      const code = atlas.confidences[name]?.[index];
      return code === undefined ? atlas.kernels[index].confidence : atlas.words_of_confidence[code];
    });
    // An examined build is as sure as that, where symbols have the structure at all.
    if (latest in old.seen && /verified/.test(sure[0])) sure[0] = sureness(old.seen[latest]);
    // An update of the preceding build may be younger than this build, which then did not remove anything.
    const gone = bareBuild(latest) === bareBuild(bare(now.name)) ? "removed with " : "absent in ";
    const first = kind === "gone" ? gone : sign === "-" ? "new with " : "with ", both = sure[0] === sure[1];
    return [part ? "in part " : "", first, link(bare(now.name), to(old.name, now.name)), both ? "" : `, ${sure[1]}`,
      `; last build without the change: ${latest}`, `${both ? "; both" : ","} ${sure[0]}`];
  }

  // The steps along the axis with which what differs came. What a later step undoes is left out.
  function arrivals(atlas, one, other) {
    const { kernels, definitions, targets, names } = atlas, line = along(atlas, one, other), known = new Map();
    const facts = (number) => {
      if (number < 0) return null;
      if (!known.has(number)) known.set(number, flat(definitions[number], "", new Map()));
      return known.get(number);
    };
    const flat = ([kind, size, content], path, map) => {
      if (!path) map.set("", kind + size);
      for (const [word, value, , key, bit, bits, inner] of content) {
        const own = path + atlas.words[word];
        map.set(own, [value, key, bit, bits, inner?.[0], inner?.[1]].join());
        if (inner) flat(inner, own + ".", map);
      }
      return map;
    };
    return (name, paths, sign) => {
      const sides = line.map((index) => facts(targets[index][names.indexOf(name)])), steps = new Map();
      for (const path of paths) {
        const states = sides.map((side) => side?.get(path)), end = states.length - 1;
        const plain = sign === "~" ? states : states.map((state) => state !== undefined);
        for (let at = 0; end > 0 && plain[at] !== plain[end]; at++) {
          at = plain.lastIndexOf(plain[at]);
          const step = steps.get(at) ?? { before: line[at], at: line[at + 1], kind: states[at + 1] === undefined ? "gone" : "there", count: 0 };
          step.count += 1;
          steps.set(at, step);
        }
      }
      return [...steps].sort(([a], [b]) => a - b).map(([, step]) => ({ ...step, sign, part: step.count < paths.length }));
    };
  }

  // The kernels of the axis from one to the other, oldest first.
  function along({ kernels }, one, other) {
    const [from, to] = [one.index, other.index].sort((x, y) => x - y), { arch } = kernels[from];
    if (arch !== kernels[to].arch) return [];
    return kernels.map((_, index) => index).filter((index) => kernels[index].arch === arch && index >= from && index <= to);
  }

  // Which kernels on the way changed something that is left, and which did not.
  function onTheWay(atlas, line, only, causes, to) {
    const wanted = only ? [atlas.names.indexOf(only)] : atlas.names.map((_, index) => index);
    const steps = line.slice(1).map((index, before) => [line[before], index]);
    const changed = steps.filter(([before, index]) => wanted.some((name) => atlas.targets[index][name] !== atlas.targets[before][name]));
    const list = (words, steps) => steps.flatMap((step, index) => {
      const [before, at] = step.map((index) => atlas.kernels[index].name);
      return [index ? ", " : words, link(bare(at), to(before, at)), index + 1 === steps.length ? "." : ""];
    });
    const left = changed.filter(([, at]) => causes.has(at)), undone = changed.filter(([, at]) => !causes.has(at));
    return [...list(" Changed with ", left), ...list(" Changes that were reverted, or belong to updates of another build: ", undone)];
  }

  // Any two versions of a structure, side by side.
  function beside() {
    const form = at("beside-form");
    if (!form) return;
    const { name } = form.dataset, selects = [at("beside-a"), at("beside-b")], confidences = {}, heads = [];
    for (const head of document.querySelectorAll(".matrix thead th:has(.seen)")) {
      const kernels = [...head.querySelectorAll(".k")].map((sign) => sign.title.split(/: (.*)/));
      const size = head.closest("table").tBodies[0].rows[0].cells[head.cellIndex].textContent;
      for (const [kernel, confidence] of kernels) confidences[kernel] = confidence;
      heads.push(kernels.map(([kernel]) => kernel));
      for (const select of selects) {
        const label = `${kernels[0][0].split("-").at(-1)}, ${head.querySelector("a").textContent}: ${size} bytes`;
        const group = Object.assign(document.createElement("optgroup"), { label });
        group.append(...kernels.map(([kernel]) => new Option(kernel)));
        select.append(group);
      }
    }
    // The newest change of the first architecture that has one.
    const archs = heads.map((kernels) => kernels[0].split("-").at(-1));
    const end = archs.findIndex((arch, index) => index > 0 && arch === archs[index - 1] && arch !== archs[index + 1]);
    if (end > 0) [selects[0].value, selects[1].value] = [heads[end - 1].at(-1), heads[end][0]];
    const to = (a, b) => "#" + new URLSearchParams({ a, b });
    const show = async (names) => {
      const atlas = await load("compare.js", "atlasCompare"), way = at("beside-way");
      const found = names.map((name, side) => kernel(atlas, name, arch(names[1 - side])));
      found.forEach(({ index }, side) => { if (index >= 0) selects[side].value = atlas.kernels[index].name; });
      const lost = names.find((_, side) => !found[side].error && !selects[side].value);
      const wrong = found.find(({ error }) => error)?.error ?? (lost && `${lost} has no ${name}`);
      at("beside-outcome").hidden = false;
      document.querySelector("#beside-outcome .scroll").replaceChildren(...(wrong ? [] : [picture(atlas, name, ...found)]));
      const { lines, steps } = wrong ? { lines: [] } : explained(atlas, ...found, name, to);
      at("beside-words").replaceChildren(...lines);
      if (wrong) { way.textContent = wrong; return; }
      const sure = found.map(({ label, confidence }, side) => {
        // A build that is not in the list was examined itself, and is as sure as that if symbols contain the structure at all.
        const own = confidences[selects[side].value], listed = label === selects[side].value;
        return `${label}: ${!listed && /verified/.test(own) ? confidence : own}.${side ? "" : " "}`;
      });
      way.replaceChildren(...sure, ...steps, " ", link("Compare any two targets", root + "compare.html" + to(...names) + "&only=" + name));
    };
    const chosen = () => {
      const names = selects.map((select) => select.value);
      history.replaceState(null, "", to(...names));
      show(names);
    };
    const asked = () => {
      const hash = new URLSearchParams(location.hash.slice(1));
      if (hash.has("a") && hash.has("b")) show([hash.get("a"), hash.get("b")]);
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); chosen(); });
    selects.forEach((select) => select.addEventListener("change", chosen));
    addEventListener("hashchange", asked);
    asked();
  }

  // As the pages of layouts have it, which atlas/moved.rs draws.
  function picture(atlas, name, one, other) {
    const LINE = 19, SIDE = 430, BETWEEN = 120, TOP = 26;
    const svg = (tag, attributes, ...inside) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.append(...inside);
      return element;
    };
    const hex = (value, width) => "0x" + value.toString(16).padStart(width, "0");
    const { words, definitions, targets, names } = atlas;
    const of = ({ index }) => definitions[targets[index][names.indexOf(name)]];
    const sides = [of(one), of(other)], kernels = [one, other].map(({ index }) => atlas.kernels[index].name);
    const { entries } = compare(atlas, one, other, name), typed = new Set(), moved = new Set();
    for (const [path, { lists }] of entries) {
      const own = path.split(".")[0];
      if (own !== path || lists.includes("retyped") || lists.includes("bits")) typed.add(own);
      else if (lists.includes("moved")) moved.add(own);
    }
    const lists = sides.map((side) => [...side[2]].sort((x, y) => x[1] - y[1] || Math.max(x[4], 0) - Math.max(y[4], 0)));
    const numbers = lists.map((list) => new Map(list.map((member, index) => [member[0], index])));
    const places = [0, 1].map((own) => {
      const list = [];
      let before = null;
      for (const [word, offset] of lists[own]) {
        const member = words[word], there = numbers[1 - own].get(word);
        const kind = there === undefined ? (own ? "new" : "gone") : typed.has(member) ? "typed" : moved.has(member) ? "moved" : "same";
        const by = there === undefined ? null : [there, lists[1 - own][there][1] - offset];
        const follows = before && by && by[0] === before[0] + 1 && by[1] === before[1];
        if (follows && list.at(-1).kind === kind && kind !== "typed") list.at(-1).members.push(member);
        else list.push({ members: [member], offset, kind });
        before = by;
      }
      return list;
    });
    const rows = Math.max(places[0].length, places[1].length), width = SIDE * 2 + BETWEEN + 2, height = TOP + rows * LINE + 6;
    const label = `${name} in ${kernels[0]} beside ${kernels[1]}: lines join what both have`;
    const whole = svg("svg", { class: "moved", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
    const starts = [0, SIDE + BETWEEN], y = (index) => TOP + index * LINE, half = (LINE - 1) / 2;
    starts.forEach((x, side) => whole.append(svg("text", { x, y: 14, class: "head" }, `${kernels[side]}, ${hex(sides[side][1], 0)} bytes`)));
    places[0].forEach(({ members, kind }, index) => {
      const there = places[1].findIndex((place) => kind !== "gone" && place.members.join() === members.join());
      if (there < 0) return;
      const a = y(index) + half, b = y(there) + half, middle = SIDE + BETWEEN / 2;
      whole.append(svg("path", { class: kind, d: `M${SIDE} ${a}C${middle} ${a} ${middle} ${b} ${SIDE + BETWEEN} ${b}` }));
    });
    starts.forEach((x, side) => places[side].forEach(({ members, offset, kind }, index) => {
      const said = members.length > 1 ? `${members.length} members, ${members[0]} to ${members.at(-1)}` : (kind === "typed" ? "~ " : "") + members[0];
      whole.append(svg("g", { class: kind },
        svg("rect", { x, y: y(index) + 1, width: SIDE, height: LINE - 2, rx: 2 }),
        svg("text", { x: x + 6, y: y(index) + 14, class: "number" }, hex(offset, 4)),
        svg("text", { x: x + 64, y: y(index) + 14 }, said)));
    }));
    return whole;
  }

  function compare(atlas, one, other, only) {
    const { words, definitions, targets, names } = atlas;
    const counts = { added: 0, removed: 0, moved: 0, retyped: 0, bits: 0, constants: 0, sizes: 0 };
    let all = 0, differ = 0, owned = {}, entries = new Map();
    const lines = [];
    const [a, b] = [targets[one.index], targets[other.index]];
    const pointers = [one, other].map(({ index }) => (atlas.kernels[index].arch === "x86" ? 4 : 8));
    // The bytes of a pointer or structure, or of an array of them; nothing of other types.
    const sized = (member, side) => {
      if (member[4] >= 0) return undefined;
      const [, type, counts] = words[member[3]].match(/^(.*?)((?:\[\d+\])*)$/);
      const named = type.startsWith("struct ") && definitions[[a, b][side][names.indexOf(type.slice(7))]];
      const each = type.startsWith("*") ? pointers[side] : named && isAggregate(named) ? named[1] : undefined;
      return each && (counts.match(/\d+/g) ?? []).reduce((size, count) => size * count, each);
    };
    const order = names.map((_, index) => index).sort((x, y) => (names[x] < names[y] ? -1 : 1));
    for (const index of order) {
      if (only && names[index] !== only || a[index] < 0 && b[index] < 0) continue;
      all += 1;
      if (a[index] === b[index] && pointers[0] === pointers[1]) continue;
      const section = structure(names[index], definitions[a[index]], definitions[b[index]]);
      if (section.length) { differ += 1; lines.push([""], ...section.map(([text, paths, sign]) => [text, names[index], paths, sign])); }
    }
    lines.unshift([`${one.label} -> ${other.label}`]);
    lines.push([""], [`structures and enumerations: ${all - differ} of ${all} equal`]);
    if (differ) lines.push([Object.entries(counts).map(([list, count]) => `${list} ${count}`).join(", ")]);
    // A line is its text, and where it tells of something, the structure, the paths, and the sign. The entries are those of the last
    // structure, which is the only one where one is asked for.
    return { lines, entries };

    function structure(name, before, after) {
      const whole = { lists: 0 };
      entries = new Map();
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
        const sign = before ? "-" : "+";
        return [[`${name}: ${sign} ${described({ whole: has })}, ${entries.size} members`, [""], sign]];
      }
      definition("", before, after, 0, 0);
      if (!whole.lists && !entries.size) return [];
      const turned = (x, y) => (x === y ? x : `${x} -> ${y}`);
      const head = whole.lists ? `: ${turned(before[0], after[0])}, ${turned(hex(before[1]), hex(after[1]))} bytes` : "";
      return [[name + head, head ? [""] : null, "~"], ...aligned(rows())];

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
          const [was, is] = [sized(old, 0), sized(member, 1)], resized = pointers[0] !== pointers[1] && was && is && was !== is;
          if (resized) [a.size, b.size] = [was, is];
          if (old[1] !== member[1]) add("moved", own, a, b);
          const kept = old[4] < 0 === member[4] < 0;
          if (old[3] !== member[3] || !kept || resized) {
            const other = old[4] !== member[4] || old[5] !== member[5];
            if (other) add("bits", own, a, b);
            if (!other || old[3] !== member[3] || resized) add("retyped", own, a, b);
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
            const [first] = run, to = last ? "to the end" : `to ${run.at(-1).path}`;
            const sign = delta < 0 ? "-" : "+";
            const words = `moved by ${sign}${hex(Math.abs(delta))} from ${first.path} ${to}`;
            list.push({ at: spot(first.b), cells: ["~", both(first, offset), `${run.length} members`, words], paths: run.map((entry) => entry.path) });
          } else for (const entry of run) list.push({ at: spot(entry.b), cells: cells(entry), paths: [entry.path] });
          run = [];
        };
        if (isAggregate(before)) {
          const members = [...before[2]].sort((x, y) => x[1] - y[1] || Math.max(x[4], 0) - Math.max(y[4], 0));
          for (const member of members) {
            const path = words[member[0]], entry = entries.get(path);
            known.add(path);
            if (entry) entry.path = path;
            if (entry && !entry.b) { const [at, bit] = spot(entry.a); list.push({ at: [at + delta, bit], cells: cells(entry), paths: [entry.path] }); continue; }
            const by = entry ? spot(entry.b)[0] - spot(entry.a)[0] : 0;
            if (by !== delta) { end(false); delta = by; }
            if (!entry) continue;
            if (entry.lists.length === 1 && entry.lists[0] === "moved") run.push(entry);
            else list.push({ at: spot(entry.b), cells: cells(entry), paths: [entry.path] });
          }
          end(true);
        }
        for (const path of [...entries.keys()].filter((path) => !known.has(path)).sort((x, y) => (x < y ? -1 : 1))) {
          const entry = entries.get(path);
          entry.path = path;
          list.push({ at: spot(entry.b ?? entry.a), cells: cells(entry), paths: [entry.path] });
        }
        list.sort((x, y) => x.at[0] - y.at[0] || x.at[1] - y.at[1]);
        return list;
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
      if (fact.size) return `${fact.type} of ${hex(fact.size)} bytes`;
      if (fact.bit < 0) return fact.type;
      return fact.bits === 1 ? `${fact.type}, bit ${fact.bit}` : `${fact.type}, bits ${fact.bit}-${fact.bit + fact.bits - 1}`;
    }
    function cells(entry) {
      return [!entry.a ? "+" : !entry.b ? "-" : "~", both(entry, offset), entry.path, both(entry, described)];
    }
    function aligned(rows) {
      const count = Math.max(...rows.map(({ cells }) => cells.length), 0);
      const widths = [...Array(count).keys()].map((column) => Math.max(...rows.map(({ cells }) => (cells[column] ?? "").length)));
      const used = [...Array(count).keys()].filter((column) => widths[column] > 0);
      return rows.map(({ cells, paths }) => [used.map((column, index) => {
        const cell = cells[column] ?? "";
        return index + 1 < used.length ? cell.padEnd(widths[column] + 2) : cell;
      }).join("").trimEnd(), paths, cells[0]]);
    }
  }
})();
