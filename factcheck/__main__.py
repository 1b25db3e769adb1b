"""`python -m factcheck` is the command line."""

from factcheck.cli import main

if __name__ == "__main__":
    main()
