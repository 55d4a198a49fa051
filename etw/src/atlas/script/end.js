
  search();
  filter();
  decoder();
  structure();
  comparison();
  copies();
  // With the first layout, which it would else force before that.
  requestAnimationFrame(newest);
})();
