"""Tensors of PyTorch, which is imported by nobody but its users."""

import sys

import numpy as np
import scipy.sparse


def is_tensor(array):
    """Whether it is one of PyTorch, which is not imported for the question."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(array, tensor)


def is_dense(tensor):
    import torch

    return tensor.layout == torch.strided


def tensor_to_host(tensor):
    """As NumPy's array or SciPy's matrix, in its memory where that is the host's."""
    import torch

    if is_dense(tensor):
        return numbers(tensor)
    if tensor.dim() != 2:
        raise ValueError(f"a sparse tensor must be a matrix, but this one has {tensor.dim()} dimensions")
    tensor, shape = tensor.detach(), tuple(tensor.shape)
    if tensor.layout == torch.sparse_csr:
        parts = (tensor.values(), tensor.col_indices(), tensor.crow_indices())
        return scipy.sparse.csr_matrix(tuple(numbers(part) for part in parts), shape=shape)
    if tensor.layout == torch.sparse_csc:
        parts = (tensor.values(), tensor.row_indices(), tensor.ccol_indices())
        return scipy.sparse.csc_matrix(tuple(numbers(part) for part in parts), shape=shape)
    entries = tensor.to_sparse_coo()
    # Not coalesced: small integers would be summed modulo their range.
    return scipy.sparse.coo_matrix((numbers(entries._values()), numbers(entries._indices())), shape=shape)


def numbers(tensor):
    """As NumPy's array; 16 bits become 32."""
    tensor = tensor.detach()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    return tensor.numpy(force=True)


def resident_in_tensor(matrix, dtype):
    """resident_entries for a tensor on a GPU."""
    import torch

    if matrix.layout != torch.sparse_csr or matrix.dim() != 2:
        return None
    matrix = matrix.detach()
    indices, values = matrix.col_indices(), matrix.values()
    if indices.dtype != torch.int32 or values.dtype != getattr(torch, dtype.name) or values.is_neg():
        return None
    if not (indices.is_contiguous() and values.is_contiguous()):
        return None
    return indices.data_ptr(), values.data_ptr()


class OfTorch:
    """What _gpu.OfCupy is, of PyTorch. What is done to it goes into PyTorch's current stream on its device, which need not be CuPy's,
    nor the default one."""

    def __init__(self, array):
        self.array = array

    @property
    def dtype(self):
        name = str(self.array.dtype).removeprefix("torch.")
        return np.dtype(np.float32 if name == "bfloat16" else name)

    def doubles(self):
        import torch

        return OfTorch(self.array.to(torch.float64).resolve_neg().contiguous())

    def address(self):
        return self.array.data_ptr()

    def to_host(self):
        return numbers(self.array)

    def like(self, host):
        import torch

        return torch.from_numpy(host).to(self.array.device)

    def empty(self, shape, dtype):
        import torch

        try:
            return OfTorch(torch.empty(shape, dtype=getattr(torch, dtype.name), device=self.array.device))
        except torch.OutOfMemoryError:
            return None

    def wait(self):
        import torch

        torch.cuda.current_stream(self.array.device).synchronize()
