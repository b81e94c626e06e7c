"""The paper's tables and its figure, ours beside theirs: one file each, and runs that are kept."""
