
  search();
  filter();
  decoder();
  payload();
  structure();
  comparison();
  copies();
  outline();
  // With the first layout, which it would else force before that.
  requestAnimationFrame(newest);
})();
