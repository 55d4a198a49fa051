
  // The events of providers: a search over the names of providers, events and fields, and the events of one provider.
  function providers() {
    const input = at("provider-words"), note = at("provider-note"), output = at("provider-found"), all = at("all-providers");
    if (!input) return;
    let fields, list = null;
    const prepare = async () => {
      const data = await load("providers.js", () => window.atlasProviders);
      if (list) return;
      ({ fields } = data);
      list = data.providers.map(([name, guid, labels, lists, events]) => ({ name, guid, labels, lists, events, text: `${name} ${guid}`.toLowerCase() }));
    };
    const labelOf = ({ labels }, [id, , , label]) => `${id}${labels[label] ? " " + labels[label] : ""}`;
    const fieldsOf = ({ lists }, [, , , , ...own]) => own.map((one) => lists[one].map((field) => fields[field]));
    const table = (headings, rows) => make("table", { className: "list" }, make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, ...rows));
    const cell = (...inside) => make("td", {}, ...inside), head = (...inside) => make("th", { scope: "row" }, ...inside);
    const most = 100;
    // The events of a provider, filtered by words.
    const open = (provider, words) => {
      const events = provider.events.map((event) => [labelOf(provider, event), event, fieldsOf(provider, event)]);
      const text = ([label, , lists]) => `${label} ${lists.flat().join(" ")}`.toLowerCase(), hits = events.filter((event) => words.every((word) => text(event).includes(word)));
      note.replaceChildren(make("b", {}, provider.name), ` {${provider.guid}}: ${hits.length} of ${events.length} events. For types of fields and names of values, run `, make("code", {}, `etw etl manifest ${provider.name}`), ".");
      output.replaceChildren(table(["Event", "Versions", "Fields"], hits.map(([label, [, first, last], lists]) =>
        make("tr", {}, head(label), cell(first === last ? String(first) : `${first} to ${last}`),
          cell(...lists.flatMap((names, index) => [...(index ? [make("br"), "or "] : []), names.join(", ") || "no fields"]), lists.length ? "" : "fields unknown")))));
    };
    const found = (words) => {
      const hits = list.flatMap((provider) => {
        if (words.every((word) => provider.text.includes(word))) return [[0, provider, provider.events]];
        const own = words.filter((word) => !provider.text.includes(word));
        const known = provider.lists.map((one) => one.map((field) => fields[field].toLowerCase()).join(" "));
        const labels = provider.labels.map((label) => label.toLowerCase());
        const events = provider.events.filter(([id, , , label, ...lists]) => own.every((word) => String(id) === word || labels[label].includes(word) || lists.some((one) => known[one].includes(word))));
        return events.length ? [[1, provider, events]] : [];
      });
      hits.sort((a, b) => a[0] - b[0]);
      note.textContent = hits.length ? `${hits.reduce((sum, [, , { length }]) => sum + length, 0)} events of ${hits.length} providers${hits.length > most ? `; the first ${most} providers are shown` : ""}` : "no match";
      output.replaceChildren(...(hits.length ? [table(["Provider", "Events", "First events"], hits.slice(0, most).map(([isInside, provider, events]) => make("tr", {},
        head(link(provider.name, "#" + new URLSearchParams({ provider: provider.guid, ...(isInside && { words: words.join(" ") }) }))), cell(String(events.length)),
        cell(events.slice(0, 6).map((event) => labelOf(provider, event)).join(", ") + (events.length > 6 ? ", …" : "")))))] : []));
    };
    let turn = 0;
    const show = async () => {
      const own = turn += 1, state = readState(), guid = (state.provider ?? location.hash.slice(1)).toLowerCase();
      const words = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      all.hidden = words.length > 0 || /^[0-9a-f-]{36}$/.test(guid);
      if (!all.hidden) { note.textContent = ""; output.replaceChildren(); return; }
      await prepare();
      if (own !== turn) return;
      const provider = list.find((provider) => provider.guid === guid);
      provider ? open(provider, words) : words.length ? found(words) : note.textContent = "unknown provider";
    };
    input.addEventListener("input", () => {
      const words = input.value.trim(), { provider } = readState();
      writeState({ provider: provider ?? (/^#[0-9a-f-]{36}$/i.test(location.hash) ? location.hash.slice(1) : ""), words });
      show();
    });
    at("provider-all").addEventListener("click", () => { writeState({ words: input.value.trim() }); show(); });
    follow(() => { input.value = readState().words ?? ""; show(); });
  }
