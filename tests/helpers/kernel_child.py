"""What a Jupyter server starts, signals and waits for in place of a kernel that `kernel_mother` has forked.

Run without the site's packages: `python -I -S kernel_child.py SOCKET -f CONNECTION_FILE`.
"""

import json
import os
import signal
import socket
import sys
from typing import Any


def main(path: str, *arguments: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    wanted = {"folder": os.getcwd(), "arguments": arguments, "environment": dict(os.environ)}
    body = json.dumps(wanted).encode()
    socket.send_fds(connection, [b"%8d" % len(body)], [0, 1, 2])
    connection.sendall(body)
    kernel = json.loads(connection.recv(20))

    def pass_on(number: int, _: Any) -> None:
        os.killpg(kernel, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    connection.recv(1)  # until the kernel has ended


if __name__ == "__main__":
    main(*sys.argv[1:])
