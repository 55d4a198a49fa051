  // The tree of processes with their lifetimes.
  const processes = (view) => {
    const { data } = view, { processes: all, more } = data.processes, length = data.slot_width * data.slot_count;
    if (!all.length) return [make("p", {}, "No events of processes, so names of images and command lines are not known: record with the kernel flag PROCESS, which wpr and xperf set. The answers have the events by process ID.")];
    const children = all.map(() => []), roots = [], order = [];
    all.forEach(({ parent }, index) => (parent === null ? roots : children[parent]).push(index));
    // A parent cannot be below itself, but the data could have such a circle: each process is listed once.
    const seen = new Set(), pending = roots.map((index) => [index, 0]).reverse();
    while (pending.length || order.length < all.length) {
      const [index, depth] = pending.pop() ?? [all.findIndex((_, index) => !seen.has(index)), 0];
      if (seen.has(index)) continue;
      seen.add(index);
      order.push([index, depth]);
      pending.push(...children[index].map((child) => [child, depth + 1]).reverse());
    }
    const life = ({ start, end, has_ended: hasEnded }) => {
      // The time of the end is not known.
      if (hasEnded && end === null) return "";
      const from = Math.max(start ?? 0, 0) / length * 100, to = Math.min(end ?? length, length) / length * 100;
      return draw("svg", { class: "life", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
        draw("rect", { class: "all", width: 100, height: 10 }), draw("rect", { x: Math.min(from, 99), width: Math.max(to - from, 1), height: 10 }));
    };
    const parentOf = ({ parent, parent_id: id }) => parent === null ? id === null ? "–" : String(id) : make("span", {}, traced(all[parent].image ?? "unknown image"), ` (${all[parent].id})`);
    const userOf = ({ user, user_name: name }) => user === null ? "–" : make("span", { className: "user", title: user }, traced(name ?? user));
    const exitOf = ({ exit_status: status, exit_status_name: name }) => status === null ? "" : make("span", { className: "words" }, `0x${status.toString(16)} ${name ?? ""}`);
    const rows = order.map(([index, depth]) => {
      const one = all[index], name = make("span", { className: "branch" }, traced(one.image ?? "unknown image"));
      name.style.paddingLeft = `${Math.min(depth, 12) * 0.9}rem`;
      const start = one.start === null ? "–" : one.start < 0 ? `${seconds(-one.start)} before` : seconds(one.start);
      const end = one.end !== null ? seconds(one.end) : one.has_ended ? "–" : "";
      return [name, String(one.id), "", whole(one.command_line ?? "–"), userOf(one), start, end, exitOf(one), life(one), parentOf(one)];
    });
    const element = table("Processes", ["process", "ID", "events", "command line", "user", "start", "end", "exit status", "lifetime", "parent"], rows, [1, 2]);
    const lines = [...element.tBodies[0].rows];
    view.follow(() => order.forEach(([index], row) => {
      const one = all[index], events = !view.range ? one.events : one.slots ? view.sums(one.slots, [false])[0] : null;
      const [from, to] = view.range ? [view.time(view.range[0]), view.time(view.range[1] + 1)] : [-Infinity, Infinity];
      const isAlive = (one.start ?? -Infinity) < to && (one.end ?? (one.has_ended ? -Infinity : Infinity)) >= from;
      lines[row].classList.toggle("away", !isAlive);
      lines[row].cells[2].textContent = events === null ? "not counted by time" : grouped(events);
    }));
    const note = more ? [make("p", {}, `${several(more, "other process", "other processes")} with fewer events left out.`)] : [];
    return [make("p", { className: "lead" }, "A process without an end was running when the trace ended; – is what the trace does not state. Processes that are not alive in the selected time are grey."), scrolled("Processes", ...folded(element, 25)), ...note];
  };
