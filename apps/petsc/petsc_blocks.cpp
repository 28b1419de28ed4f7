#include "apps/petsc/petsc_blocks.hpp"

#include <petscmat.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "apps/in_memory/arrays.hpp"
#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_columns.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

/// Rows in memory of the device, and in host memory where they are wanted there.
struct BlockCopy {
  Buffer<double> on_device;
  std::vector<double> on_host{};

  const double* fetch() {
    on_host.resize(on_device.size());
    on_device.download(on_host.data());
    return on_host.data();
  }
};

BlockInput source_of(const std::string& name, const std::function<BlockArray()>& array) {
  BlockInput input;
  input.file = name;
  input.in_memory = [=](const Communicator& comm) -> std::unique_ptr<BlockSource> {
    return std::make_unique<ArrayBlockSource>(comm, name, array());
  };
  return input;
}

template <class Held>
BlockInput copied(const Context<double>& context, const std::string& name, LocalIndex rows, LocalIndex columns,
                  Held* held) {
  const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  if (context.device->host_addressable()) {
    const auto values = std::make_shared<std::vector<double>>(size);
    take_columns(context, held, {values->data(), rows, columns, columns});
    return source_of(name, [=] { return BlockArray{rows, columns, values->data()}; });
  }
  // One number at least: ranks without rows have a place on the device, too.
  const auto copy =
      std::make_shared<BlockCopy>(BlockCopy{Buffer<double>(context.device, std::max(size, std::size_t{1}))});
  take_columns(context, held, {copy->on_device.data(), rows, columns, columns});
  return source_of(name, [=] {
    return BlockArray{rows, columns, nullptr, copy->on_device.data(), [copy] { return copy->fetch(); }};
  });
}

}  // namespace

BlockInput block_input(const Context<double>& context, const std::string& name, LocalIndex rows, _p_Vec* v) {
  return copied(context, name, rows, 1, v);
}

BlockInput block_input(const Context<double>& context, const std::string& name, LocalIndex rows, _p_Mat* m) {
  PetscInt columns = 0;
  check(MatGetSize(m, nullptr, &columns), "reading a dense matrix");
  return copied(context, name, rows, static_cast<LocalIndex>(columns), m);
}

AnswerPlace::AnswerPlace(Context<double> context) : context_(std::move(context)) {}

PlaceForVectors<double> AnswerPlace::place() {
  if (context_.device->host_addressable()) return {};
  return [this](LocalIndex rows, LocalIndex columns) {
    memory_ = Buffer<double>(context_.device, static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    return memory_.data();
  };
}

/// On the host they are in the answer, and on a GPU on ranks without rows nowhere.
ConstBlockView<double> AnswerPlace::vectors_of(const RunAnswer<double>& answer) const {
  const bool on_host = context_.device->host_addressable();
  if (!on_host && !answer.vectors.empty())
    throw RunError("vectors of the answer are not where they were asked for");
  const double* const at = on_host ? answer.vectors.data() : memory_.data();
  return {at, answer.rows, answer.columns, answer.columns};
}

void AnswerPlace::give(const RunAnswer<double>& answer, LocalIndex column, _p_Vec* to) const {
  give_columns(context_, vectors_of(answer).columns(column, 1), to);
}

void AnswerPlace::give(const RunAnswer<double>& answer, _p_Mat* to) const {
  give_columns(context_, vectors_of(answer), to);
}

}  // namespace block_eigs::petsc
