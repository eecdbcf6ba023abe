# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors, arrays, images and data frames as values.

No library is imported here: an object of torch, numpy, PIL or pandas can only exist when the interface file has
imported its library, so everything is found through the object itself or sys.modules.
"""

from __future__ import annotations

import ctypes
import fcntl
import io
import os
import sys
import threading
from collections import OrderedDict
from typing import Any, Callable, Dict, List, Optional, Tuple

from .errors import CallError

_SEALS = 0x1 | 0x2 | 0x4 | 0x8  # SEAL, SHRINK, GROW, WRITE
_ADD_SEALS = 1033
MAX_TENSORS = 200
_MAX_ROWS = 100_000
_TORCH = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
    "int16": "i16", "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool",
    "complex64": "c64", "complex128": "c128", "float8_e4m3fn": "f8_e4m3", "float8_e5m2": "f8_e5m2",
}  # fmt: skip


def _is_from(value: Any, library: str, *names: str) -> bool:
    module = sys.modules.get(library)
    return any(isinstance(value, getattr(module, name, ())) for name in names) if module is not None else False


def kind_of(value: Any) -> Optional[str]:
    """tensor, array, table, image; "scalar" for a number of numpy's; None for everything else."""
    if _is_from(value, "torch", "Tensor"):
        return "tensor"
    if _is_from(value, "numpy", "ndarray"):
        return "array"
    if _is_from(value, "numpy", "generic"):
        return "scalar" if value.dtype.kind in "biufSU" else None
    if _is_from(value, "pandas", "DataFrame", "Series"):
        return "table"
    if _is_from(value, "PIL.Image", "Image"):
        return "image"
    return None


def describe_shape(value: Any) -> str:
    return str(list(getattr(value, "shape", ())))


class Captured:
    """One entry of a result's ``tensors``; ``fd`` is the sealed memfd, or None while the data stays on its device."""

    def __init__(self, handle: str, dtype: str, shape: List[int], device: str, size: int, fd: Optional[int]) -> None:
        self.handle = handle
        self.dtype = dtype
        self.shape = shape
        self.device = device
        self.size = size
        self.fd = fd

    def as_json(self) -> Dict[str, Any]:
        return {
            "handle": self.handle, "dtype": self.dtype, "shape": self.shape, "device": self.device,
            "bytes": self.size, "fd": self.fd is not None,
        }  # fmt: skip

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


def sealed_file(parts: List[Any]) -> int:
    """A memfd that nobody can change any more."""
    fd = os.memfd_create("glovebox-tensor", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    try:
        for part in parts:
            view = memoryview(part)  # of single bytes
            while view:
                view = view[os.write(fd, view[: 1 << 30]) :]
        fcntl.fcntl(fd, _ADD_SEALS, _SEALS)
    except BaseException:
        os.close(fd)
        raise
    return fd


class TensorStore:
    """Makes handles; keeps tensors that stay on their device, the least used leave first."""

    def __init__(self) -> None:
        self.generation = 0
        self.budget = 2 << 30
        self._count = 0
        self._held: "OrderedDict[str, Any]" = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def capture(
        self, value: Any, kind: str, keep: bool, found: List[Captured], number: Callable[[float], Any]
    ) -> Dict[str, Any]:
        """The record form of a value; its data goes to ``found``."""
        if kind == "table":
            return _table(value, number)
        if len(found) >= MAX_TENSORS:
            raise CallError("not_serialisable", f"is one tensor too many: a result can hold {MAX_TENSORS}")
        if kind == "image":
            return self._image(value, found)
        captured = self._tensor(value, keep) if kind == "tensor" else self._array(value)
        found.append(captured)
        return {
            "$gb": "tensor", "handle": captured.handle, "dtype": captured.dtype, "shape": captured.shape,
            "device": captured.device, "bytes": captured.size,
        }  # fmt: skip

    def handle(self) -> str:
        with self._lock:
            self._count += 1
            return f"{self.generation}-{self._count}"

    def _array(self, array: Any) -> Captured:
        numpy = sys.modules["numpy"]
        dtype = _array_dtype(array)
        if array.dtype.byteorder not in ("=", "|", "<" if sys.byteorder == "little" else ">"):
            array = array.astype(array.dtype.newbyteorder("="))
        shape = [int(size) for size in array.shape]
        flat = numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
        return Captured(self.handle(), dtype, shape, "cpu", int(flat.nbytes), sealed_file([flat.data]))

    def _tensor(self, tensor: Any, keep: bool) -> Captured:
        tensor = tensor.detach()
        if tensor.layout is not sys.modules["torch"].strided:
            tensor = tensor.to_dense()
        dtype = _TORCH.get(str(tensor.dtype).replace("torch.", ""))
        if dtype is None:
            raise CallError("not_serialisable", f"is a tensor of {tensor.dtype}: return .float()")
        shape, device = [int(size) for size in tensor.shape], str(tensor.device)
        size = tensor.numel() * tensor.element_size()
        handle = self.handle()
        if tensor.device.type != "cpu" and keep and size <= self.budget:
            self._hold(handle, tensor.clone(), size)
            return Captured(handle, dtype, shape, device, size, None)
        return Captured(handle, dtype, shape, device, size, sealed_file([tensor_bytes(tensor)]))

    def _image(self, image: Any, found: List[Captured]) -> Dict[str, Any]:
        data = io.BytesIO()
        if image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"):
            image = image.convert("RGB")
        image.save(data, "PNG")
        raw = data.getbuffer()
        captured = Captured(self.handle(), "u8", [len(raw)], "cpu", len(raw), sealed_file([raw]))
        found.append(captured)
        return {
            "$gb": "image", "handle": captured.handle, "format": "png", "width": int(image.width),
            "height": int(image.height), "bytes": captured.size,
        }  # fmt: skip

    # --- tensors on a device -----------------------------------------------------------------------------------

    def _hold(self, handle: str, tensor: Any, size: int) -> None:
        with self._lock:
            self._held[handle] = tensor
            self._bytes += size
            while self._bytes > self.budget:
                _, oldest = self._held.popitem(last=False)
                self._bytes -= oldest.numel() * oldest.element_size()

    def release(self, handle: str) -> None:
        with self._lock:
            tensor = self._held.pop(handle, None)
            if tensor is not None:
                self._bytes -= tensor.numel() * tensor.element_size()

    def read(self, handle: str, slices: Optional[List[List[Any]]]) -> Tuple[Captured, Any]:
        """A held tensor's data, whole or by slice, for ``tensor.read``."""
        with self._lock:
            tensor = self._held.get(handle)
            if tensor is None:
                raise CallError("handle_gone", f"the tensor {handle[:100]} is not kept any more")
            self._held.move_to_end(handle)
        if slices is not None:
            if len(slices) > tensor.dim():
                raise CallError("bad_arguments", f"{len(slices)} slices for a tensor of {tensor.dim()} dimensions")
            tensor = tensor[tuple(slice(*part) for part in slices)]
        dtype = _TORCH[str(tensor.dtype).replace("torch.", "")]
        size = tensor.numel() * tensor.element_size()
        return Captured(handle, dtype, list(tensor.shape), str(tensor.device), size, None), tensor_bytes(tensor)


def tensor_bytes(tensor: Any) -> Any:
    """The tensor's memory, row by row, as bytes; works without numpy and for every dtype."""
    tensor = tensor.resolve_conj().resolve_neg() if hasattr(tensor, "resolve_conj") else tensor
    tensor = tensor.to("cpu").contiguous()
    size = tensor.numel() * tensor.element_size()
    if size == 0:
        return b""
    raw = (ctypes.c_char * size).from_address(tensor.data_ptr())
    raw._tensor = tensor  # the memory lives as long as the view on it
    return raw


def _array_dtype(array: Any) -> str:
    kind, size = array.dtype.kind, array.dtype.itemsize
    name = {"f": "f", "i": "i", "u": "u", "c": "c"}.get(kind)
    if kind == "b":
        return "bool"
    if array.dtype.name == "bfloat16":
        return "bf16"
    if name is None or (kind == "f" and size > 8) or (kind == "c" and size > 16):
        raise CallError("not_serialisable", f"is an array of {array.dtype}: return .tolist()")
    return f"{name}{size * 8}"


def _table(frame: Any, number: Callable[[float], Any]) -> Dict[str, Any]:
    if hasattr(frame, "to_frame"):
        frame = frame.to_frame()
    total = len(frame)
    columns = [{"name": str(name), "dtype": str(dtype)} for name, dtype in zip(frame.columns, frame.dtypes)]
    rows = [[_cell(cell, number) for cell in row] for row in frame.head(_MAX_ROWS).itertuples(index=False, name=None)]
    return {"$gb": "table", "columns": columns, "rows": rows, "total_rows": total}


def _cell(value: Any, number: Callable[[float], Any]) -> Any:
    if kind_of(value) == "scalar":
        value = value.item()
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int:
        return value if -(1 << 63) <= value < 1 << 64 else str(value)
    if type(value) is float:
        return number(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return str(value)
