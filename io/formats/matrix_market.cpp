#include "io/formats/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/files/byte_stream.hpp"
#include "io/files/input_file.hpp"
#include "io/files/line_source.hpp"
#include "io/formats/matrix_market_entries.hpp"
#include "io/formats/matrix_market_header.hpp"
#include "io/source/check_matrix.hpp"
#include "io/source/csr_scatter.hpp"
#include "io/source/memory_room.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

using Format = MatrixMarketHeader::Format;
using Symmetry = MatrixMarketHeader::Symmetry;

/// Rank 0 reads the header, all parse it. Collective.
MatrixMarketHeader shared_header(const Communicator& comm, const std::string& path) {
  std::string text;
  comm.collectively([&] {
    if (comm.is_root()) text = read_matrix_market_header(*open_byte_stream(path));
  });
  text = comm.broadcast(std::move(text));
  MatrixMarketHeader header;
  comm.collectively([&] { header = parse_matrix_market_header(text, path); });
  return header;
}

/// Runs `parse` on the own lines of every round, then `after`, which is collective. Collective.
void for_each_piece(const Communicator& comm, const std::string& path, const MatrixMarketHeader& header,
                    const std::function<void(std::string_view)>& parse,
                    const std::function<void(const LineSource&)>& after) {
  const auto source = open_lines(comm, path, header.body_offset, header.size_line + 1);
  std::string_view lines;
  while (source->next(lines)) {
    comm.collectively([&] {
      try {
        parse(lines);
      } catch (const EntryError& error) {
        throw InputError(fmt::format("{}, line {}: {}", path, source->line_number(error.at()), error.what()));
      }
    });
    after(*source);
  }
}

/// Collective.
void require_count(const Communicator& comm, const std::string& path, const MatrixMarketHeader& header,
                   Offset found) {
  comm.collectively([&] {
    if (!comm.is_root() || found == header.entries) return;
    throw InputError(fmt::format("{}: holds {} entries, but line {} promises {}; {}", path, found,
                                 header.size_line, header.entries,
                                 found < header.entries ? "the file is cut off or the line is wrong"
                                                        : "the line is wrong or the file has entries too many"));
  });
}

class MatrixMarketMatrix : public MatrixSource {
 public:
  MatrixMarketMatrix(const Communicator& comm, const std::string& path)
      : comm_(comm), path_(absolute_path(path)), header_(shared_header(comm, path_)) {
    comm.collectively([&] {
      if (header_.format == Format::coordinate) return;
      throw InputError(fmt::format(
          "{}: holds a dense array; a sparse matrix ('matrix coordinate' in line 1) is needed", path_));
    });
  }

  GlobalIndex rows() const override { return header_.rows; }
  GlobalIndex columns() const override { return header_.columns; }
  std::string description() const override { return path_; }

  CsrRows read(const Partition& partition) override {
    require_memory(comm_, RowCollector::bytes_a_row * partition.size(comm_.rank()),
                   fmt::format("{}: {} rows", path_, header_.rows));
    std::optional<RowCollector> collector;
    comm_.collectively([&] { collector.emplace(comm_, partition, header_.columns); });
    std::vector<Triplet> triplets;
    EntryCounts counts;
    for_each_piece(
        comm_, path_, header_,
        [&](std::string_view lines) { parse_coordinate_lines(lines, header_, triplets, counts); },
        [&](const LineSource&) { collector->add(triplets); });
    require_count(comm_, path_, header_, comm_.sum(counts.entries));
    require_one_triangle(comm_.sum(counts.below), comm_.sum(counts.above));
    CsrRows rows;
    comm_.collectively([&] {
      rows = collector->finish();
      require_finite(rows, path_);
    });
    return rows;
  }

 private:
  /// Mirroring a file that holds both triangles would double the matrix. Collective.
  void require_one_triangle(Offset below, Offset above) const {
    comm_.collectively([&] {
      if (!comm_.is_root() || header_.symmetry == Symmetry::general || below == 0 || above == 0) return;
      throw InputError(
          fmt::format("{}: says it is symmetric, of which one triangle is stored, but it has {} entries below the "
                      "diagonal and {} above; say 'general' in line 1 or leave one triangle out",
                      path_, below, above));
    });
  }

  Communicator comm_;
  std::string path_;
  MatrixMarketHeader header_;
};

/// Values that the calling rank parsed in one piece of the text.
struct ParsedPiece {
  std::int64_t position = 0;
  std::vector<double> values;
};

class MatrixMarketArray : public BlockSource {
 public:
  MatrixMarketArray(const Communicator& comm, const std::string& path)
      : comm_(comm), path_(absolute_path(path)), header_(shared_header(comm, path_)) {
    comm.collectively([&] {
      if (header_.format == Format::array) return;
      throw InputError(
          fmt::format("{}: holds a sparse matrix; dense vectors ('matrix array' in line 1) are needed", path_));
    });
  }

  GlobalIndex rows() const override { return header_.rows; }
  GlobalIndex columns() const override { return header_.columns; }
  std::string description() const override { return path_; }

  std::vector<double> read(const Partition& partition, GlobalIndex first, LocalIndex count) override {
    require_memory(comm_, RowCollector::bytes_a_row * partition.size(comm_.rank()),
                   fmt::format("{}: {} rows", path_, header_.rows));
    std::vector<ParsedPiece> pieces;
    std::vector<double> values;
    Offset found = 0;
    for_each_piece(
        comm_, path_, header_, [&](std::string_view lines) { parse_array_lines(lines, values); },
        [&](const LineSource& source) {
          found += static_cast<Offset>(values.size());
          comm_.collectively([&] {
            if (!values.empty()) pieces.push_back({source.position(), std::exchange(values, {})});
          });
        });
    require_count(comm_, path_, header_, comm_.sum(found));

    // A value's place in the file says which it is: arrays are stored column by column.
    const std::vector<Offset> begins = first_numbers(pieces);
    std::optional<RowCollector> collector;
    comm_.collectively([&] { collector.emplace(comm_, partition, count); });
    const auto rounds = comm_.max(static_cast<std::int64_t>(pieces.size()));
    std::vector<Triplet> triplets;
    for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round) {
      comm_.collectively([&] {
        for (std::size_t k = 0; round < pieces.size() && k < pieces[round].values.size(); ++k) {
          const Offset number = begins[round] + static_cast<Offset>(k);
          const GlobalIndex column = number / header_.rows - first;
          if (column >= 0 && column < count)
            triplets.push_back({number % header_.rows, column, pieces[round].values[k]});
        }
      });
      collector->add(triplets);
    }
    std::vector<double> own;
    comm_.collectively([&] { own = collector->finish().values; });
    return own;
  }

 private:
  /// How many values stand before each own piece in the file. Collective.
  std::vector<Offset> first_numbers(const std::vector<ParsedPiece>& pieces) const {
    std::vector<std::int64_t> own;
    for (const ParsedPiece& piece : pieces)
      own.insert(own.end(), {piece.position, static_cast<std::int64_t>(piece.values.size())});
    const auto all =
        comm_.all_to_all(std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(comm_.size()), own));
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    for (const auto& rank : all) {
      for (std::size_t k = 0; k < rank.size(); k += 2) order.emplace_back(rank[k], rank[k + 1]);
    }
    std::sort(order.begin(), order.end());
    std::vector<Offset> begins;
    for (const ParsedPiece& piece : pieces) {
      const auto end = std::lower_bound(order.begin(), order.end(), std::pair{piece.position, std::int64_t{0}});
      begins.push_back(std::accumulate(order.begin(), end, Offset{0},
                                       [](Offset sum, const auto& p) { return sum + p.second; }));
    }
    return begins;
  }

  Communicator comm_;
  std::string path_;
  MatrixMarketHeader header_;
};

}  // namespace

std::unique_ptr<MatrixSource> open_matrix_market(const Communicator& comm, const std::string& path) {
  require_readable(comm, path);
  return std::make_unique<MatrixMarketMatrix>(comm, path);
}

std::unique_ptr<BlockSource> open_matrix_market_array(const Communicator& comm, const std::string& path) {
  require_readable(comm, path);
  return std::make_unique<MatrixMarketArray>(comm, path);
}

}  // namespace block_eigs
