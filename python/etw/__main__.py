"""The program ``etw``: ``python -m etw etl events trace.etl``."""

import signal
import sys

from ._etw import program


def main() -> int:
    # The program does not return to Python, so Python could not handle Ctrl+C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return program(["etw", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
