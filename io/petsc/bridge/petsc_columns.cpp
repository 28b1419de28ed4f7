#include "io/petsc/bridge/petsc_columns.hpp"

#include <petscmat.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_dense_access.hpp"
#include "io/petsc/bridge/petsc_device.hpp"
#include "spmm/device/buffer.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* reading = "reading vectors of PETSc's";
constexpr const char* filling = "filling vectors of PETSc's";

/// Own rows as PETSc has them: element (i, j) at data[i + j * leading].
template <class T>
struct Columns {
  T* data = nullptr;
  std::int64_t leading = 0;
  bool on_gpu = false;
};

// `anywhere`: where the latest numbers are; on the host else, where PETSc brings them.
int begin_read(Vec v, bool anywhere, Columns<const double>& c) {
  if (!anywhere) return VecGetArrayRead(v, &c.data);
  PetscMemType where = PETSC_MEMTYPE_HOST;
  const PetscErrorCode code = VecGetArrayReadAndMemType(v, &c.data, &where);
  c.on_gpu = PetscMemTypeDevice(where);
  return code;
}
int end_read(Vec v, bool anywhere, Columns<const double>& c) {
  return anywhere ? VecRestoreArrayReadAndMemType(v, &c.data) : VecRestoreArrayRead(v, &c.data);
}
int begin_write(Vec v, bool anywhere, Columns<double>& c) {
  if (!anywhere) return VecGetArrayWrite(v, &c.data);
  PetscMemType where = PETSC_MEMTYPE_HOST;
  const PetscErrorCode code = VecGetArrayWriteAndMemType(v, &c.data, &where);
  c.on_gpu = PetscMemTypeDevice(where);
  return code;
}
int end_write(Vec v, bool anywhere, Columns<double>& c) {
  return anywhere ? VecRestoreArrayWriteAndMemType(v, &c.data) : VecRestoreArrayWrite(v, &c.data);
}
int begin_read(Mat m, bool anywhere, Columns<const double>& c) {
  return anywhere ? begin_read_anywhere(m, &c.data, &c.on_gpu) : int(MatDenseGetArrayRead(m, &c.data));
}
int end_read(Mat m, bool anywhere, Columns<const double>& c) {
  return anywhere ? end_read_anywhere(m, &c.data) : int(MatDenseRestoreArrayRead(m, &c.data));
}
int begin_write(Mat m, bool anywhere, Columns<double>& c) {
  return anywhere ? begin_write_anywhere(m, &c.data, &c.on_gpu) : int(MatDenseGetArrayWrite(m, &c.data));
}
int end_write(Mat m, bool anywhere, Columns<double>& c) {
  return anywhere ? end_write_anywhere(m, &c.data) : int(MatDenseRestoreArrayWrite(m, &c.data));
}

PetscErrorCode get_leading(Vec v, PetscInt* leading) { return VecGetLocalSize(v, leading); }
PetscErrorCode get_leading(Mat m, PetscInt* leading) { return MatDenseGetLDA(m, leading); }

template <class Held>
std::int64_t leading_of(Held* held) {
  PetscInt leading = 0;
  check(get_leading(held, &leading), reading);
  return leading;
}

std::size_t size_of(ConstBlockView<double> view) {
  return static_cast<std::size_t>(view.rows) * static_cast<std::size_t>(view.cols);
}

void turn(const Columns<const double>& columns, BlockView<double> y) {
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < y.rows; ++i) {
    double* const row = y.data + std::ptrdiff_t{i} * y.stride;
    for (LocalIndex j = 0; j < y.cols; ++j) row[j] = columns.data[i + j * columns.leading];
  }
}

void turn(ConstBlockView<double> x, const Columns<double>& columns) {
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < x.rows; ++i) {
    const double* const row = x.data + std::ptrdiff_t{i} * x.stride;
    for (LocalIndex j = 0; j < x.cols; ++j) columns.data[i + j * columns.leading] = row[j];
  }
}

/// Packed rows between a GPU and the host.
std::vector<double> fetch(const Context<double>& context, ConstBlockView<double> x) {
  std::vector<double> rows(size_of(x));
  if (rows.empty()) return rows;
  Buffer<double> packed(context.device, rows.size());
  context.kernels->copy(x, {packed.data(), x.rows, x.cols, x.cols});
  packed.download(rows.data());
  return rows;
}

void send(const Context<double>& context, const std::vector<double>& rows, BlockView<double> y) {
  if (rows.empty()) return;
  Buffer<double> packed(context.device, rows.size());
  packed.upload(rows.data());
  context.kernels->copy({packed.data(), y.rows, y.cols, y.cols}, y);
}

template <class Held>
void take(const Context<double>& context, Held* from, BlockView<double> y) {
  const bool anywhere = !context.device->host_addressable();
  Columns<const double> columns{nullptr, leading_of(from)};
  check(begin_read(from, anywhere, columns), reading);
  if (columns.on_gpu) {
    wait_for_petsc(*context.device);
    context.kernels->from_columns(columns.data, columns.leading, y);
    let_petsc_wait(*context.device);
  } else if (anywhere) {
    std::vector<double> rows(size_of(y));
    turn(columns, {rows.data(), y.rows, y.cols, y.cols});
    send(context, rows, y);
  } else {
    turn(columns, y);
  }
  check(end_read(from, anywhere, columns), reading);
}

template <class Held>
void give(const Context<double>& context, ConstBlockView<double> x, Held* to) {
  const bool anywhere = !context.device->host_addressable();
  Columns<double> columns{nullptr, leading_of(to)};
  check(begin_write(to, anywhere, columns), filling);
  if (columns.on_gpu) {
    wait_for_petsc(*context.device);
    context.kernels->to_columns(x, columns.data, columns.leading);
    let_petsc_wait(*context.device);
  } else if (anywhere) {
    const std::vector<double> rows = fetch(context, x);
    turn({rows.data(), x.rows, x.cols, x.cols}, columns);
  } else {
    turn(x, columns);
  }
  check(end_write(to, anywhere, columns), filling);
}

}  // namespace

void take_columns(const Context<double>& context, _p_Vec* from, BlockView<double> y) { take(context, from, y); }
void take_columns(const Context<double>& context, _p_Mat* from, BlockView<double> y) { take(context, from, y); }
void give_columns(const Context<double>& context, ConstBlockView<double> x, _p_Vec* to) { give(context, x, to); }
void give_columns(const Context<double>& context, ConstBlockView<double> x, _p_Mat* to) { give(context, x, to); }

bool has_vectors_on_gpu(_p_Mat* a) {
  VecType type = nullptr;
  check(MatGetVecType(a, &type), "looking at a matrix");
  return type != nullptr && std::string_view(type).find("cuda") != std::string_view::npos;
}

}  // namespace block_eigs::petsc
