
  function search() {
    const input = at("search-words"), list = at("search-found"), entries = [];
    let chosen = 0, builds = null, shown = Promise.resolve();
    const words = (text) => text.toLowerCase().replace(/^nt!/, "").split(/[\s_.!]+/).filter(Boolean);
    const prepare = async () => {
      const [groups, known] = await Promise.all([load("search.js", () => window.atlasSearch), loadBuilds()]);
      if (builds) return;
      builds = known;
      const add = (name, page, kind, note = "", more = "") => entries.push({ name, page, kind, note, own: words(name).join(" "), text: `${name} ${note} ${more}`.toLowerCase() });
      for (const [name, page, kind, note, more, parts, of] of groups) {
        add(name, page, kind, note, more);
        for (const part of parts) add(`${name}.${part}`, `${page}${page.includes("#") ? "." : "#"}${part}`, of);
      }
    };
    // What is no name: an offset at a build, an update, a revision.
    const special = (text) => {
      const found = [], to = (index) => `kernel/${builds.targets[index].name}.html#evidence`;
      const [, name, member, build] = text.match(/^(\w+) *\+ *(0x[0-9a-f]+|\d+)(?: +(\S+))?$/i) ?? [], own = name && ranked(name).find(({ kind }) => kind === "structure");
      if (own) found.push({ name: `${own.name}+${member}`, page: `${own.page}#${new URLSearchParams({ ...(build && { build }), member })}`, kind: "offset", note: build ?? "newest build" });
      const revisions = /^kb *\d+$/i.test(text) ? builds.kbs[text.match(/\d+/)[0]] ?? [] : /^(\d+\.\d+\.)?\d{4,5}\.\d+$/.test(text) ? [text] : [];
      const targets = revisions.flatMap((revision) => ["x64", "x86", "arm64"].map((arch) => resolve(builds, revision, arch))).filter(({ error }) => !error);
      return [...found, ...targets.map(({ name, index }) => ({ name, page: to(index), kind: "build", note: `layouts of ${builds.targets[index].name}` }))];
    };
    const ranked = (text) => {
      const all = words(/^[{0-9a-f-]{32,}}?$/i.test(text) ? text.replace(/[-{}]/g, "") : text), own = all.join(" "), found = [];
      for (const entry of all.length ? entries : []) {
        if (!all.every((word) => entry.text.includes(word))) continue;
        const last = entry.own.slice(entry.name.includes(".") ? entry.own.lastIndexOf(words(entry.name.split(".").at(-1)).join(" ")) : 0);
        const isWhole = entry.own === own || entry.text.split(" ").includes(text.toLowerCase()), isStart = entry.own.startsWith(own) || last.startsWith(own);
        found.push([(isWhole ? 0 : last === own ? 1 : isStart ? 2 : entry.own.includes(own) ? 4 : 6) + (["member", "constant", "field"].includes(entry.kind) ? 1 : 0), entry]);
      }
      return found.sort((a, b) => a[0] - b[0] || a[1].name.length - b[1].name.length || (a[1].name < b[1].name ? -1 : 1)).map(([, entry]) => entry);
    };
    const open = (isOpen) => { list.hidden = !isOpen; input.setAttribute("aria-expanded", String(isOpen)); };
    const mark = () => {
      [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen && Boolean(item.id))));
      input.setAttribute("aria-activedescendant", list.children[chosen]?.id ?? "");
      list.children[chosen]?.scrollIntoView({ block: "nearest" });
    };
    const show = async () => {
      await prepare();
      const text = input.value.trim(), found = text ? [...special(text), ...ranked(text)].slice(0, 40) : [];
      chosen = 0;
      list.replaceChildren(...found.map(({ name, page, kind, note }, index) => {
        const item = make("li", { id: "found-" + index, role: "option" }, name, make("small", {}, [note, kind].filter(Boolean).join(" · ")));
        item.dataset.page = page;
        return item;
      }), ...(text && !found.length ? [make("li", { role: "option" }, "no match")] : []));
      open(Boolean(text));
      mark();
    };
    const go = (item) => { if (item?.dataset.page) { location.href = root + item.dataset.page; open(false); } };
    input.addEventListener("focus", prepare);
    input.addEventListener("input", () => { shown = show(); });
    input.addEventListener("blur", () => open(false));
    input.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], { length } = list.children;
      if (step && length) { chosen = (chosen + step + length) % length; mark(); event.preventDefault(); }
      if (event.key === "Escape") input.blur();
    });
    // What was typed before the data was there is found first.
    at("search-form").addEventListener("submit", async (event) => { event.preventDefault(); await shown; go(list.children[chosen]); });
    list.addEventListener("mousedown", (event) => { event.preventDefault(); go(event.target.closest("li")); });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input, textarea, select");
      if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) { input.focus(); input.select(); event.preventDefault(); }
    });
  }
