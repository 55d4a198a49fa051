
  // Two builds, structure by structure: the members of both in one table.
  function comparison() {
    const form = at("compare");
    if (!form) return;
    const [a, b, only] = ["a", "b", "only"].map(at), way = at("way"), tables = at("tables");
    const flat = ({ rows, layouts }, layout) => {
      const list = layouts[layout]?.rows ?? [], members = new Map();
      for (let index = 0; index < list.length; index += 2) {
        const { path, type = "", size, bits = "", c } = rows[list[index + 1]];
        if (path && !members.has(path)) members.set(path, { path, offset: list[index], type: type || "", size, bits, c });
      }
      return members;
    };
    const cell = (side) => side ? `${hex(side.offset, 4)}${side.bits ? ":" + side.bits : ""} ${side.type}` : "—";
    // The members that differ. Consecutive members that moved by the same distance share a row.
    const rows = (old, now) => {
      const paths = [...new Set([...now.keys(), ...old.keys()])], list = [];
      paths.sort((x, y) => (now.get(x) ?? old.get(x)).offset - (now.get(y) ?? old.get(y)).offset);
      for (const path of paths) {
        const [one, other] = [old.get(path), now.get(path)];
        const typed = one && other && (one.type !== other.type || one.bits !== other.bits || one.size !== other.size);
        const by = one && other ? other.offset - one.offset : 0;
        const kind = !one ? "new" : !other ? "gone" : typed ? "typed" : by ? "moved" : "", last = list.at(-1);
        if (kind === "moved" && last?.kind === kind && last.by === by) last.members.push([one, other]);
        else list.push({ kind, by, members: [[one, other]] });
      }
      return list.filter(({ kind }) => kind).map(({ kind, by, members }) => {
        const [[one, other]] = members, { path } = one ?? other, words = { new: "new", gone: "removed", typed: one?.type === other?.type && one?.bits === other?.bits ? "another size" : "another type or other bits", moved: `moved by ${by < 0 ? "-" : "+"}${hex(Math.abs(by))}` };
        const name = members.length > 1 ? `${members.length} members, ${path} to ${members.at(-1)[0].path}` : path;
        const line = make("tr", { className: kind }, make("th", { scope: "row" }, name), make("td", {}, cell(one)), make("td", {}, cell(other)), make("td", {}, make("span", { className: "change " + kind }, words[kind])));
        line.dataset.members = members.map(([one, other]) => (one ?? other).path).join(" ");
        return line;
      });
    };
    const section = async (builds, atlas, name, one, other) => {
      const of = atlas.layouts[name], sides = [one, other], has = sides.map(({ index }) => of[index]);
      const [from, to] = sides.map(({ index }) => index).sort((x, y) => x - y), { arch } = builds.targets[from];
      // The targets on the way that changed it.
      const steps = builds.targets.map((_, index) => index).filter((index) => builds.targets[index].arch === arch && index > from && index <= to && of[index] !== of[builds.targets[index].before]);
      const links = steps.flatMap((index) => [", ", link(builds.targets[index].name, `kernel/${builds.targets[index].name}.html#the-changes`), ` (last build without the change: ${builds.targets[builds.targets[index].before].latest})`]).slice(1);
      const title = make("h2", {}, link(name, `type/${name}.html`)), lines = [], about = [];
      if (builds.types[name] === "v") {
        const [old, now] = has.map((layout) => new Map(atlas.values[layout] ?? []));
        for (const constant of new Set([...old.keys(), ...now.keys()])) {
          const [x, y] = [old.get(constant), now.get(constant)], kind = x === undefined ? "new" : y === undefined ? "gone" : "typed";
          if (x !== y) lines.push(make("tr", { className: kind }, make("th", { scope: "row" }, constant), make("td", {}, String(x ?? "—")), make("td", {}, String(y ?? "—")), make("td", {}, make("span", { className: "change " + kind }, { new: "new", gone: "removed", typed: "another value" }[kind]))));
        }
      } else {
        const type = await loadType(name), layouts = sides.map(({ index }) => type.of[index]);
        lines.push(...rows(...layouts.map((layout) => flat(type, layout))));
        const embedded = Object.keys(atlas.layouts).filter((other) => type.layouts[layouts[1]]?.embeds.includes(other) && atlas.layouts[other][one.index] !== atlas.layouts[other][sides[1].index]);
        if (!lines.length) about.push(embedded.length ? ["Equal in its own members; what it embeds changed: ", ...embedded.flatMap((name) => [link(name, `type/${name}.html`), " "])] : ["Equal in its members."]);
        const sizes = layouts.map((layout) => layout < 0 ? "absent" : hex(type.layouts[layout].size));
        title.append(` ${sizes[0] === sizes[1] ? sizes[0] : sizes.join(" → ")} bytes`);
        about.push([sides.map((side) => `${side.name}: ${confidence(builds, type, side)}.`).join(" ")]);
      }
      if (links.length && arch === builds.targets[to].arch) about.push(["Changed with ", ...links, "."]);
      const head = make("thead", {}, make("tr", {}, ...["Member", one.name, other.name, "Change"].map((text) => make("th", { scope: "col" }, text))));
      const table = lines.length ? [make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `Changes of ${name}` }, make("table", { className: "list pairs" }, head, make("tbody", {}, ...lines)))] : [];
      const whole = make("section", {}, title, ...about.map((inside) => make("p", {}, ...inside)), ...table);
      whole.dataset.name = name;
      return whole;
    };
    const show = async () => {
      const [from, to, wanted] = [a, b, only].map(({ value }) => value.trim());
      if (!from || !to) return;
      const [builds, atlas] = await Promise.all([loadBuilds(), loadLayouts()]), arch = archOf(from) ?? archOf(to) ?? "x64";
      const one = resolve(builds, from, archOf(from) ?? arch), other = resolve(builds, to, archOf(to) ?? arch);
      const tag = wanted.replace(/^nt!/, ""), name = [tag, tag.replace(/^_/, "")].find((name) => name in atlas.layouts);
      const error = one.error ?? other.error ?? (wanted && !name ? `unknown structure ${wanted}` : null);
      if (error) { way.textContent = error; tables.replaceChildren(); return; }
      say({ a: from, b: to, only: name });
      const all = (name ? [name] : Object.keys(atlas.layouts)).filter((name) => [one, other].some(({ index }) => atlas.layouts[name][index] >= 0));
      const changed = all.filter((name) => atlas.layouts[name][one.index] !== atlas.layouts[name][other.index]);
      const sections = await Promise.all(changed.map((name) => section(builds, atlas, name, one, other)));
      const named = (found) => found.name === builds.targets[found.index].name ? found.name : `${found.name} (layouts of ${builds.targets[found.index].name})`;
      way.textContent = `${named(one)} and ${named(other)}: ${all.length - changed.length} of ${all.length} structures, enumerations and flags are equal.`;
      tables.replaceChildren(...sections);
      outline();
    };
    const read = () => {
      const state = asked();
      if (location.hash.startsWith("#part-")) return;
      for (const input of [a, b, only]) input.value = state[input.id] ?? input.value;
      if (state.a && !state.only) only.value = "";
      show();
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
    at("swap").addEventListener("click", () => { [a.value, b.value] = [b.value, a.value]; show(); });
    addEventListener("hashchange", read);
    read();
  }
