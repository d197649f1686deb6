"""The script that compiles a reproduction again, with jaxlib alone."""

from __future__ import annotations

from jaxstage_ext.core.reproduction.reproduction import Reproduction

MODULE, OPTIONS, HLO, SCRIPT, DEVICE = "module.mlir", "compile_options.pb", "hlo.txt", "repro.py", "device.txt"

_HEAD = '''"""Compiles {module} for {target} with jaxlib alone, and compares the optimised HLO with {hlo}.

    pip install {requirements}
    python {script}

It was written with Python packages {versions}. JAX itself is not needed.
"""

import os
import sys
from pathlib import Path

{variables}
from jaxlib import _hlo, _jax, xla_client

HERE = Path(__file__).parent
DEVICES = {order}
options = xla_client.CompileOptions.ParseFromString((HERE / "{options}").read_bytes())
'''
_CPU = """
from jaxlib import cpu_sparse, lapack

for library in (lapack, cpu_sparse):
    for name, handler, version in library.registrations()["cpu"]:
        xla_client.register_custom_call_target(name, handler, platform="cpu", api_version=version)
for name in lapack.batch_partitionable_targets():
    xla_client.register_custom_call_as_batch_partitionable(name)
client = xla_client.make_cpu_client(num_devices={room})
devices = client.local_devices()
chosen = _jax.DeviceList(tuple(devices[number] for number in DEVICES))
executable = client.compile_and_load((HERE / "{module}").read_bytes(), chosen, options)
"""
_ABSENT = """
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

{plugin}
devices = sorted(topology._make_compile_only_devices(), key=lambda device: device.id)
registry, context = ir.DialectRegistry(), ir.Context()
_jax_mlir_ext.register_dialects(registry)
context.append_dialect_registry(registry)
mhlo.register_mhlo_dialect(context)
for dialect in (sdy, chlo, stablehlo):
    dialect.register_dialect(context)
context.load_all_available_dialects()
module = ir.Module.parse((HERE / "{module}").read_text(), context=context)
chosen = _jax.DeviceList(tuple(devices[number] for number in DEVICES))
executable = devices[0].client.compile(module, chosen, options)
"""
_TPU = """import libtpu

xla_client.load_pjrt_plugin_dynamically("tpu", libtpu.get_library_path())
xla_client.initialize_pjrt_plugin("tpu")
topology = xla_client.make_tfrt_tpu_c_api_device_topology({topology!r}{configuration})"""
_CUDA = """from functools import partial
from importlib.util import find_spec

from jaxlib import gpu_linalg, gpu_prng, gpu_solver, gpu_sparse, plugin_support

found = [spec for name in ("xla_cuda13", "xla_cuda12") if (spec := find_spec(f"jax_plugins.{{name}}"))]
library = Path(found[0].origin).parent / "xla_cuda_plugin.so"
plugin = xla_client.load_pjrt_plugin_dynamically("cuda", str(library))
xla_client.initialize_pjrt_plugin("cuda")
extension = plugin_support.import_from_plugin("cuda", "cuda_plugin_extension")
if extension is not None:
    runtime = Path(extension.__file__).with_name("libmosaic_gpu_runtime.so")
    os.environ.setdefault("MOSAIC_GPU_RUNTIME_LIB_PATH", str(runtime))
calls = []
if extension is not None:
    xla_client.register_custom_type_handler("CUDA", partial(extension.register_custom_type, plugin))
    xla_client.register_custom_call_handler("CUDA", partial(extension.register_custom_call_target, plugin))
    for name, value in extension.ffi_types().items():
        xla_client.register_custom_type(name, value, platform="CUDA")
    calls = [(name, value, 1) for name, value in extension.ffi_handlers().items()]
    for solver in (gpu_linalg, gpu_prng, gpu_solver, gpu_sparse):
        calls += solver.registrations().get("CUDA", ())
for name, value, version in calls:
    xla_client.register_custom_call_target(name, value, platform="CUDA", api_version=version)
for solver in (gpu_linalg, gpu_solver, gpu_sparse):
    for name in solver.batch_partitionable_targets():
        xla_client.register_custom_call_as_batch_partitionable(name, c_api=plugin)
given = options.env_option_overrides
options.env_option_overrides = [("xla_gpu_enable_cub_radix_sort", False), *given]  # CUB's sort needs the GPU
for place in getattr(find_spec("nvidia"), "submodule_search_locations", None) or ():
    for library in Path(place).rglob("libdevice.10.bc"):
        options.executable_build_options.debug_options.xla_gpu_cuda_data_dir = str(library.parents[2])
described = (HERE / "{device}").read_text()
topology = xla_client.make_c_api_device_topology(
    plugin, {topology!r}, target_config=described, topology={topology!r}
)"""
_END = """
printing = _hlo.HloPrintOptions()
printing.print_metadata = False
printing.print_large_constants = False
text = executable.hlo_modules()[0].to_string(printing)
is_same = text == (HERE / "{hlo}").read_text()
print(text)
print("the same HLO as in {hlo}" if is_same else "OTHER HLO than in {hlo}", file=sys.stderr)
sys.exit(not is_same)
"""
_OF_TPU = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}


def script(made: Reproduction) -> str:
    """The text of the script."""
    platform = made.target.platform
    variables = {**made.variables, **(_OF_TPU if platform == "tpu" else {})}
    named = {"module": MODULE, "options": OPTIONS, "hlo": HLO, "script": SCRIPT, "device": DEVICE}
    head = _HEAD.format(
        target=made.target,
        requirements=" ".join(f'"{name}=={version}"' for name, version in made.versions.items()),
        versions=", ".join(f"{name} {version}" for name, version in made.versions.items()),
        variables="".join(f"os.environ.setdefault({name!r}, {value!r})\n" for name, value in variables.items()),
        order=list(made.order),
        **named,
    )
    if platform == "cpu":
        return head + (_CPU + _END).format(room=made.room, **named)
    topology = made.target.topology
    configuration = f", chip_config_name={made.device!r}" if made.device else ""
    configuration += ", chips_per_host_bounds=(1, 1, 1)" if platform == "tpu" and made.target.chips == 1 else ""
    plugin = (_TPU if platform == "tpu" else _CUDA).format(topology=topology, configuration=configuration, **named)
    return head + _ABSENT.format(plugin=plugin, **named) + _END.format(**named)
