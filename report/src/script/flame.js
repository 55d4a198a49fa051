  // The flame graph: zoom by click or Enter, search, and inversion (callers below the functions that they call).
  const ROW = 18, LETTER = 6.7;
  const callTree = ({ names, parents, frames, slots }, view, isInverted) => {
    const own = slots.map((slots) => view.sums(slots, [false])[0]);
    const root = { name: names[0], total: 0, own: 0, below: new Map(), above: null };
    const step = (node, name, count) => {
      let next = node.below.get(name);
      if (!next) node.below.set(name, next = { name, total: 0, own: 0, below: new Map(), above: node });
      next.total += count;
      return next;
    };
    own.forEach((count, index) => {
      if (!count) return;
      const path = [];
      for (let at = index; at; at = parents[at]) path.push(names[frames[at]]);
      if (!isInverted) path.reverse();
      root.total += count;
      let node = root;
      for (const name of path) node = step(node, name, count);
      node.own += count;
    });
    return root;
  };
  const hue = (name) => {
    const image = name.split("!")[0];
    let sum = 0;
    for (const letter of image) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
    return sum % 6;
  };
  const flame = (view) => {
    const { data } = view, { stacks } = data;
    if (!stacks.samples) {
      const cpu = data.unanswered.find(({ what }) => what === "cpu");
      return [make("p", {}, cpu ? `No samples of the profiler: the flame graph needs ${cpu.needs}. Record with ` : "All samples are of the idle process."), ...cpu ? [make("code", {}, cpu.record)] : []];
    }
    const words = make("input", { type: "search", placeholder: "Search functions" }), found = make("output", {});
    labelled(words, "Search functions in the flame graph");
    const invert = make("input", { type: "checkbox" }), reset = button("Show all", () => zoom(root));
    const chart = draw("svg", { class: "flame", tabindex: 0 }), about = make("output", { className: "readout" }), part = make("div", { className: "flames" }, chart);
    const list = make("div", {});
    labelled(chart, "Flame graph. Arrow keys move between functions, Enter enlarges one, Escape shows all.", "group");
    let root, top, current, width = 0;
    const describe = (node) => {
      const text = `${several(node.total, "sample")}, ${percent(node.total, root.total)}`;
      const own = node.own ? `, ${several(node.own, "sample")} in itself` : "";
      about.replaceChildren(traced(node.name), `: ${text}${own}`);
    };
    const isHit = (node) => words.value && node.name.toLowerCase().includes(words.value.toLowerCase());
    const hits = (node) => isHit(node) ? node.total : [...node.below.values()].reduce((sum, next) => sum + hits(next), 0);
    const paint = () => {
      width = chart.clientWidth || 800;
      let deepest = 0;
      const boxes = [];
      const box = (node, x, wide, depth) => {
        deepest = Math.max(deepest, depth);
        const text = wide > 3 * LETTER ? shortName(node.name, Math.floor((wide - 6) / LETTER)) : "";
        const group = draw("g", { class: `f${hue(node.name)}${isHit(node) ? " hit" : ""}${node === current ? " current" : ""}`, transform: `translate(${x.toFixed(1)} ${depth * ROW})` },
          draw("rect", { width: Math.max(wide - 0.5, 0.5).toFixed(1), height: ROW - 1 }));
        if (text) group.append(draw("text", { x: 3, y: 13 }, text));
        group.node = node;
        boxes.push(group);
        let at = x;
        for (const next of [...node.below.values()].sort((a, b) => b.total - a.total)) {
          const part = wide * next.total / node.total;
          if (part >= 1.5) box(next, at, part, depth + 1);
          at += part;
        }
      };
      const above = [];
      for (let node = top.above; node; node = node.above) above.unshift(node);
      above.forEach((node, depth) => {
        const group = draw("g", { class: "above", transform: `translate(0 ${depth * ROW})` }, draw("rect", { width, height: ROW - 1 }), draw("text", { x: 3, y: 13 }, shortName(node.name, Math.floor(width / LETTER))));
        group.node = node;
        boxes.push(group);
      });
      if (top.total) box(top, 0, width, above.length);
      chart.setAttribute("height", (deepest + 1) * ROW);
      chart.replaceChildren(...boxes);
      found.textContent = words.value ? `${several(hits(root), "sample")} of ${grouped(root.total)} (${percent(hits(root), root.total) || "0 %"}) match` : "";
      reset.disabled = top === root;
    };
    const zoom = (node) => { top = current = node; describe(node); paint(); };
    const rebuild = () => {
      root = callTree(stacks, view, invert.checked);
      zoom(root);
      // The same as a table: functions with the samples in themselves and in what they call.
      const sums = new Map();
      const add = (node, open) => {
        const sum = sums.get(node.name) ?? [0, 0], isFirst = !open.has(node.name);
        sums.set(node.name, [sum[0] + node.own, sum[1] + (isFirst ? node.total : 0)]);
        if (isFirst) open.add(node.name);
        for (const next of node.below.values()) add(next, open);
        if (isFirst) open.delete(node.name);
      };
      const tree = invert.checked ? callTree(stacks, view, false) : root;
      for (const process of tree.below.values()) for (const node of process.below.values()) add(node, new Set());
      const rows = [...sums].sort((a, b) => b[1][0] - a[1][0] || b[1][1] - a[1][1]).slice(0, 100);
      const lines = rows.map(([name, [own, all]]) => [traced(name), grouped(own), percent(own, root.total), grouped(all), percent(all, root.total)]);
      list.replaceChildren(scrolled("Functions", ...folded(table("Functions", ["function", "in itself", "%", "with what it calls", "%"], lines, [1, 2, 3, 4]), 10)));
    };
    const nodeOf = (event) => event.target.closest("g")?.node;
    chart.addEventListener("click", (event) => { const node = nodeOf(event); if (node) zoom(node); });
    chart.addEventListener("pointermove", (event) => { const node = nodeOf(event); if (node) describe(node); });
    chart.addEventListener("keydown", (event) => {
      const sorted = (node) => [...node.below.values()].sort((a, b) => b.total - a.total);
      const beside = (step) => {
        const all = current.above ? sorted(current.above) : [current];
        return all[all.indexOf(current) + step];
      };
      const moves = { ArrowDown: () => sorted(current)[0], ArrowUp: () => current.above, ArrowRight: () => beside(1), ArrowLeft: () => beside(-1) };
      if (event.key === "Enter") zoom(current);
      else if (event.key === "Escape") zoom(root);
      else if (moves[event.key]) {
        const next = moves[event.key]();
        if (next) {
          current = next;
          describe(next);
          paint();
        }
      } else return;
      event.preventDefault();
    });
    words.addEventListener("input", paint);
    invert.addEventListener("change", rebuild);
    new ResizeObserver(() => { if (chart.clientWidth && chart.clientWidth !== width) paint(); }).observe(part);
    const label = `${several(stacks.samples, "sample")} of the profiler${stacks.idle ? `: ${grouped(stacks.samples + stacks.idle)} in all, without ${grouped(stacks.idle)} of the idle process, which the tables of processor time include` : ""}.`;
    const unknown = stacks.without_function ? ` ${several(stacks.without_function, "frame")} without a function are shown as their image; to name them, give their PDBs with --symbol-path, or drop them on the explorer.` : "";
    const alone = stacks.without_stack ? ` ${several(stacks.without_stack, "sample")} without a call stack.` : "";
    queueMicrotask(() => view.follow(rebuild));
    return [make("p", { className: "lead" }, label + unknown + alone), make("div", { className: "tools" }, words, make("label", {}, invert, " inverted"), reset, found), part, about, make("h3", {}, "Functions"), list];
  };
  const shortName = (name, letters) => {
    const function_ = name.split("!").slice(1).join("!") || name;
    const text = name.length <= letters ? name : function_;
    return text.length <= letters ? text : letters > 4 ? `${text.slice(0, letters - 1)}…` : "";
  };
