"""Pure: times, words, states, grids to text and styles."""
