
  // The declaration in C, as `Sheet::c` writes it.
  function declaration(name, { kind, rows, layouts }, layout) {
    const { size, pack, rows: list } = layouts[layout], lines = pack ? [`#pragma pack(push, ${pack})`] : [];
    lines.push(`typedef ${kind} _${name} {`);
    for (let index = 0; index < list.length; index += 2) {
      const { c, name, depth = 0 } = rows[list[index + 1]], indent = "    ".repeat(depth + 1);
      if (c) lines.push((name ? `/* ${hex(list[index], 3)} */ ` : " ".repeat(12)) + indent + c);
    }
    lines.push(`} ${name}; /* ${hex(size)} bytes */`, ...(pack ? ["#pragma pack(pop)"] : []));
    return lines.join("\n") + "\n";
  }

  // A structure's declaration behind those of all that it embeds.
  async function dependencies(code) {
    const [builds, atlas] = await Promise.all([loadBuilds(), loadLayouts()]), done = new Set();
    const all = async (name, target) => {
      if (done.has(name)) return "";
      done.add(name);
      if (builds.types[name] === "v") {
        const constants = atlas.values[atlas.layouts[name][target]] ?? [];
        return `typedef enum _${name} {\n${constants.map(([name, value]) => `    ${name} = ${value},\n`).join("")}} ${name};\n\n`;
      }
      const type = await loadType(name), layout = type.of[target];
      let text = "";
      for (const other of type.layouts[layout].embeds) text += await all(other, target);
      return text + declaration(name, type, layout) + "\n";
    };
    const { target } = code.closest(".panel").dataset, { name } = at("ask-form").dataset;
    const newest = builds.targets.findLastIndex(({ arch }, index) => code.closest(".panel").classList.contains(arch) && atlas.layouts[name][index] >= 0);
    return all(name, Number(target ?? newest));
  }

  // The layout of any build in place of the newest, and what is at an offset or where a member is.
  function structure() {
    const form = at("ask-form");
    if (!form) return;
    const { name } = form.dataset, build = at("ask-build"), member = at("ask-member"), answer = at("ask-answer");
    const arch = () => document.querySelector("[name=arch]:checked").className;
    const choose = (arch) => { if (arch && at("arch-" + arch)) at("arch-" + arch).checked = true; };
    const draw = (panel, builds, type, found) => {
      const target = builds.targets[found.index], layout = type.of[found.index], { rows, size } = type.layouts[layout];
      const now = panel.querySelector(".now"), suffix = now.querySelector("tbody tr").id.match(/@\w+$/)?.[0] ?? "", ids = new Set();
      now.querySelector(".which").textContent = `${found.name === target.name ? target.windows : found.name}, ${target.arch}: ${hex(size)} bytes`;
      const sure = confidence(builds, type, found), of = found.name === target.name ? "" : `, with the layouts of ${target.name}`;
      const to = `${root}compare.html#` + new URLSearchParams({ a: found.name, b: builds.targets.findLast((other) => other.arch === target.arch).name, only: name });
      now.querySelector(".sure").replaceChildren(`${sure}${of}. `, link(target.name, `${root}kernel/${target.name}.html`), " · ", make("a", { href: to, className: "compare" }, "compare"), " · ", link("map of references", root + target.map));
      now.querySelector("pre.code").textContent = declaration(name, type, layout);
      const list = [];
      for (let index = 0; index < rows.length; index += 2) {
        const offset = rows[index], { depth = 0, path = "", name, type: ty = "", size, bits, values, doc = "", note, c } = type.rows[rows[index + 1]];
        if (!name) continue;
        const id = path && !ids.has(path) ? path + suffix : `r-${index / 2}${suffix}`, head = make("th", { scope: "row" }, path ? link(name, "#" + id) : name);
        ids.add(path);
        head.style.setProperty("--depth", depth);
        list.push(make("tr", { id, className: c ? "" : "padding" }, make("td", {}, hex(offset, 4) + (bits ? ":" + bits : "")), make("td", {}, hex(size)), head,
          make("td", {}, ...linked(ty, builds), ...(values ? [make("small", {}, " of ", ...linked(values, builds))] : [])),
          make("td", { className: "doc" }, ...linked(doc, builds), ...(note ? [make("small", { className: "note" }, " " + note)] : []))));
      }
      now.querySelector("tbody").replaceChildren(...list);
      now.querySelector(".map-of-bytes")?.remove();
      panel.dataset.target = found.index;
    };
    // The places that a member had, the newest first, each with the build that brought it.
    const runs = ({ targets }, history) => history.map(([first, last, place, type], index) => {
      const before = history[index - 1], moved = before && before[2] !== place ? "moved" : "another type", gap = before && targets[first].before !== before[1];
      const how = !before || gap ? "" : `: ${moved} with this build; last build without the change: ${targets[before[1]].latest}`;
      return make("li", {}, make("b", {}, place), ` ${type.split(" {")[0]}, ${targets[first].windows}${first === last ? "" : ` to ${targets[last].windows}`}${how}`);
    }).reverse();
    const find = (panel, builds, type, found) => {
      const wanted = member.value.trim(), value = number(wanted), layout = type.layouts[type.of[found.index]].rows, rows = [...panel.querySelectorAll(".now tbody tr")];
      rows.forEach((row) => row.classList.remove("hit"));
      if (!wanted) { answer.replaceChildren(build.value.trim() ? `${found.name}: ${confidence(builds, type, found)}` : ""); return; }
      const list = [];
      for (let index = 0; index < layout.length; index += 2) if (type.rows[layout[index + 1]].name) list.push([layout[index], type.rows[layout[index + 1]]]);
      const covers = ([offset, { size }]) => value >= BigInt(offset) && value < BigInt(offset + size);
      const own = ([, { path = "", name }]) => [path, name].some((text) => text.toLowerCase() === wanted.toLowerCase());
      const hits = list.map((_, index) => index).filter((index) => value === null ? own(list[index]) : covers(list[index]));
      hits.forEach((index) => rows[index].classList.add("hit"));
      rows[hits[0]]?.scrollIntoView({ block: "center" });
      const said = hits.map((index) => {
        const [offset, { path, name, type: ty = "", bits }] = list[index];
        return `${path || name} ${hex(offset, 4)}${bits ? ":" + bits : ""}${ty ? ", " + ty : ""}`;
      });
      const own_path = value === null && Object.keys(type.history[found.arch]).find((path) => path.toLowerCase() === wanted.toLowerCase());
      const none = value === null ? own_path ? `${own_path} does not exist at this build` : `no member ${wanted}` : `nothing at ${wanted}`;
      const told = own_path ? [make("ol", {}, ...runs(builds, type.history[found.arch][own_path]))] : [];
      answer.replaceChildren(make("b", {}, said.join("; ") || none), ` at ${found.name}: ${confidence(builds, type, found)}.`, ...told);
    };
    const show = async (isAsked) => {
      choose(archOf(build.value));
      const [builds, type] = await Promise.all([loadBuilds(), loadType(name)]), own = arch(), panel = document.querySelector(".panel." + own);
      const last = builds.targets.findLastIndex((target, index) => target.arch === own && type.of[index] >= 0);
      const { number, revision, name: known } = { ...builds.targets[last] };
      const found = build.value.trim() ? resolve(builds, build.value, own) : { index: last, arch: own, number, revision, first: 0, name: known };
      // A build of another architecture alone switches to that.
      const other = found.error && !found.isAmbiguous && !archOf(build.value) && ["x64", "x86", "arm64"].find((arch) => at("arch-" + arch) && !resolve(builds, build.value, arch).error);
      if (other) { choose(other); show(isAsked); return; }
      const error = found.error ?? (type.of[found.index] < 0 ? `${found.name} does not have ${name}` : null);
      if (isAsked) say({ build: build.value.trim(), arch: own === document.querySelector("[name=arch]").className ? "" : own, member: member.value.trim() });
      if (error) { answer.textContent = error; return; }
      if (build.value.trim() || panel.dataset.target) draw(panel, builds, type, found);
      find(panel, builds, type, found);
    };
    const read = () => {
      const state = asked(), plain = decodeURIComponent(location.hash.slice(1)), [path, own] = plain.split("@");
      if (!plain || /-/.test(path) && !plain.includes("=")) { choose(archOf(plain)); at("view-history").checked ||= plain.startsWith("history-"); return; }
      if (plain.includes("=")) { build.value = state.build ?? ""; choose(state.arch); }
      else if (own) choose(own);
      member.value = plain.includes("=") ? state.member ?? state.offset ?? "" : path;
      at("view-layout").checked = true;
      show(!plain.includes("=") && build.value.trim());
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); at("view-layout").checked = true; show(true); });
    document.querySelectorAll("[name=arch]").forEach((input) => input.addEventListener("change", () => { build.value = build.value.replace(/-(x86|x64|arm64)$/, ""); if (build.value || member.value) show(true); }));
    addEventListener("hashchange", read);
    read();
  }
