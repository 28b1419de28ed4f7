"""Files of the programs block-eigs and block-solve: results read, matrices written (docs/formats.md)."""

from block_eigs.matrix_file import check_matrix, write_matrix
from block_eigs.result_file import FileError, Result, read_result

__all__ = ["FileError", "Result", "check_matrix", "read_result", "write_matrix"]
