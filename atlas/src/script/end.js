
  for (const part of [search, filter, decoder, payload, structure, comparison, copies]) part();
})();
