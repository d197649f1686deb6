"""A JupyterLab or Notebook server of our own: free port, own settings, nothing of this user's."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.sign import NotebookNotary

from tests.helpers import forked_kernels

ROOT = Path(__file__).parents[2]
TOKEN = "test"
SECONDS = 120
"""That anything may take on a machine that does much else."""
FRESH = "fresh"
"""The kernel that begins as a user's does, with all its imports."""
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    # after the usual second JupyterLab completes from the words of the cell instead of asking the kernel on
    "@jupyterlab/completer-extension:manager": {"providerTimeout": 60_000},
}
"""Of a server whose pages ask nobody outside, save nothing by themselves and wait for a busy kernel."""
UNUSED = ("jupyter_lsp", "ipyparallel")
"""Extensions of the server that no test needs; a page asks ipyparallel's for clusters, a third of all that it asks."""
HOSTS = {
    "lab": ("jupyterlab", "LabApp"),
    "notebook": ("notebook", "JupyterNotebookApp"),
}


@dataclass(frozen=True)
class Server:
    """A running server and the folder that it shows."""

    host: str
    url: str
    folder: Path
    later: ThreadPoolExecutor
    """What nobody waits for until the server ends."""

    def page(self, name: str, workspace: str) -> str:
        """The address of a notebook; a fresh `workspace` opens nothing else."""
        where = f"lab/workspaces/{workspace}/tree" if self.host == "lab" else "notebooks"
        return f"{self.url}/{where}/{name}?token={TOKEN}"

    def api(self, path: str, method: str = "GET", body: Any = None) -> Any:
        """JSON from the server's own interface; None where it answers nothing."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/{path}?token={TOKEN}", data, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as reply:
            return json.loads(reply.read() or b"null")

    def trust(self, name: str) -> None:
        """Sign a notebook that this server has not written, as `jupyter trust` does."""
        notary = NotebookNotary(data_dir=str(self.folder.parent / "data"))
        notary.sign(nbformat.read(self.folder / name, as_version=4))
        notary.store.close()

    def start_kernel(self, name: str, kernel_name: str = "python3") -> None:
        """Begin a notebook's kernel, to which the page that opens the notebook connects."""
        kernel = {"kernel": {"name": kernel_name}, "name": name, "path": name, "type": "notebook"}
        self.api("sessions", "POST", kernel)

    def stop_kernel(self, name: str) -> None:
        """End a notebook's kernel; a kernel takes a second for that, for which nobody waits."""
        for session in self.api("sessions"):
            if session["path"] == name:
                self.later.submit(self.api, f"sessions/{session['id']}", "DELETE")


def free_port() -> int:
    """A port that no other process is given: below those that Linux hands out to whoever asks for any."""
    while True:
        port = random.randint(15_000, 30_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def own_settings(home: Path, extension: bool, mother: Path | None) -> dict[str, str]:
    """Environment under which Jupyter and IPython read and write below `home` alone, with or without our extension."""
    labconfig = home / "config" / "labconfig"
    labconfig.mkdir(parents=True)
    (labconfig / "default_setting_overrides.json").write_text(json.dumps(SETTINGS))
    without = {"jaxstage": not extension, "ipyparallel-labextension": True}
    (labconfig / "page_config.json").write_text(json.dumps({"disabledExtensions": without}))
    (parts := home / "config" / "jupyter_server_config.d").mkdir()
    (parts / "parts.json").write_text(json.dumps({"ServerApp": {"jpserver_extensions": dict.fromkeys(UNUSED, False)}}))
    places = {f"JUPYTER_{kind.upper()}_DIR": str(home / kind) for kind in ("config", "data", "runtime")}
    places["JUPYTER_CONFIG_PATH"] = places["JUPYTER_CONFIG_DIR"]  # before those of the environment
    own = {"IPYTHONDIR": str(home / "ipython"), "JUPYTER_PREFER_ENV_PATH": "1", **forked_kernels.python_path()}
    # as this checkout has built it, not as it may be installed
    built = [ROOT / "jaxstage_ext" / "static"] if extension else []
    own["JUPYTER_PATH"] = os.pathsep.join(map(str, [*built, *kernels_of(home, mother)]))
    return {**os.environ, **places, **own}


def kernels_of(home: Path, mother: Path | None) -> list[Path]:
    """A folder for JUPYTER_PATH with a kernel "python3" that `kernel_mother` forks, and `FRESH`."""
    if mother is None:
        return []
    fresh = [sys.executable, "-m", "ipykernel_launcher"]
    shown = {"display_name": "Python 3 (ipykernel)", "language": "python"}
    for name, start in (("python3", forked_kernels.command(mother)), (FRESH, fresh)):
        spec = home / "forked" / "kernels" / name / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps(shown | {"argv": [*start, "-f", "{connection_file}"]}))
    return [home / "forked"]


def command(host: str, port: int, folder: Path, options: Sequence[str]) -> list[str]:
    module, app = HOSTS[host]
    return [
        *(sys.executable, "-m", module, "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"),
        f"--{app}.expose_app_in_browser=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        *options,
    ]


def wait_until_up(server: Server, process: subprocess.Popen[bytes], log: Path, seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            server.api("status")
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"{server.host} did not come up within {seconds:.0f} s:\n{log.read_text()[-4000:]}")


@contextlib.contextmanager
def running(
    host: str, home: Path, *options: str, extension: bool = True, mother: Path | None = None
) -> Iterator[Server]:
    """A server for the time of the block; `home` takes its notebooks, settings and log."""
    folder, log, port = home / "notebooks", home / "server.log", free_port()
    folder.mkdir(parents=True)
    later = ThreadPoolExecutor(2)
    server = Server(host, f"http://127.0.0.1:{port}", folder, later)
    with log.open("wb") as out:
        process = subprocess.Popen(
            command(host, port, folder, options),
            env=own_settings(home, extension, mother),
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
        )
    try:
        wait_until_up(server, process, log)
        yield server
    finally:
        later.shutdown()
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
