#include "solver/lobpcg/dense_assembly.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "spmm/matrix/copied_entries.hpp"

namespace block_eigs {

namespace {

constexpr LocalIndex panel_width = 64;

/// Entries of dense rows on their way to rank 0, numbered row by row of the whole matrix.
struct Messages {
  std::vector<std::vector<std::int64_t>> places;
  std::vector<std::vector<double>> values;
};

/// On rank 0 for each global row its dense number, -1 for those that are left out.
template <class T>
std::vector<int> dense_numbers(BlockSpace<T>& space, const DenseRows& rows) {
  const Communicator& comm = space.comm();
  std::vector<std::vector<std::int64_t>> outgoing(static_cast<std::size_t>(comm.size()));
  for (const LocalIndex row : rows.own) outgoing[0].push_back(space.partition().begin(comm.rank()) + row);
  std::vector<int> numbers;
  if (comm.is_root()) numbers.assign(static_cast<std::size_t>(space.partition().rows()), -1);
  int next = 0;
  for (const std::vector<std::int64_t>& part : comm.all_to_all(outgoing)) {
    for (const std::int64_t row : part) numbers[static_cast<std::size_t>(row)] = next++;
  }
  return numbers;
}

/// Own rows [first, first + count).
template <class T>
Messages message_of(const BlockSpace<T>& space, const DistributedMatrix<T>& op, LocalIndex first,
                    LocalIndex count) {
  const auto ranks = static_cast<std::size_t>(space.comm().size());
  Messages messages{std::vector<std::vector<std::int64_t>>(ranks), std::vector<std::vector<double>>(ranks)};
  space.comm().collectively([&] {
    MatrixEntries entries = copied_entries(op, first, count);
    const GlobalIndex all = space.partition().rows();
    const GlobalIndex begin = space.partition().begin(space.comm().rank());
    for (std::size_t k = 0; k < entries.size(); ++k)
      messages.places[0].push_back((begin + entries.rows[k]) * all + entries.columns[k]);
    messages.values[0] = std::move(entries.values);
  });
  return messages;
}

/// So many rows at a time that what is under way is small beside the matrix.
template <class T>
void take_entries(BlockSpace<T>& space, const DenseRows& rows, const DistributedMatrix<T>& op,
                  SmallMatrix& matrix) {
  constexpr GlobalIndex entries_at_once = 1 << 18;
  const Communicator& comm = space.comm();
  const GlobalIndex all = space.partition().rows();
  const LocalIndex own = space.local_rows();
  const auto step = static_cast<LocalIndex>(std::max<GlobalIndex>(1, entries_at_once / all));
  const std::vector<int> numbers = dense_numbers(space, rows);
  const auto most_rows = static_cast<LocalIndex>(comm.max(static_cast<std::int64_t>(own)));
  for (LocalIndex first = 0; first < most_rows; first += step) {
    const LocalIndex at = std::min(first, own);
    const Messages messages = message_of(space, op, at, std::min(step, own - at));
    const auto places = comm.all_to_all(messages.places);
    const auto values = comm.all_to_all(messages.values);
    for (std::size_t r = 0; comm.is_root() && r < places.size(); ++r) {
      for (std::size_t k = 0; k < places[r].size(); ++k) {
        const int row = numbers[static_cast<std::size_t>(places[r][k] / all)];
        const int column = numbers[static_cast<std::size_t>(places[r][k] % all)];
        // The matrix is symmetric, and its columns are what lies side by side.
        if (row >= 0 && column >= 0) matrix(column, row) += values[r][k];
      }
    }
  }
}

template <class T>
void take_products(BlockSpace<T>& space, const DenseRows& rows, LinearOperator<T>& op, SmallMatrix& matrix) {
  const auto n = static_cast<int>(space.dimension());
  for (int first = 0; first < n; first += panel_width) {
    const LocalIndex cols = std::min(panel_width, n - first);
    DenseBlock<T> unit = space.make_block(cols);
    DenseBlock<T> image = space.make_block(cols);
    std::vector<T> values(static_cast<std::size_t>(space.local_rows()) * static_cast<std::size_t>(cols), T{0});
    for (LocalIndex j = 0; j < cols; ++j) {
      const GlobalIndex at = first + j - rows.numbers.begin(space.comm().rank());
      if (at < 0 || at >= static_cast<GlobalIndex>(rows.own.size())) continue;
      const auto row = static_cast<std::size_t>(rows.own[static_cast<std::size_t>(at)]);
      values[row * static_cast<std::size_t>(cols) + static_cast<std::size_t>(j)] = T{1};
    }
    unit.from_host(values.data());
    op.apply(unit.view(), image.view());
    gather_columns(space, rows, image, cols, matrix, first);
  }
}

/// Square by square, for one of the two entries lies far from the last one.
void make_symmetric(SmallMatrix& matrix) {
  constexpr int width = 32;
  const int n = matrix.cols();
  for (int right = 0; right < n; right += width) {
    for (int top = 0; top <= right; top += width) {
      for (int j = right; j < std::min(right + width, n); ++j) {
        for (int i = top; i < std::min(top + width, j); ++i) {
          const double mean = 0.5 * (matrix(i, j) + matrix(j, i));
          matrix(i, j) = mean;
          matrix(j, i) = mean;
        }
      }
    }
  }
}

}  // namespace

template <class T>
DenseRows dense_rows(BlockSpace<T>& space) {
  DenseRows rows;
  auto next = space.left_out().begin();
  for (LocalIndex i = 0; i < space.local_rows(); ++i) {
    if (next != space.left_out().end() && *next == i) {
      ++next;
    } else {
      rows.own.push_back(i);
    }
  }
  std::vector<GlobalIndex> offsets = {0};
  for (const std::int64_t count : space.comm().all_gather(static_cast<std::int64_t>(rows.own.size())))
    offsets.push_back(offsets.back() + count);
  rows.numbers = Partition(std::move(offsets));
  return rows;
}

template <class T>
void gather_columns(BlockSpace<T>& space, const DenseRows& rows, const DenseBlock<T>& block, LocalIndex cols,
                    SmallMatrix& target, int first) {
  const std::vector<T> own = block.to_host();
  std::vector<std::vector<double>> outgoing(static_cast<std::size_t>(space.comm().size()));
  for (const LocalIndex row : rows.own) {
    const auto begin = own.begin() + static_cast<std::ptrdiff_t>(row) * block.cols();
    outgoing[0].insert(outgoing[0].end(), begin, begin + block.cols());
  }
  const auto incoming = space.comm().all_to_all(outgoing);
  if (!space.comm().is_root()) return;
  int row = 0;
  for (const std::vector<double>& part : incoming) {
    for (std::size_t k = 0; k < part.size(); k += static_cast<std::size_t>(block.cols()), ++row) {
      for (LocalIndex j = 0; j < cols; ++j) target(row, first + j) = part[k + static_cast<std::size_t>(j)];
    }
  }
}

template <class T>
void scatter_columns(BlockSpace<T>& space, const DenseRows& rows, const SmallMatrix& source,
                     DenseBlock<T>& block) {
  std::vector<std::vector<double>> outgoing(static_cast<std::size_t>(space.comm().size()));
  if (space.comm().is_root()) {
    for (int r = 0; r < space.comm().size(); ++r) {
      auto& part = outgoing[static_cast<std::size_t>(r)];
      for (GlobalIndex i = rows.numbers.begin(r); i < rows.numbers.end(r); ++i) {
        for (int j = 0; j < source.cols(); ++j) part.push_back(source(static_cast<int>(i), j));
      }
    }
  }
  const auto incoming = space.comm().all_to_all(outgoing);
  const auto width = static_cast<std::size_t>(block.cols());
  std::vector<T> own(static_cast<std::size_t>(space.local_rows()) * width, T{0});
  for (std::size_t k = 0; k < rows.own.size(); ++k) {
    for (std::size_t j = 0; j < width; ++j)
      own[static_cast<std::size_t>(rows.own[k]) * width + j] = static_cast<T>(incoming[0][k * width + j]);
  }
  block.from_host(own.data());
}

template <class T>
SmallMatrix assemble_dense(BlockSpace<T>& space, const DenseRows& rows, LinearOperator<T>& op) {
  const auto n = static_cast<int>(space.dimension());
  SmallMatrix matrix;
  space.comm().collectively([&] {
    if (space.comm().is_root()) matrix.resize(n, n);
  });
  if (const auto* entries = dynamic_cast<const DistributedMatrix<T>*>(&op)) {
    const Profile::Scope scope(space.profile(), Phase::small_dense);
    take_entries(space, rows, *entries, matrix);
  } else {
    take_products(space, rows, op, matrix);
  }
  make_symmetric(matrix);
  return matrix;
}

template DenseRows dense_rows(BlockSpace<float>&);
template void gather_columns(BlockSpace<float>&, const DenseRows&, const DenseBlock<float>&, LocalIndex,
                             SmallMatrix&, int);
template void scatter_columns(BlockSpace<float>&, const DenseRows&, const SmallMatrix&, DenseBlock<float>&);
template SmallMatrix assemble_dense(BlockSpace<float>&, const DenseRows&, LinearOperator<float>&);
template DenseRows dense_rows(BlockSpace<double>&);
template void gather_columns(BlockSpace<double>&, const DenseRows&, const DenseBlock<double>&, LocalIndex,
                             SmallMatrix&, int);
template void scatter_columns(BlockSpace<double>&, const DenseRows&, const SmallMatrix&, DenseBlock<double>&);
template SmallMatrix assemble_dense(BlockSpace<double>&, const DenseRows&, LinearOperator<double>&);

}  // namespace block_eigs
