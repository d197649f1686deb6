"""What the custom calls of GPU kernels that are written by hand are."""

from __future__ import annotations

MOSAIC_GPU = "Pallas or Mosaic GPU kernel"
PALLAS = {
    "custom-call to __gpu$xla.gpu.triton": "Pallas (Triton)",
    "custom-call to mosaic_gpu": MOSAIC_GPU,
    "custom-call to mosaic_gpu_v2": MOSAIC_GPU,
}
