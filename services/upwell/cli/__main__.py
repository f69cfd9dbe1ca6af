"""`python -m upwell.cli`: the command, in whichever Python runs this; how workers are started by their supervisor."""

from upwell.cli import main

if __name__ == "__main__":
    main()
