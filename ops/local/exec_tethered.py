"""Become another program that the kernel kills when the process that started it dies.

Run as a script (`exec_tethered.py PARENT_PID ARGV...`), never imported: between fork and exec of
a threaded parent nothing but this fresh interpreter is safe. Linux only; elsewhere the program
starts without the tether.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, argv = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the tether was on
            sys.exit(1)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"cannot run {argv[0]}: {error}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
