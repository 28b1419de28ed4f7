#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/generate/generate.hpp"
#include "io/generate/generate_draws.hpp"
#include "io/generate/generate_rows.hpp"
#include "io/generate/rows_in_pieces.hpp"
#include "io/source/csr_scatter.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

// Values come from another stream than places.
std::uint64_t value_seed(std::uint64_t seed) { return scatter_bits(seed ^ 0x76616c7565730000U); }

// `count` distinct columns of `row` below `bound`, ascending: Floyd's sampling without replacement.
void draw_columns(std::uint64_t seed, GlobalIndex row, GlobalIndex bound, GlobalIndex count,
                  std::vector<GlobalIndex>& columns) {
  columns.clear();
  for (GlobalIndex last = bound - count; last < bound; ++last) {
    const GlobalIndex column = draw_below(seed, row, last - (bound - count), last + 1);
    const auto at = std::ranges::lower_bound(columns, column);
    if (at != columns.end() && *at == column) {
      columns.push_back(last);  // larger than all before
    } else {
      columns.insert(at, column);
    }
  }
}

void append_uniform_rows(const RandomUniformOptions& options, GlobalIndex begin, GlobalIndex end, CsrRows& out) {
  std::vector<GlobalIndex> columns;
  const std::uint64_t values = value_seed(options.seed);
  for (GlobalIndex row = begin; row < end; ++row) {
    draw_columns(options.seed, row, options.rows, options.per_row, columns);
    for (const GlobalIndex column : columns) {
      out.columns.push_back(column);
      out.values.push_back(draw_signed(values, row, column));
    }
    out.row_offsets.push_back(static_cast<Offset>(out.columns.size()));
  }
}

// B + B^T of the rows that append_uniform_rows makes. At most two terms meet in one entry, so that their order,
// which depends on the ranks, does not matter.
CsrRows symmetric_uniform_rows(const Communicator& comm, RandomUniformOptions options,
                               const Partition& partition) {
  options.per_row = (options.per_row + 1) / 2;
  std::vector<Triplet> triplets;
  comm.collectively([&] {
    CsrRows half;
    set_rows_in_pieces(
        partition.begin(comm.rank()), partition.end(comm.rank()),
        [&](GlobalIndex begin, GlobalIndex end, CsrRows& piece) {
          append_uniform_rows(options, begin, end, piece);
        },
        half);
    triplets.reserve(2 * half.columns.size());
    for (LocalIndex i = 0; i < half.rows(); ++i) {
      const auto local = static_cast<std::size_t>(i);
      const GlobalIndex row = half.row_begin + i;
      for (auto k = static_cast<std::size_t>(half.row_offsets[local]);
           k < static_cast<std::size_t>(half.row_offsets[local + 1]); ++k) {
        triplets.push_back({row, half.columns[k], half.values[k]});
        triplets.push_back({half.columns[k], row, half.values[k]});
      }
    }
  });
  return scatter_to_owners(comm, partition, options.rows, std::move(triplets));
}

void check_uniform(const std::string& name, GlobalIndex rows, GlobalIndex per_row) {
  require(rows >= 1 && rows <= (GlobalIndex{1} << 60),
          fmt::format("{}: rows is {}, it must be 1 to 2^60", name, rows));
  require(per_row >= 0 && per_row <= rows,
          fmt::format("{}: per_row is {}, it must be 0 to rows = {}", name, per_row, rows));
}

// Copies `rows` with each diagonal entry set to shift + the sum of the row's other magnitudes.
CsrRows with_dominant_diagonal(const CsrRows& rows, double shift) {
  CsrRows out;
  out.row_begin = rows.row_begin;
  out.global_rows = rows.global_rows;
  out.global_columns = rows.global_columns;
  out.columns.reserve(rows.columns.size() + static_cast<std::size_t>(rows.rows()));
  out.values.reserve(out.columns.capacity());
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const GlobalIndex row = rows.row_begin + i;
    const auto begin = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i) + 1]);
    double sum = shift;
    for (std::size_t k = begin; k < end; ++k) sum += rows.columns[k] == row ? 0.0 : std::abs(rows.values[k]);
    bool placed = false;
    for (std::size_t k = begin; k < end; ++k) {
      if (!placed && rows.columns[k] >= row) {
        out.columns.push_back(row);
        out.values.push_back(sum);
        placed = true;
      }
      if (rows.columns[k] == row) continue;
      out.columns.push_back(rows.columns[k]);
      out.values.push_back(rows.values[k]);
    }
    if (!placed) {
      out.columns.push_back(row);
      out.values.push_back(sum);
    }
    out.row_offsets.push_back(static_cast<Offset>(out.columns.size()));
  }
  return out;
}

void append_banded_rows(const RandomBandedOptions& options, GlobalIndex begin, GlobalIndex end, CsrRows& out) {
  const std::uint64_t values = value_seed(options.seed);
  for (GlobalIndex row = begin; row < end; ++row) {
    const GlobalIndex last = std::min(options.rows - 1, row + options.bandwidth);
    for (GlobalIndex column = std::max(GlobalIndex{0}, row - options.bandwidth); column <= last; ++column) {
      const GlobalIndex i = options.symmetric ? std::min(row, column) : row;
      const GlobalIndex j = options.symmetric ? std::max(row, column) : column;
      if (draw_unit(options.seed, i, j) >= options.density) continue;
      out.columns.push_back(column);
      out.values.push_back(draw_signed(values, i, j));
    }
    out.row_offsets.push_back(static_cast<Offset>(out.columns.size()));
  }
}

}  // namespace

std::unique_ptr<MatrixSource> random_uniform(const Communicator& comm, const RandomUniformOptions& options) {
  check_uniform("random_uniform", options.rows, options.per_row);
  GeneratedShape shape{options.rows,
                       fmt::format("random_uniform {} rows, {} per row, seed {}{}", options.rows, options.per_row,
                                   options.seed, options.symmetric ? ", symmetric" : ""),
                       options.symmetric};
  return generated_matrix(comm, std::move(shape),
                          [comm, options](const Partition& partition, int rank, CsrRows& out) {
                            if (options.symmetric) {
                              out = symmetric_uniform_rows(comm, options, partition);
                            } else {
                              set_rows_in_pieces(
                                  partition.begin(rank), partition.end(rank),
                                  [&](GlobalIndex begin, GlobalIndex end, CsrRows& piece) {
                                    append_uniform_rows(options, begin, end, piece);
                                  },
                                  out);
                            }
                          });
}

std::unique_ptr<MatrixSource> random_banded(const Communicator& comm, const RandomBandedOptions& options) {
  check_uniform("random_banded", options.rows, 0);
  require(options.bandwidth >= 0,
          fmt::format("random_banded: bandwidth is {}, it must not be negative", options.bandwidth));
  require(options.density >= 0.0 && options.density <= 1.0,
          fmt::format("random_banded: density is {}, it must be 0 to 1", options.density));
  RandomBandedOptions clipped = options;
  clipped.bandwidth = std::min(options.bandwidth, options.rows - 1);
  return generated_matrix(comm,
                          {options.rows, fmt::format("random_banded {} rows, bandwidth {}, density {}, seed {}{}",
                                                     options.rows, options.bandwidth, options.density,
                                                     options.seed, options.symmetric ? ", symmetric" : "")},
                          [clipped](const Partition& partition, int rank, CsrRows& out) {
                            set_rows_in_pieces(
                                partition.begin(rank), partition.end(rank),
                                [&](GlobalIndex begin, GlobalIndex end, CsrRows& piece) {
                                  append_banded_rows(clipped, begin, end, piece);
                                },
                                out);
                          });
}

std::unique_ptr<MatrixSource> random_spd(const Communicator& comm, const RandomSpdOptions& options) {
  check_uniform("random_spd", options.rows, options.per_row);
  require(options.shift > 0.0 && std::isfinite(options.shift),
          fmt::format("random_spd: shift is {}, it must be positive", options.shift));
  GeneratedShape shape{options.rows,
                       fmt::format("random_spd {} rows, {} per row, shift {}, seed {}", options.rows,
                                   options.per_row, options.shift, options.seed),
                       true};
  return generated_matrix(comm, std::move(shape), [comm, options](const Partition& partition, int, CsrRows& out) {
    const RandomUniformOptions uniform{options.rows, options.per_row, options.seed, true};
    const CsrRows symmetric = symmetric_uniform_rows(comm, uniform, partition);
    comm.collectively([&] { out = with_dominant_diagonal(symmetric, options.shift); });
  });
}

}  // namespace block_eigs
