"""Helpers without knowledge of topic models: chunks of arrays, packed strings, threads, processes, BLAS, terminals."""
