  // Opening files, and the views of the open trace.
  let given = [];

  const views = ['report', 'events'];
  const show = (view) => {
    for (const name of views) {
      at(name).hidden = name !== view;
      if (name === view) at('show-' + name).setAttribute('aria-current', 'page'); else at('show-' + name).removeAttribute('aria-current');
    }
    if (view === 'events') table.layout();
  };
  addEventListener('hashchange', () => { if (views.includes(location.hash.slice(1)) && !at('about').hidden) show(location.hash.slice(1)); });

  const listed = (summary) => {
    const problems = [...summary.messages, ...summary.diagnostics];
    const more = summary.more_messages + summary.more_diagnostics;
    at('problems').hidden = problems.length + more === 0;
    at('problem-count').textContent = several(problems.length + more, 'diagnostic') + ': what is damaged, lost or not used';
    at('problem-list').replaceChildren(...problems.map((text) => make('li', {}, shown(text))), ...(more > 0 ? [make('li', {}, several(more, 'more diagnostic'))] : []));
  };

  // Units of 100 ns since 1601.
  let reportStart = 0n;
  // A selection of time in the report becomes a part of the filter.
  at('report').addEventListener('etw-selection', ({ detail }) => {
    // Words with their quotes. The new times replace those of before.
    const others = (at('filter-words').value.match(/--(?:from|to)\s+\S+|(?:"[^"]*"?|'[^']*'?|[^\s"'])+/g) ?? []).filter((word) => !/^(--)?(from|to)[=\s]/.test(word));
    const times = detail ? [`from=${reportStart + BigInt(Math.round(detail.from))}`, `to=${reportStart + BigInt(Math.round(detail.to)) - 1n}`] : [];
    at('filter-words').value = [...others, ...times].join(' ');
    at('filter-form').requestSubmit();
  });

  const kind = (name) => /\.(man|xml|tmf|pdb|dll|exe|sys|mui)$/i.test(name) ? 'schemas' : /\.dmp$/i.test(name) ? 'dump' : 'trace';

  const open = (files) => during('Reading the trace …', async () => {
    // Files that are added later, such as schemas, are opened with those before.
    const added = files.map((file) => ({ file, kind: kind(file.name) })), isSchema = ({ kind }) => kind === 'schemas';
    const all = added.every(isSchema) ? [...given, ...added] : [...added, ...given.filter(isSchema)];
    await isReady;
    const summary = JSON.parse(await call('open', all));
    at('drop').hidden = true;
    at('about').hidden = false;
    document.querySelector('.views').hidden = false;
    at('title').textContent = summary.files.map(shown).join(', ');
    at('sizes').textContent = `${several(summary.events, 'event')}, ${(summary.bytes / 1e6).toFixed(1)} MB`;
    listed(summary);
    at('filter-words').value = '';
    at('filter-result').textContent = '';
    at('detail').replaceChildren(make('p', { className: 'quiet' }, 'Select an event: its fields, call stack and bytes appear here.'));
    table.reset(summary.events);
    at('state').textContent = 'Making the report …';
    at('report').replaceChildren();
    const { start, report, unused } = JSON.parse(await call('report'));
    listed({ ...summary, messages: [...summary.messages, ...unused] });
    given = all;
    reportStart = BigInt(start);
    showEtwReport(report, at('report'));
    show(views.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'report');
  });

  at('files').onchange = (event) => { open([...event.target.files]); event.target.value = ''; };
  addEventListener('dragover', (event) => { event.preventDefault(); document.body.classList.add('over'); });
  addEventListener('dragleave', (event) => { if (!event.relatedTarget) document.body.classList.remove('over'); });
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('over');
    if (event.dataTransfer.files.length > 0) open([...event.dataTransfer.files]);
  });
