"""``python -m metalda`` is the command line."""

from metalda.cli import main

main()
