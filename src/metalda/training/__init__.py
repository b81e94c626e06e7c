"""The loop: sweeps over shards, draws, progress; folding-in and document completion."""
