"""``python -m echofold``: the command line, where no ``echofold`` is on the path."""

from echofold.cli import main

if __name__ == "__main__":
    main()
