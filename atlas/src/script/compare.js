
  // Compares two builds: one table per structure, with the members of both.
  function comparison() {
    const form = at("compare");
    if (!form) return;
    const [a, b, only] = ["a", "b", "only"].map(at), way = at("way"), tables = at("tables");
    const page = (name) => link(name, `type/${name}.html`);
    // Of two members with the same path, the first represents both.
    const members = (type, layout) => new Map(rowsOf(type, layout).map(([offset, { path, type = "", size, bits = "" }], index) =>
      [path, { path, index, offset, place: `${hex(offset, 4)}${bits && ":" + bits} `, type, size, bits }]).filter(([path]) => path).reverse());
    const constants = (list = []) => new Map(list.map(([path, value], index) => [path, { path, index, offset: 0, place: "", type: String(value) }]));
    // The differing rows. Consecutive members that moved by the same distance share a row.
    const changed = (builds, old, now, isValues) => {
      const list = [], cell = (side) => make("td", {}, ...(side ? [side.place, ...linked(side.type, builds)] : ["—"]));
      const both = [...new Map([...now, ...old]).keys()].map((path) => [old.get(path), now.get(path)]);
      both.sort(([x, y], [z, w]) => (y ?? x).offset - (w ?? z).offset || (y ?? x).index - (w ?? z).index);
      for (const [one, other] of both) {
        const kind = !one ? "new" : !other ? "gone" : ["type", "bits", "size"].some((of) => one[of] !== other[of]) ? "typed" : one.offset !== other.offset ? "moved" : "";
        const by = kind === "moved" ? other.offset - one.offset : 0, last = list.at(-1);
        if (by && last?.by === by) last.paths.push(one.path);
        else list.push({ kind, by, one, other, paths: [(one ?? other).path] });
      }
      return list.filter(({ kind }) => kind).map(({ kind, by, one, other, paths }) => {
        const typed = isValues ? "another value" : one?.type === other?.type && one?.bits === other?.bits ? "another size" : "another type or other bits";
        const words = { new: "new", gone: "removed", typed, moved: `moved by ${by < 0 ? "-" : "+"}${hex(Math.abs(by))}` }[kind];
        const name = paths.length > 1 ? `${paths.length} members, ${paths[0]} to ${paths.at(-1)}` : paths[0];
        const head = make("th", { scope: "row", title: paths.join(" ") }, name);
        return make("tr", { className: kind }, head, cell(one), cell(other), make("td", {}, make("span", { className: "change " + kind }, words)));
      });
    };
    // The targets at which the layout changed, found by following the base of each target back.
    const steps = ({ targets }, of, from, index) => {
      const links = [];
      for (let base; index > from && (base = targets[index].base) !== null; index = base) {
        if (of[index] !== of[base]) links.unshift(", ", link(targets[index].name, `kernel/${targets[index].name}.html#the-changes`), ` (compared with ${targets[base].name})`);
      }
      return links.slice(1);
    };
    const section = async (builds, confidences, { layouts, values }, name, one, other) => {
      const of = layouts[name], sides = [one, other], [from, to] = sides.map(({ index }) => index).sort((x, y) => x - y), about = [], title = make("h2", { id: "part-" + name }, page(name));
      let lines = [];
      if (builds.types[name] !== "s") lines = changed(builds, ...sides.map(({ index }) => constants(values[of[index]])), true);
      else {
        const type = await loadType(name), own = sides.map(({ index }) => type.of[index]);
        lines = changed(builds, ...own.map((layout) => members(type, layout)));
        const embedded = (type.layouts[own[1]]?.needs ?? []).map(([name]) => name).filter((name) => layouts[name][one.index] !== layouts[name][other.index]);
        if (!lines.length) about.push(embedded.length ? ["Equal in its own members; what it embeds changed: ", ...embedded.flatMap((name) => [page(name), " "])] : ["Equal in its members."]);
        const sizes = own.map((layout) => layout < 0 ? "absent" : `${hex(type.layouts[layout].size)} bytes`);
        title.append(` ${sizes[0] === sizes[1] ? sizes[0] : sizes.join(" → ")}`);
        about.push([sides.map((side) => `${side.name}: ${confidence(confidences, type, side)}.`).join(" ")]);
      }
      const links = one.arch === other.arch ? steps(builds, of, from, to) : [];
      if (links.length) about.push(["Changed with ", ...links, "."]);
      const head = make("thead", {}, make("tr", {}, ...["Member", one.name, other.name, "Change"].map((text) => make("th", { scope: "col" }, text))));
      const table = lines.length ? [make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `Changes of ${name}` }, make("table", { className: "list pairs" }, head, make("tbody", {}, ...lines)))] : [];
      return make("section", {}, title, ...about.map((inside) => make("p", {}, ...inside)), ...table);
    };
    // Whether a type is equal, differs, or can do both. Each side is one of its candidates.
    const verdict = async (builds, confidences, { layouts, values, columns, lists }, name, sides) => {
      const of = layouts[name], known = sides.map((side) => standing(confidences, lists[columns[name]], side));
      const [ours, theirs] = sides.map(({ index }, side) => [index, ...known[side][2]]), pairs = ours.flatMap((a) => theirs.map((b) => [a, b]));
      const isKnown = known.every(([, isKnown]) => isKnown), type = builds.types[name] !== "s" || pairs.every(([a, b]) => of[a] === of[b]) ? null : await loadType(name);
      const size = (target) => type.layouts[type.of[target]]?.size;
      const differs = ([a, b]) => of[a] !== of[b] && (of[a] < 0 || of[b] < 0 || (type ? size(a) !== size(b) || changed(builds, members(type, type.of[a]), members(type, type.of[b])).length
        : changed(builds, constants(values[of[a]]), constants(values[of[b]]), true).length) > 0);
      const [own, ...others] = pairs.map(differs);
      return own ? others.every((differ) => differ) ? "differ" : "unknown" : isKnown ? "equal" : "unknown";
    };
    const show = async () => {
      const [from, to, wanted] = [a, b, only].map(({ value }) => value.trim());
      if (!from || !to) return;
      const [builds, confidences, compared] = await Promise.all([loadBuilds(), loadConfidence(), load("compare.js", () => window.atlasCompare)]);
      const whole = ([name, runs]) => [name, runs.flatMap(([layout, count]) => Array(count).fill(layout))];
      const atlas = { ...compared, layouts: Object.fromEntries(Object.entries(compared.layouts).map(whole)) };
      const [one, other] = [from, to].map((text) => resolve(builds, text, archOf(text) ?? archOf(from) ?? archOf(to) ?? "x64"));
      const tag = wanted.replace(/^nt!/, ""), name = [tag, tag.replace(/^_/, "")].find((name) => name in atlas.layouts);
      const error = one.error ?? other.error ?? (wanted && !name ? `unknown structure ${wanted}` : null);
      if (error) { question(way, error, one.error ? a : b); tables.replaceChildren(); return; }
      writeState({ a: from, b: to, only: name });
      const all = (name ? [name] : Object.keys(atlas.layouts)).filter((name) => [one, other].some(({ index }) => atlas.layouts[name][index] >= 0));
      const differ = all.filter((name) => atlas.layouts[name][one.index] !== atlas.layouts[name][other.index]);
      const sections = await Promise.all(differ.map((name) => section(builds, confidences, atlas, name, one, other)));
      const named = ({ name, target, isOwn }) => isOwn ? name : `${name} (layouts of ${target.name})`;
      const parts = make("nav", { className: "outline", ariaLabel: "Parts of this page" }, ...differ.map((name) => link(name, "#part-" + name)));
      const verdicts = await Promise.all(all.map((name) => verdict(builds, confidences, atlas, name, [one, other])));
      const unknown = all.filter((_, index) => verdicts[index] === "unknown"), equal = verdicts.filter((verdict) => verdict === "equal").length;
      way.replaceChildren(`${named(one)} and ${named(other)}: ${equal} of ${all.length} structures, enumerations and flags are equal.`,
        ...(unknown.length ? [` ${unknown.length} unknown, because a layout is inferred or uncertain: `, ...unknown.flatMap((name) => [page(name), " "])] : []));
      tables.replaceChildren(...sections, parts);
    };
    const read = () => {
      const state = readState();
      if (location.hash.startsWith("#part-")) return;
      for (const input of [a, b, only]) input.value = state[input.id] ?? (state.a ? "" : input.value);
      show();
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
    at("swap").addEventListener("click", () => { [a.value, b.value] = [b.value, a.value]; show(); });
    follow(read);
  }
