
  function search() {
    const input = at("search-words"), list = at("search-found");
    let entries = null, chosen = 0;
    const words = (text) => text.toLowerCase().replace(/^nt!/, "").split(/[\s_.!]+/).filter(Boolean);
    const prepare = async () => {
      const [{ types, classes, events, kernels, seen }, builds] = await Promise.all([load("search.js", () => window.atlasSearch), loadBuilds()]);
      if (entries) return;
      entries = [];
      const add = (name, page, kind, note, more = "") => entries.push({ name, page, kind, note, own: words(name).join(" "), text: (name + " " + note + " " + more).toLowerCase() });
      for (const [name, page, members, kind] of types) {
        add(name, page, kind, "");
        for (const member of members) add(`${name}.${member}`, `${page}#${member}`, kind === "values" ? "constant" : "member", "");
      }
      for (const [name, page] of classes) add(name, page, "events", "");
      for (const [name, page, hook, names, fields] of events) {
        add(name, page, "event", hook, hook ? `0x${Number(hook).toString(16)} ${Number(hook)} ${names.join(" ")}` : "");
        for (const field of fields) add(`${name}.${field}`, `${page}.${field}`, "field", "");
      }
      for (const [name, page, release] of kernels) add(name, page, "build", release);
      entries.builds = builds;
      entries.seen = seen;
    };
    // What is no name: an offset at a build, the identity of a kernel, an update, a revision.
    const special = (text) => {
      const { builds, seen } = entries, found = [], to = (index) => `kernel/${builds.targets[index].name}.html#evidence`;
      const [, name, offset, build] = text.match(/^(\w+) *\+ *(0x[0-9a-f]+|\d+)(?: +(\S+))?$/i) ?? [];
      if (name) {
        const own = ranked(name).find(({ kind }) => kind === "structure");
        const state = new URLSearchParams({ ...(build && { build }), member: offset });
        if (own) found.push({ name: `${own.name}+${offset}`, page: `${own.page}#${state}`, kind: "offset", note: build ?? "newest build" });
      }
      const digits = text.replace(/[-{}]/g, "").replace(/^0x/i, "").toLowerCase();
      if (/^[0-9a-f]{8,40}$/.test(digits)) {
        for (const [build, index, pdb, stamp] of seen) {
          if (stamp === digits) found.push({ name: build, page: to(index), kind: "time stamp", note: stamp });
          if (pdb && (pdb.startsWith(digits) || digits.startsWith(pdb))) found.push({ name: build, page: to(index), kind: "PDB", note: pdb });
        }
      }
      const revisions = /^kb *\d+$/i.test(text) ? builds.kbs[text.match(/\d+/)[0]] ?? [] : /^(\d+\.\d+\.)?\d{4,5}\.\d+$/.test(text) ? [text] : [];
      for (const revision of revisions) for (const arch of ["x64", "x86", "arm64"]) {
        const { index, name } = resolve(builds, revision, arch);
        if (index !== undefined) found.push({ name, page: to(index), kind: "build", note: `layouts of ${builds.targets[index].name}` });
      }
      return found;
    };
    const ranked = (text) => {
      const all = words(text), own = all.join(" "), found = [];
      if (!all.length) return found;
      for (const entry of entries) {
        if (!all.every((word) => entry.text.includes(word))) continue;
        const last = entry.own.slice(entry.name.includes(".") ? entry.own.lastIndexOf(words(entry.name.split(".").at(-1)).join(" ")) : 0);
        const whole = entry.own === own || entry.text.split(" ").includes(text.toLowerCase()), start = entry.own.startsWith(own) || last.startsWith(own);
        found.push([(whole ? 0 : last === own ? 1 : start ? 2 : entry.own.includes(own) ? 4 : 6) + (["member", "constant", "field"].includes(entry.kind) ? 1 : 0), entry]);
      }
      return found.sort((a, b) => a[0] - b[0] || a[1].name.length - b[1].name.length || (a[1].name < b[1].name ? -1 : 1)).map(([, entry]) => entry);
    };
    const show = async () => {
      await prepare();
      const text = input.value.trim(), found = text ? [...special(text), ...ranked(text)].slice(0, 40) : [];
      chosen = 0;
      list.replaceChildren(...found.map(({ name, page, kind, note }, index) => {
        const item = make("li", { id: "found-" + index, role: "option" }, name, make("small", {}, [note, kind].filter(Boolean).join(" · ")));
        item.dataset.page = page;
        return item;
      }));
      if (text && !found.length) list.append(make("li", {}, "no match"));
      list.hidden = !text;
      input.setAttribute("aria-expanded", String(!list.hidden));
      mark();
    };
    const mark = () => {
      [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen && Boolean(item.id))));
      const item = list.children[chosen];
      if (item?.id) input.setAttribute("aria-activedescendant", item.id);
      else input.removeAttribute("aria-activedescendant");
      item?.scrollIntoView({ block: "nearest" });
    };
    const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
    const go = (item) => { if (item?.dataset.page) { location.href = root + item.dataset.page; close(); } };
    let shown = Promise.resolve();
    input.addEventListener("focus", prepare);
    input.addEventListener("input", () => { shown = show(); });
    input.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && list.children.length) {
        chosen = (chosen + step + list.children.length) % list.children.length;
        mark();
        event.preventDefault();
      } else if (event.key === "Escape") { close(); input.blur(); }
    });
    // What was typed before the data was there is found first.
    at("search-form").addEventListener("submit", async (event) => { event.preventDefault(); await shown; go(list.children[chosen]); });
    list.addEventListener("mousedown", (event) => { event.preventDefault(); go(event.target.closest("li")); });
    input.addEventListener("blur", close);
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, textarea, select");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { input.focus(); input.select(); event.preventDefault(); }
    });
  }
