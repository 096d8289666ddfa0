"""Run the command line as `python -m generator.cli`."""

from generator.cli import main

main()
