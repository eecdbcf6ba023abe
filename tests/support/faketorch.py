# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""An interface file whose tensors say that they lie on a GPU, for machines without one."""

FAKE_TORCH = '''
import ctypes, sys, types

class Device:
    type = "cuda"
    def __str__(self): return "cuda:0"

class Tensor:
    """As much of a tensor on a device as the worker touches."""
    layout = "strided"
    dtype = "torch.bfloat16"
    device = Device()
    def __init__(self, values):
        self.values = values
        self.shape = (len(values),)
        self.memory = (ctypes.c_uint16 * len(values))(*values)
    def detach(self): return self
    def clone(self): return Tensor(self.values)
    def to(self, device): return self
    def contiguous(self): return self
    def dim(self): return 1
    def numel(self): return len(self.values)
    def element_size(self): return 2
    def data_ptr(self): return ctypes.addressof(self.memory)
    def __getitem__(self, key): return Tensor(self.values[key[0]])

sys.modules["torch"] = types.SimpleNamespace(Tensor=Tensor, strided="strided")

@expose(tensors="binary")
def on_device(n: int):
    return Tensor(list(range(n)))
'''
