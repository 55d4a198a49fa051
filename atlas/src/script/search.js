
  function search() {
    const form = at("search-form"), input = at("search-words"), list = at("search-found"), count = at("search-count"), entries = [];
    let builds = null, shown = Promise.resolve(), isQuestion = false;
    const words = (text) => text.toLowerCase().replace(/^nt!/, "").split(/[\s_.!]+/).filter(Boolean);
    const prepare = async () => {
      const [groups, known] = await Promise.all([load("search.js", () => window.atlasSearch), loadBuilds()]);
      if (builds) return;
      builds = known;
      const add = (name, page, kind, note = "", more = "") => entries.push({ name, page, kind, note, own: words(name).join(""), text: `${name} ${note} ${more}`.toLowerCase() });
      for (const [name, page, kind, note, more, parts, of] of groups) {
        add(name, page, kind, note, more);
        for (const part of parts) add(`${name}.${part}`, `${page}${page.includes("#") ? "." : "#"}${part}`, of);
      }
    };
    // Input other than a name: an offset at a build, an update, or a revision.
    const special = (text) => {
      const [, name, member, build] = text.match(/^(\w+) *\+ *(0x[0-9a-f]+|\d+)(?: +(\S+))?$/i) ?? [], own = name && ranked(name).find(({ kind }) => kind === "structure");
      if (own) return [{ name: `${own.name}+${member}`, page: `${own.page}#${new URLSearchParams({ ...(build && { build }), member })}`, kind: "offset", note: build ?? "newest build" }];
      // An ambiguous label: the builds that it can be.
      const asked = text && architectures.map((arch) => resolve(builds, text, arch)).find(({ isAmbiguous }) => isAmbiguous);
      if (asked) {
        const names = quoted(asked.error).flatMap((name) => architectures.map((arch) => [name, resolve(builds, name, arch)])).filter(([, { error }]) => !error);
        isQuestion = true;
        return names.map(([label, { name, target }]) => ({ name: `${label}, ${target.arch}`, page: `kernel/${target.name}.html#evidence`, kind: "build", note: name }));
      }
      if (!/^(kb *\d+|(\d+\.\d+\.)?\d{4,5}\.\d+)$/i.test(text)) return [];
      const targets = architectures.map((arch) => resolve(builds, text, arch)).filter(({ error }) => !error);
      return targets.map(({ name, target, isOwn }) => ({ name, page: `kernel/${target.name}.html#evidence`, kind: "build", note: isOwn ? target.windows : `layouts of ${target.name}` }));
    };
    const ranked = (text) => {
      const all = words(/^[{0-9a-f-]{32,}}?$/i.test(text) ? text.replace(/[-{}]/g, "") : text), own = all.join(""), found = [];
      for (const entry of all.length ? entries : []) {
        if (!all.every((word) => entry.text.includes(word))) continue;
        const last = entry.own.slice(entry.name.includes(".") ? entry.own.lastIndexOf(words(entry.name.split(".").at(-1)).join("")) : 0);
        const isWhole = entry.own === own || entry.text.split(" ").includes(text.toLowerCase()), isStart = entry.own.startsWith(own) || last.startsWith(own);
        found.push([(isWhole ? 0 : last === own ? 1 : isStart ? 2 : last.includes(own) ? 3 : 6) + (["member", "constant", "field"].includes(entry.kind) ? 3 : 0), entry]);
      }
      return found.sort((a, b) => a[0] - b[0] || a[1].name.length - b[1].name.length || (a[1].name < b[1].name ? -1 : 1)).map(([, entry]) => entry);
    };
    const show = async () => {
      await prepare();
      isQuestion = false;
      const text = input.value.trim(), own = text ? special(text) : [], found = text && !isQuestion ? [...own, ...ranked(text)] : own;
      count.textContent = text && (found.length ? `${isQuestion ? `ambiguous release ${text}; choose one. ` : ""}${found.length} found` : "no match");
      list.replaceChildren(...found.slice(0, 40).map(({ name, page, kind, note }) =>
        make("li", {}, make("a", { href: root + page }, name, make("small", {}, [note, kind].filter(Boolean).join(" · "))))));
      // The events of providers have their own search, with their own data.
      const more = "providers.html#" + new URLSearchParams({ words: text });
      if (text) list.append(make("li", { className: "more" }, link(`Search the events of providers for ${text}`, root + more)));
    };
    input.addEventListener("focus", prepare);
    input.addEventListener("input", () => { shown = show(); });
    form.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], stops = [input, ...list.querySelectorAll("a")];
      if (step) { stops.at((stops.indexOf(event.target) + step) % stops.length).focus(); event.preventDefault(); }
      if (event.key === "Escape") event.target.blur();
    });
    // Enter opens the first result, or goes to the list if the input is ambiguous. Input from before the data was loaded is searched first.
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await shown;
      const first = list.querySelector("li:not(.more) a");
      if (isQuestion) first?.focus();
      else first?.click();
    });
    // Hide the list: a link to the same page does not load a new page.
    list.addEventListener("click", () => document.activeElement.blur());
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input, textarea, select");
      if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) { input.focus(); input.select(); event.preventDefault(); }
    });
  }
