"""Helpers that know nothing of topic models: chunks of arrays, packed strings, threads, processes, BLAS, terminals."""
