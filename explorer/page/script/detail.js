  // The selected event: its fields, its call stack, and its bytes with the structure over them.
  const table_of = (caption, heads, lines) => make('div', { className: 'scroll', tabIndex: 0 },
    make('table', {}, make('caption', { className: 'unseen' }, caption),
      make('thead', {}, make('tr', {}, ...heads.map((head) => make('th', { scope: 'col' }, head)))), make('tbody', {}, ...lines)));

  const fields_of = (fields) => {
    let leftOut = 0;
    const lines = [], add = (name, value) => lines.push(make('tr', {}, make('th', { scope: 'row' }, brief(shown(name), 200)), make('td', {}, brief(shown(value), 4000))));
    const walk = (path, value) => {
      if (lines.length >= 2000) {
        leftOut++;
        return;
      }
      if (value !== null && typeof value === 'object') {
        const entries = Array.isArray(value) ? value.map((of, index) => [`${path}[${index}]`, of]) : Object.entries(value).map(([name, of]) => [path ? `${path}.${name}` : name, of]);
        if (entries.length === 0) add(path, Array.isArray(value) ? '[]' : '{}');
        entries.forEach(([name, of]) => walk(name, of));
      } else add(path, value ?? '–');
    };
    walk('', fields);
    if (leftOut > 0) add('…', `${grouped(leftOut)} more fields or elements are not shown`);
    return lines;
  };

  const stack_of = (event) => {
    if (!event.stack) return make('p', { className: 'quiet' }, 'The trace has no call stack for this event.');
    const line = (name, ...notes) => make('li', {}, make('code', {}, shown(name)), ' ', make('small', {}, shown(notes.filter(Boolean).join(' '))));
    const source = (of) => of.source ? `${of.source}:${of.line}` : '';
    // Functions that the compiler inlined are lines before the one that contains them.
    const lines = event.stack.flatMap((frame) => {
      const image = frame.module ? `${frame.module}+${hex(frame.offset ?? 0, 1)}` : frame.kind;
      return [...frame.inlined.map((of) => line(of.function, 'inlined', source(of))), line(frame.function ?? image, frame.address, frame.function && image, source(frame))];
    });
    return make('ol', { className: 'stack', tabIndex: 0 }, ...lines);
  };

  const bytes_of = ({ hex: digits, size, parts, notes }) => {
    const MOST = 4096, count = Math.min(digits.length / 2, MOST), owner = new Array(count).fill(-1);
    // The smallest part that contains a byte owns it.
    parts.map((part, index) => [part, index]).sort(([one], [other]) => other.size - one.size)
      .forEach(([part, index]) => owner.fill(index, Math.min(part.offset, count), Math.min(part.offset + part.size, count)));
    const dump = make('div', { className: 'dump', tabIndex: 0 });
    dump.setAttribute('role', 'group');
    dump.setAttribute('aria-label', 'Bytes in hexadecimal digits');
    for (let offset = 0; offset < count; offset += 16) {
      const line = make('div', {}, make('small', {}, hex(offset, 4)));
      for (let index = offset; index < Math.min(offset + 16, count); index++) {
        const byte = make('b', {}, digits.slice(2 * index, 2 * index + 2));
        byte.dataset.part = owner[index];
        if (owner[index] >= 0) byte.className = parts[owner[index]].of === 'payload' ? `p${owner[index] % 2}` : `h${owner[index] % 2}`;
        line.append(byte);
      }
      dump.append(line);
    }
    const lines = parts.map((part, index) => {
      const name = make('button', { type: 'button', className: 'part' }, brief(shown(part.name), 120));
      const line = make('tr', {}, make('td', {}, hex(part.offset, 4)), make('td', {}, String(part.size)), make('th', { scope: 'row' }, name), make('td', {}, shown(part.type)), make('td', {}, brief(shown(part.value), 300)), make('td', {}, shown(part.of)));
      line.dataset.part = index;
      return line;
    });
    const list = table_of('Parts of the bytes', ['Offset', 'Size', 'Name', 'Type', 'Value', 'In'], lines);
    const mark = (part) => {
      for (const element of box.querySelectorAll('.hit')) element.classList.remove('hit');
      if (part === undefined || part === '-1') return;
      for (const element of box.querySelectorAll(`[data-part="${part}"]`)) element.classList.add('hit');
    };
    const over = (event) => mark(event.target.closest('[data-part]')?.dataset.part);
    const more = size > count ? [`The first ${grouped(count)} of ${several(size, 'byte')} are shown.`] : [];
    const box = make('div', { className: 'bytes-box' }, dump, ...[...notes, ...more].map((note) => make('p', { className: 'quiet' }, shown(note))), list);
    box.onpointerover = over;
    box.onfocusin = over;
    box.onclick = over;
    return box;
  };

  const detail = ({ event, bytes }) => {
    const fact = (name, value) => value === null || value === undefined || value === '' ? [] : [make('dt', {}, name), make('dd', {}, shown(value))];
    const who = (id, name, by) => id === null || id === undefined ? null : `${name ?? ''} (${id})${by ? `, by ${by}` : ''}`;
    const title = event.event ?? `${event.provider_name ?? event.provider ?? event.header}/${event.id ?? ''}`;
    const source = event.schema?.source;
    at('detail').replaceChildren(
      make('h2', {}, brief(shown(title), 200)),
      ...(event.message ? [make('p', { className: 'message' }, shown(event.message))] : []),
      make('dl', { className: 'facts' }, ...fact('Time (UTC)', event.time_utc), ...fact('Process', who(event.process, event.process_name, event.process_by)),
        ...fact('Thread', event.thread), ...fact('About', who(event.subject, event.subject_name, event.subject_by)), ...fact('Processor', event.processor),
        ...fact('Provider', event.provider_name ?? event.provider), ...fact('Level', event.level), ...fact('Activity', event.activity), ...fact('Schema', source)),
      make('h3', {}, 'Fields'),
      event.fields ? table_of('Fields', ['Field', 'Value'], fields_of(event.fields)) : make('p', { className: 'quiet' }, event.message ? 'The arguments have no names.' : 'No schema is known for the payload; drop the manifest of its provider on the page.'),
      ...(event.undecoded ? [make('p', { className: 'note' }, shown(`Not decoded: ${JSON.stringify(event.undecoded)}`))] : []),
      make('h3', {}, 'Call stack'), stack_of(event),
      make('h3', {}, 'Bytes'), bytes_of(bytes));
  };
