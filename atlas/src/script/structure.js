
  const rowsOf = ({ rows, layouts }, layout) => (layouts[layout]?.rows ?? []).map(([offset, row]) => [offset, rows[row]]);

  function declaration(type, layout) {
    const [head, end] = type.layouts[layout].ends;
    const lines = rowsOf(type, layout).filter(([, { c }]) => c).map(([offset, { c, name }]) => `${name ? `/* ${hex(offset, 3)} */` : " ".repeat(11)} ${c}\n`);
    return head + lines.join("") + end;
  }

  // A declaration, after all declarations that it needs.
  async function dependencies(code) {
    const type = await loadType(at("ask-form").dataset.name), { layout } = code.dataset;
    const texts = type.layouts[layout].needs.map(async ([name, number]) => number < 0 ? type.enumerations[-1 - number] : declaration(await loadType(name), number));
    return [...await Promise.all(texts), declaration(type, layout)].join("\n");
  }

  // Shows the layout of the selected build instead of the newest, and finds the member at an offset or the offset of a member.
  function structure() {
    const form = at("ask-form");
    if (!form) return;
    const { name } = form.dataset, build = at("ask-build"), member = at("ask-member"), answer = at("ask-answer");
    const arch = () => document.querySelector("[name=arch]:checked").className;
    const choose = (arch) => { if (arch && at("arch-" + arch)) at("arch-" + arch).checked = true; };
    const line = (builds, suffix, ids) => ([offset, { depth = 0, path = "", name, type = "", size, bits, values, doc = "", note, c }], index) => {
      const id = path && !ids.has(path) ? path + suffix : `r-${index}${suffix}`;
      const head = make("th", { scope: "row", style: `--depth:${depth}` }, path ? link(name, "#" + id) : name);
      ids.add(path);
      const ofValues = values ? [make("small", {}, " of ", ...linked(values, builds))] : [], known = note ? [make("small", { className: "note" }, " " + note)] : [];
      return make("tr", { id, className: c ? "" : "padding" }, make("td", {}, hex(offset, 4) + (bits ? ":" + bits : "")), make("td", {}, hex(size)), head,
        make("td", {}, ...linked(type, builds), ...ofValues), make("td", {}, ...linked(doc, builds, 5), ...known));
    };
    const draw = (panel, builds, type, found, sure) => {
      const { target, isOwn } = found, layout = type.of[found.index], now = panel.querySelector(".now"), code = now.querySelector("pre.code");
      const suffix = now.querySelector("tbody tr").id.match(/@\w+$/)?.[0] ?? "";
      now.querySelector(".which").textContent = `${isOwn ? `${target.windows}, ${target.arch}` : found.name}: ${hex(type.layouts[layout].size)} bytes`;
      const to = new URLSearchParams({ a: found.name, b: builds.targets.findLast((other) => other.arch === target.arch).name, only: name });
      now.querySelector(".sure").replaceChildren(`${sure[0].toUpperCase()}${sure.slice(1)}${isOwn ? "" : `, with the layouts of ${target.name}`}. `, link(target.name, `${root}kernel/${target.name}.html`),
        " · ", make("a", { href: `${root}compare.html#${to}`, className: "compare" }, "compare"), " · ", link("map of references", root + target.map));
      Object.assign(code, { textContent: declaration(type, layout) }).dataset.layout = layout;
      now.querySelector("tbody").replaceChildren(...rowsOf(type, layout).filter(([, { name }]) => name).map(line(builds, suffix, new Set())));
      now.querySelector(".map-of-bytes")?.remove();
      panel.dataset.drawn = found.name;
    };
    const find = async (panel, type, found, sure) => {
      const wanted = member.value.trim(), value = number(wanted), rows = [...panel.querySelectorAll(".now tbody tr")], same = (text) => text.toLowerCase() === wanted.toLowerCase();
      const hits = !wanted ? [] : rows.filter(({ id, cells: [offset, size, { textContent: name }] }) => {
        const start = BigInt(offset.textContent.split(":")[0]);
        return value === null ? same(id.split("@")[0]) || same(name) : value >= start && value < start + BigInt(size.textContent);
      });
      rows.forEach((row) => row.classList.toggle("hit", hits.includes(row)));
      if (!wanted) { answer.replaceChildren(build.value.trim() ? `${found.name}: ${sure}` : ""); return; }
      hits[0]?.scrollIntoView({ block: "center" });
      const texts = hits.map(({ id, cells: [offset, , name, type] }) => `${name.firstElementChild ? id.split("@")[0] : name.textContent} ${[offset.textContent, type.firstChild && type.textContent.split(" of ")[0]].filter(Boolean).join(", ")}`);
      // The members of embedded structures that the offset or the path means.
      const layout = type.of[found.index], inner = expanded(await embeddedTypes(type, layout), type, layout).filter(({ path, name, offset, size, bits, isGroup, isInner }) =>
        isInner && (value === null ? !hits.length && (same(path) || same(name)) : !isGroup && value >= BigInt(offset) && value < BigInt(offset + size)));
      const paths = inner.slice(0, 12).map(({ path, offset, bits, type }) => `${path} ${[hex(offset, 4) + (bits ? ":" + bits : ""), type].filter(Boolean).join(", ")}`);
      texts.push(...paths, ...(inner.length > 12 ? [`${inner.length - 12} more members`] : []));
      const own = value === null && Object.keys(type.history[found.arch]).find(same);
      const none = own ? `${own} does not exist at this build` : value === null ? `no member ${wanted}` : `nothing at ${wanted}`;
      const past = (own ? type.history[found.arch][own] : []).map(([offset, text, when]) => make("li", {}, make("b", {}, offset), text + type.times[when]));
      answer.replaceChildren(make("b", {}, texts.join("; ") || none), ` at ${found.name}: ${sure}.`, ...(past.length ? [make("details", { open: innerWidth > 640 }, make("summary", {}, "History of this member"), make("ol", {}, ...past))] : []));
    };
    // The selected build with its layout, or the error in the selection.
    const selection = async () => {
      choose(archOf(build.value));
      const [builds, confidences, type] = await Promise.all([loadBuilds(), loadConfidence(), loadType(name)]), own = arch(), panel = document.querySelector(".panel." + own);
      const newest = builds.targets.findLast((target, index) => target.arch === own && type.of[index] >= 0);
      const found = selected(builds, confidences, type, resolve(builds, build.value.trim() || newest.name, own));
      const error = found.error ?? (type.of[found.index] < 0 ? `${found.name} does not have ${name}` : null), sure = confidence(confidences, type, found);
      return { builds, type, found, sure, error, own, panel };
    };
    const show = async (isAsked) => {
      const { builds, type, found, sure, error, own, panel } = await selection();
      // If only another architecture has the build, switch to it.
      const other = found.error && !found.isAmbiguous && !archOf(build.value) && architectures.find((arch) => at("arch-" + arch) && !resolve(builds, build.value, arch).error);
      if (other) { choose(other); show(isAsked); return; }
      const shown = { arch: own === document.querySelector("[name=arch]").className ? "" : own, view: at("view-history").checked ? "history" : "" };
      if (isAsked) writeState({ build: build.value.trim(), ...shown, member: member.value.trim() });
      // An error leaves no layout of another build on the page.
      panel.classList.toggle("stale", Boolean(error));
      if (error) { question(answer, error, build); return; }
      if (build.value.trim() || panel.dataset.drawn) draw(panel, builds, type, found, sure);
      await find(panel, type, found, sure);
    };
    bytesForm(selection);
    // Scroll tables that are wider than the window to their newest versions.
    const showNewest = () => document.querySelectorAll(".past .scroll").forEach((part) => { part.scrollLeft = part.scrollWidth; });
    const read = () => {
      const state = readState(), plain = decodeURIComponent(location.hash.slice(1)), [path, own] = plain.split("@"), isState = plain.includes("=");
      if (!plain || /-/.test(path) && !isState) { choose(archOf(plain)); at("view-history").checked ||= plain.startsWith("history-"); return; }
      if (isState) build.value = state.build ?? "";
      choose(isState ? state.arch : own);
      member.value = isState ? state.member ?? state.offset ?? "" : path;
      at(state.view === "history" ? "view-history" : "view-layout").checked = true;
      show(!isState && build.value.trim());
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); at("view-layout").checked = true; show(true); });
    document.querySelectorAll(".switch > input").forEach((input) => input.addEventListener("change", () => {
      build.value = build.value.replace(/-(x86|x64|arm64)$/, "");
      showNewest();
      show(true);
    }));
    requestAnimationFrame(showNewest);
    follow(read);
  }
