  // The filter, and files to save.
  at('filter-form').onsubmit = (event) => {
    event.preventDefault();
    during('Filtering …', async () => {
      const { selected, events, hint } = JSON.parse(await call('select', at('filter-words').value));
      table.reset(selected);
      at('filter-result').textContent = shown(`${grouped(selected)} of ${several(events, 'event')}${hint && selected === 0 ? `; ${hint}` : ''}`);
    });
  };
  isReady.then(() => call('options')).then((options) => at('filter-options').replaceChildren(...JSON.parse(options).map(({ name, value, help }) =>
    make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value), make('td', { className: 'doc' }, help))))).catch(fail);

  at('save-form').onsubmit = (event) => {
    event.preventDefault();
    const format = at('save-format').value;
    at('save-result').textContent = '';
    during('Saving …', async () => {
      const { blob, words } = await call('save', format);
      const name = given.find((file) => /\.(etl|dmp)$/i.test(file.name))?.name.replace(/\.\w+$/, '') ?? 'trace';
      const link = make('a', { href: URL.createObjectURL(blob), download: `${name}-selected.${format}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      at('save-result').textContent = shown(`${link.download}: ${words}`);
    });
  };
})();
