  // The selection, and sums in it. Slots are lists of numbers: for each slot its number, then the amounts.
  const selection = (data, element) => {
    const followers = [];
    const view = { data, range: null };
    view.follow = (update) => { followers.push(update); update(); };
    view.select = (range) => {
      view.range = range;
      for (const update of followers) update();
      const { slot_width: width } = data;
      const detail = range && { from: range[0] * width, to: (range[1] + 1) * width };
      element.dispatchEvent(new CustomEvent("etw-selection", { detail }));
    };
    view.has = (slot) => !view.range || (slot >= view.range[0] && slot <= view.range[1]);
    // The sums of amounts in the selection; for maxima, the largest.
    view.sums = (slots, maxima) => {
      const sums = maxima.map(() => 0), stride = maxima.length + 1;
      for (let at = 0; at < slots.length; at += stride) {
        if (!view.has(slots[at])) continue;
        maxima.forEach((isMaximum, index) => {
          const value = slots[at + 1 + index];
          sums[index] = isMaximum ? Math.max(sums[index], value) : sums[index] + value;
        });
      }
      return sums;
    };
    view.time = (slot) => slot * data.slot_width;
    // The command that lists events, with the selected time.
    const first = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{7})Z$/.exec(data.start_utc);
    const utc = (time) => {
      const units = BigInt(first[2]) + BigInt(Math.round(time)), part = units % 10000000n;
      const start = new Date(Date.parse(`${first[1]}Z`) + Number(units / 10000000n) * 1000).toISOString();
      return `${start.slice(0, 19)}.${String(part).padStart(7, "0")}Z`;
    };
    view.command = (name, words = "") => {
      const [from, to] = view.range ?? [];
      const times = view.range && first ? ` --from ${utc(view.time(from))} --to ${utc(view.time(to + 1) - 1)}` : "";
      return `etw etl ${name}${words && ` ${words}`}${times} ${data.about.arguments}`;
    };
    view.words = () => {
      if (!view.range) return "whole trace";
      const [from, to] = view.range;
      return `${seconds(view.time(from))} to ${seconds(view.time(to + 1))}`;
    };
    return view;
  };
  // A number for each slot.
  const dense = (data, slots, measures, index) => {
    const numbers = new Array(data.slot_count).fill(0);
    for (let at = 0; at < slots.length; at += measures + 1) numbers[slots[at]] = slots[at + 1 + index];
    return numbers;
  };
  const find = (data, what, by) => data.tables.find((table) => table.what === what && (!by || table.by.join() === by));
  // The keys of a row as text: a process is its image and identifier.
  const keyText = (table, row) => table.keys.map((name, index) => {
    const value = row.keys[index];
    if (name === "process") return table.keys[index + 1] === "image" ? null : value;
    if (name === "image") {
      const id = row.keys[index - 1];
      return id === null ? value ?? "unknown process" : `${value ?? "process"} (${id})`;
    }
    return value ?? "unknown";
  }).filter((text) => text !== null);
