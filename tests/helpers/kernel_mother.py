"""A process that has imported what every kernel imports, and forks into one whenever a server asks.

Each kernel is a process of its own, as fresh as one that `python -m ipykernel_launcher` begins, without the three
seconds of a processor that the imports take. Run by `forked_kernels.py` as a script; a server runs `kernel_child.py`.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
import threading
from typing import Any

STREAMS = 3
IMPORTED = ("ipykernel.kernelapp", "ipywidgets", "anywidget", "jax.numpy", "jax.profiler")


def serve(listener: socket.socket) -> None:
    """Fork for each connection until this process is ended; those that come during the imports wait."""
    for module in (*IMPORTED, *ours()):
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, wait_for_the_ended)
    gc.freeze()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return become_kernel(connection)
        connection.close()


def wait_for_the_ended(*_: Any) -> None:
    """A kernel's processor time is ours once it is waited for, and so that of the tests."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def ours() -> list[str]:
    """All modules of the package that a kernel may import, which those of the worker are not."""
    import jaxstage_ext

    found = pkgutil.walk_packages(jaxstage_ext.__path__, "jaxstage_ext.")
    return [module.name for module in found if ".inside" not in module.name]


def become_kernel(connection: socket.socket) -> None:
    wanted = received(connection)
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection.sendall(json.dumps(os.getpid()).encode())
    os.environ.clear()
    os.environ.update(wanted["environment"])
    os.environ.pop("JPY_PARENT_PID", None)  # its parent is not the server, but ends with it all the same:
    threading.Thread(target=end_with, args=(connection,), daemon=True).start()
    os.chdir(wanted["folder"])
    sys.argv = ["ipykernel_launcher", *wanted["arguments"]]


def received(connection: socket.socket) -> Any:
    """What `kernel_child` sends: its folder, arguments and environment, and its streams, which become ours."""
    size = array.array("i").itemsize * STREAMS
    head, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(size))
    streams = array.array("i", ancillary[0][2][:size])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    body, length = b"", int(head)
    while len(body) < length:
        body += connection.recv(length - len(body))
    return json.loads(body)


def end_with(connection: socket.socket) -> None:
    """A server that kills its kernel kills `kernel_child`."""
    connection.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    del sys.path[0]
    serve(socket.socket(fileno=int(sys.argv[1])))
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance()
