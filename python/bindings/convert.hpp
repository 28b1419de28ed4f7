#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/in_memory/arrays.hpp"
#include "apps/in_memory/eigen_run.hpp"
#include "io/result/result_file.hpp"

// Between Python's values and ours. All of it needs the GIL.
namespace block_eigs::python {

namespace nb = nanobind;

/// A NumPy array of the given shape that owns `values`.
template <class T>
nb::object array_of(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  const nb::capsule owner(owned, [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape, owner));
}

template <class T>
nb::object array_of(std::vector<T> values) {
  const std::size_t size = values.size();
  return array_of(std::move(values), {size});
}

/// What Python has as a number.
template <class T>
T* pointer_of(nb::handle number) {
  return reinterpret_cast<T*>(nb::cast<std::uintptr_t>(number));
}

/// (columns, indptr, indices, data, resident), where memory stays Python's; resident are the addresses of int32
/// indices and of data of data's type in device memory, or None. Throws a Python TypeError on other types.
RowArrays row_arrays(nb::handle matrix);

/// A C-contiguous array of doubles, rows x columns, or one in device memory that says its address and shape and
/// fetches a copy of itself. The object must outlive the result.
BlockArray block_array(nb::handle block);

/// The config of the text, its blocks of vectors in memory: `blocks` has those that the text names as files.
RunConfig config_with_blocks(const std::string& text, const std::string& name, const nb::dict& blocks);

/// What records hold, under the names of the result file.
nb::dict pairs_dict(const PairsRecord& pairs);
nb::dict solutions_dict(const SolutionsRecord& solutions);
nb::dict history_dict(const HistoryRecord& history);
nb::dict run_dict(const RunRecord& run, const RunNotes& notes);

}  // namespace block_eigs::python
