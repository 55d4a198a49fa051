  // The table of events: only the visible rows are elements.
  const table = (() => {
    const ROW = 28, MAX_HEIGHT = 8e6, grid = at('table'), space = at('space');
    let count = 0, current = -1, wanted = 0, rows = new Map();

    const height = () => Math.min(count * ROW, MAX_HEIGHT);
    const head = () => grid.querySelector('.head').offsetHeight;
    const visible = () => Math.ceil((grid.clientHeight - head()) / ROW) + 1;
    // A table with too many rows for one element is scrolled in proportion.
    const first = () => {
      const range = Math.max(1, height() - grid.clientHeight + head());
      return count * ROW <= MAX_HEIGHT ? Math.floor(grid.scrollTop / ROW) : Math.round(grid.scrollTop / range * Math.max(0, count - visible() + 1));
    };
    const scrollTo = (index) => {
      const top = first(), last = top + visible() - 2;
      if (index < top || index > last) {
        const to = index < top ? index : index - visible() + 2;
        grid.scrollTop = count * ROW <= MAX_HEIGHT ? to * ROW : to / Math.max(1, count - visible() + 1) * (height() - grid.clientHeight + head());
      }
    };

    const value = (value) => typeof value === 'string' ? value : JSON.stringify(value);
    const fields = (event) => event.message ?? (event.fields ? Object.entries(event.fields).map(([name, of]) => `${name} = ${value(of)}`).join(', ') : event.payload ?? '');
    const name = (event) => event.event ?? `${event.provider_name ?? event.provider ?? event.header}/${event.id ?? ''}`;
    // The name, which can be cut, and the ID, which cannot. An event that states no process that did it can be about one.
    const process = (event) => {
      const isBy = event.process !== null, [name, id] = isBy ? [event.process_name, event.process] : [event.subject_name, event.subject];
      if (id === null) return [];
      return [make('span', {}, shown(`${isBy ? '' : 'about '}${name ?? ''}`)), make('span', {}, name ? `(${id})` : String(id))];
    };
    const row = (index, top) => {
      const event = rows.get(index), cell = (text) => make('span', { role: 'gridcell' }, brief(shown(text), 300));
      const line = make('div', { className: 'row', role: 'row', id: `row-${index}` });
      line.setAttribute('aria-rowindex', index + 2);
      line.setAttribute('aria-selected', index === current);
      line.style.top = `${top}px`;
      line.dataset.index = index;
      // A phone shows the time without the day.
      const [day, time = ''] = (event?.time_utc ?? '').replace('Z', '').split('T');
      line.append(make('span', { role: 'gridcell' }, ...(event ? [make('span', { className: 'day' }, `${day} `), time] : [])),
        make('span', { role: 'gridcell', className: 'who' }, ...(event ? process(event) : [])),
        ...(event ? [event.thread ?? '', name(event), fields(event)] : ['', '', '']).map(cell));
      return line;
    };
    const paint = () => {
      const start = first(), end = Math.min(count, start + visible());
      const top = count * ROW <= MAX_HEIGHT ? start * ROW : grid.scrollTop;
      space.replaceChildren(...Array.from({ length: Math.max(0, end - start) }, (_, index) => row(start + index, top + index * ROW)));
      if (current >= start && current < end) grid.setAttribute('aria-activedescendant', `row-${current}`); else grid.removeAttribute('aria-activedescendant');
    };
    // Reads the visible rows. Of several requests while the program is busy, only the last one is sent.
    let isReading = false;
    const read = async () => {
      paint();
      if (isReading) return;
      isReading = true;
      try {
        for (;;) {
          const start = first(), end = Math.min(count, start + visible()), request = wanted;
          if (Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index).every((index) => rows.has(index))) break;
          const from = Math.max(0, start - 20), lines = JSON.parse(await call('rows', from, end - from + 40));
          if (request !== wanted) continue;
          if (rows.size > 2000) rows = new Map();
          lines.forEach((event, index) => rows.set(from + index, event));
          if (lines.length === 0) break;
          paint();
        }
      } catch (error) { fail(error); } finally { isReading = false; }
    };

    const select = async (index) => {
      if (count === 0) return;
      current = Math.max(0, Math.min(count - 1, index));
      scrollTo(current);
      read();
      const asked = current, request = wanted;
      try {
        const event = JSON.parse(await call('event', asked));
        if (asked === current && request === wanted) detail(event);
      } catch (error) { fail(error); }
    };
    const KEYS = {
      ArrowDown: () => current + 1, ArrowUp: () => Math.max(0, current) - 1, PageDown: () => current + visible() - 2, PageUp: () => current - visible() + 2,
      Home: () => 0, End: () => count - 1,
    };
    grid.onkeydown = (event) => {
      const to = KEYS[event.key]?.();
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      select(to);
    };
    space.onclick = (event) => {
      const line = event.target.closest('.row');
      if (line) select(Number(line.dataset.index));
    };
    grid.onscroll = () => requestAnimationFrame(read);
    new ResizeObserver(() => { if (grid.clientHeight > 0) read(); }).observe(grid);

    const reset = (events) => {
      [count, current, rows] = [events, -1, new Map()];
      wanted++;
      grid.setAttribute('aria-rowcount', count + 1);
      space.style.height = `${height()}px`;
      grid.scrollTop = 0;
    };
    return { reset: (events) => { reset(events); if (grid.clientHeight > 0) read(); }, layout: read, select };
  })();
