"""Helpers that know nothing of topic models: chunks, packed strings, threads, processes, terminals."""
