#include "solver/multigrid/aggregation/row_exchange.hpp"

#include <span>
#include <utility>

namespace block_eigs::aggregation {

namespace {

using Messages = std::vector<std::vector<double>>;

Messages messages(const Communicator& comm) { return Messages(static_cast<std::size_t>(comm.size())); }

/// Rows that `neighbour` wants.
std::span<const LocalIndex> wanted(const HaloPlan& plan, const HaloPlan::Neighbour& neighbour) {
  return std::span(plan.rows_to_send())
      .subspan(static_cast<std::size_t>(neighbour.first), static_cast<std::size_t>(neighbour.count));
}

/// Row numbers, lengths, columns and values, one after the other. Numbers below 2^53 keep their value.
void pack_row(GlobalIndex number, const SparseRows<GlobalIndex>& rows, LocalIndex i,
              std::vector<double>& message) {
  message.push_back(static_cast<double>(number));
  message.push_back(static_cast<double>(rows.end(i) - rows.begin(i)));
  for (std::size_t k = rows.begin(i); k < rows.end(i); ++k) {
    message.push_back(static_cast<double>(rows.columns[k]));
    message.push_back(rows.values[k]);
  }
}

/// Appends the entries of the next row of a message to `rows`, which is left open; returns its number.
GlobalIndex unpack_row(const std::vector<double>& message, std::size_t& at, SparseRows<GlobalIndex>& rows) {
  const auto number = static_cast<GlobalIndex>(message[at]);
  const auto count = static_cast<std::size_t>(message[at + 1]);
  at += 2;
  for (std::size_t k = 0; k < count; ++k, at += 2) {
    rows.columns.push_back(static_cast<GlobalIndex>(message[at]));
    rows.values.push_back(message[at + 1]);
  }
  return number;
}

/// Rows that came from elsewhere, and where they belong.
struct Received {
  std::vector<LocalIndex> rows;
  SparseRows<GlobalIndex> entries;
};

Received receive(const Communicator& comm, const Partition& partition, const Messages& outgoing) {
  Received received;
  for (const std::vector<double>& message : comm.all_to_all(outgoing)) {
    for (std::size_t at = 0; at < message.size();) {
      const GlobalIndex number = unpack_row(message, at, received.entries);
      received.entries.close_row();
      received.rows.push_back(static_cast<LocalIndex>(number - partition.begin(comm.rank())));
    }
  }
  return received;
}

}  // namespace

void append_ghost_values(const Communicator& comm, const HaloPlan& plan, std::size_t width,
                         std::vector<double>& values) {
  if (comm.size() == 1) return;
  Messages outgoing = messages(comm);
  for (const auto& neighbour : plan.destinations()) {
    std::vector<double>& message = outgoing[static_cast<std::size_t>(neighbour.rank)];
    for (const LocalIndex row : wanted(plan, neighbour)) {
      const double* from = values.data() + static_cast<std::size_t>(row) * width;
      message.insert(message.end(), from, from + width);
    }
  }
  // Sources and ghosts both ascend.
  for (const std::vector<double>& message : comm.all_to_all(outgoing))
    values.insert(values.end(), message.begin(), message.end());
}

void append_ghost_rows(const Communicator& comm, const HaloPlan& plan, SparseRows<GlobalIndex>& rows) {
  if (comm.size() == 1) return;
  Messages outgoing = messages(comm);
  for (const auto& neighbour : plan.destinations()) {
    for (const LocalIndex row : wanted(plan, neighbour))
      pack_row(0, rows, row, outgoing[static_cast<std::size_t>(neighbour.rank)]);
  }
  for (const std::vector<double>& message : comm.all_to_all(outgoing)) {
    for (std::size_t at = 0; at < message.size();) {
      unpack_row(message, at, rows);
      rows.close_row();
    }
  }
}

CsrRows assemble(const Communicator& comm, const Partition& partition, GlobalIndex global_columns,
                 SparseRows<GlobalIndex> part, const std::vector<GlobalIndex>& row_numbers) {
  CsrRows result;
  result.row_begin = partition.begin(comm.rank());
  result.global_rows = partition.rows();
  result.global_columns = global_columns;
  if (comm.size() == 1) {
    result.row_offsets = std::move(part.offsets);
    result.columns = std::move(part.columns);
    result.values = std::move(part.values);
    return result;
  }
  Messages outgoing = messages(comm);
  std::vector<std::vector<std::pair<bool, LocalIndex>>> pieces(
      static_cast<std::size_t>(partition.size(comm.rank())));
  for (LocalIndex i = 0; i < part.rows(); ++i) {
    const GlobalIndex number = row_numbers[static_cast<std::size_t>(i)];
    const int owner = partition.owner(number);
    if (owner == comm.rank()) {
      pieces[static_cast<std::size_t>(number - result.row_begin)].emplace_back(false, i);
    } else {
      pack_row(number, part, i, outgoing[static_cast<std::size_t>(owner)]);
    }
  }
  const Received received = receive(comm, partition, outgoing);
  for (std::size_t i = 0; i < received.rows.size(); ++i)
    pieces[static_cast<std::size_t>(received.rows[i])].emplace_back(true, static_cast<LocalIndex>(i));
  for (const auto& of_row : pieces) {
    for (const auto& [foreign, i] : of_row) {
      const SparseRows<GlobalIndex>& from = foreign ? received.entries : part;
      result.columns.insert(result.columns.end(),
                            from.columns.begin() + static_cast<std::ptrdiff_t>(from.begin(i)),
                            from.columns.begin() + static_cast<std::ptrdiff_t>(from.end(i)));
      result.values.insert(result.values.end(), from.values.begin() + static_cast<std::ptrdiff_t>(from.begin(i)),
                           from.values.begin() + static_cast<std::ptrdiff_t>(from.end(i)));
    }
    result.row_offsets.push_back(static_cast<Offset>(result.columns.size()));
  }
  sort_rows(result);
  return result;
}

std::vector<double> redistribute(const Communicator& comm, const Partition& from, const Partition& to,
                                 std::size_t width, const std::vector<double>& values) {
  if (from == to) return values;
  Messages outgoing = messages(comm);
  const GlobalIndex begin = from.begin(comm.rank());
  for (GlobalIndex row = begin; row < from.end(comm.rank()); ++row) {
    const double* first = values.data() + static_cast<std::size_t>(row - begin) * width;
    std::vector<double>& message = outgoing[static_cast<std::size_t>(to.owner(row))];
    message.insert(message.end(), first, first + width);
  }
  std::vector<double> result;
  for (const std::vector<double>& message : comm.all_to_all(outgoing))
    result.insert(result.end(), message.begin(), message.end());
  return result;
}

}  // namespace block_eigs::aggregation
