
  for (const part of [search, filter, decoder, payload, structure, comparison, providers, copies]) part();
})();
