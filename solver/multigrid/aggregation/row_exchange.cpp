#include "solver/multigrid/aggregation/row_exchange.hpp"

#include <span>
#include <utility>

namespace block_eigs::aggregation {

namespace {

template <class T>
using Messages = std::vector<std::vector<T>>;

/// Rows that `neighbour` wants.
std::span<const LocalIndex> wanted(const HaloPlan& plan, const HaloPlan::Neighbour& neighbour) {
  return std::span(plan.rows_to_send())
      .subspan(static_cast<std::size_t>(neighbour.first), static_cast<std::size_t>(neighbour.count));
}

/// Sparse rows on their way to other ranks: of every row its number, its length and its columns, and apart from
/// these its values.
struct RowMessages {
  Messages<std::int64_t> places;
  Messages<double> values;

  explicit RowMessages(std::size_t ranks) : places(ranks), values(ranks) {}

  void add(int rank, GlobalIndex number, const SparseRows<GlobalIndex>& rows, LocalIndex i) {
    const auto to = static_cast<std::size_t>(rank);
    const auto first = static_cast<std::ptrdiff_t>(rows.begin(i));
    const auto last = static_cast<std::ptrdiff_t>(rows.end(i));
    places[to].push_back(number);
    places[to].push_back(last - first);
    places[to].insert(places[to].end(), rows.columns.begin() + first, rows.columns.begin() + last);
    values[to].insert(values[to].end(), rows.values.begin() + first, rows.values.begin() + last);
  }

  /// What others sent here takes the place of what is to be sent. Collective.
  void exchange(const Communicator& comm) {
    places = comm.all_to_all(places);
    values = comm.all_to_all(values);
  }

  /// Appends all rows to `rows`, in the order of ranks; calls visit(number) for each.
  template <class Visit>
  void append_to(SparseRows<GlobalIndex>& rows, const Visit& visit) const {
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      const std::vector<std::int64_t>& from = places[rank];
      for (std::size_t at = 0; at < from.size();) {
        const auto columns = from.begin() + static_cast<std::ptrdiff_t>(at) + 2;
        rows.columns.insert(rows.columns.end(), columns, columns + from[at + 1]);
        rows.close_row();
        visit(GlobalIndex{from[at]});
        at += 2 + static_cast<std::size_t>(from[at + 1]);
      }
      rows.values.insert(rows.values.end(), values[rank].begin(), values[rank].end());
    }
  }
};

/// Rows of `part`, and those that came from elsewhere, as pieces of own rows of the result.
using Pieces = std::vector<std::vector<std::pair<bool, LocalIndex>>>;

void append(const SparseRows<GlobalIndex>& from, LocalIndex i, CsrRows& result) {
  const auto first = static_cast<std::ptrdiff_t>(from.begin(i));
  const auto last = static_cast<std::ptrdiff_t>(from.end(i));
  result.columns.insert(result.columns.end(), from.columns.begin() + first, from.columns.begin() + last);
  result.values.insert(result.values.end(), from.values.begin() + first, from.values.begin() + last);
}

}  // namespace

template <class T>
void append_ghost_values(const Communicator& comm, const HaloPlan& plan, std::size_t width,
                         std::vector<T>& values) {
  if (comm.size() == 1) return;
  Messages<T> outgoing;
  comm.collectively([&] {
    outgoing.resize(static_cast<std::size_t>(comm.size()));
    for (const auto& neighbour : plan.destinations()) {
      std::vector<T>& message = outgoing[static_cast<std::size_t>(neighbour.rank)];
      for (const LocalIndex row : wanted(plan, neighbour)) {
        const T* from = values.data() + static_cast<std::size_t>(row) * width;
        message.insert(message.end(), from, from + width);
      }
    }
  });
  const Messages<T> incoming = comm.all_to_all(outgoing);
  comm.collectively([&] {
    // Sources and ghosts both ascend.
    for (const std::vector<T>& message : incoming) values.insert(values.end(), message.begin(), message.end());
  });
}

void append_ghost_rows(const Communicator& comm, const HaloPlan& plan, SparseRows<GlobalIndex>& rows) {
  if (comm.size() == 1) return;
  RowMessages messages(static_cast<std::size_t>(comm.size()));
  comm.collectively([&] {
    for (const auto& neighbour : plan.destinations()) {
      for (const LocalIndex row : wanted(plan, neighbour)) messages.add(neighbour.rank, 0, rows, row);
    }
  });
  messages.exchange(comm);
  comm.collectively([&] { messages.append_to(rows, [](GlobalIndex) {}); });
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
  RowMessages messages(static_cast<std::size_t>(comm.size()));
  Pieces pieces;
  comm.collectively([&] {
    pieces.resize(static_cast<std::size_t>(partition.size(comm.rank())));
    for (LocalIndex i = 0; i < part.rows(); ++i) {
      const GlobalIndex number = row_numbers[static_cast<std::size_t>(i)];
      const int owner = partition.owner(number);
      if (owner == comm.rank()) {
        pieces[static_cast<std::size_t>(number - result.row_begin)].emplace_back(false, i);
      } else {
        messages.add(owner, number, part, i);
      }
    }
  });
  messages.exchange(comm);
  comm.collectively([&] {
    SparseRows<GlobalIndex> received;
    LocalIndex count = 0;
    messages.append_to(received, [&](GlobalIndex number) {
      pieces[static_cast<std::size_t>(number - result.row_begin)].emplace_back(true, count++);
    });
    for (const auto& of_row : pieces) {
      for (const auto& [foreign, i] : of_row) append(foreign ? received : part, i, result);
      result.row_offsets.push_back(static_cast<Offset>(result.columns.size()));
    }
    sort_rows(result);
  });
  return result;
}

std::vector<double> redistribute(const Communicator& comm, const Partition& from, const Partition& to,
                                 std::size_t width, std::vector<double> values) {
  if (from == to) return values;
  Messages<double> outgoing;
  comm.collectively([&] {
    outgoing.resize(static_cast<std::size_t>(comm.size()));
    const GlobalIndex begin = from.begin(comm.rank());
    for (GlobalIndex row = begin; row < from.end(comm.rank()); ++row) {
      const double* first = values.data() + static_cast<std::size_t>(row - begin) * width;
      std::vector<double>& message = outgoing[static_cast<std::size_t>(to.owner(row))];
      message.insert(message.end(), first, first + width);
    }
  });
  const Messages<double> incoming = comm.all_to_all(outgoing);
  comm.collectively([&] {
    values.clear();
    for (const std::vector<double>& message : incoming)
      values.insert(values.end(), message.begin(), message.end());
  });
  return values;
}

template void append_ghost_values(const Communicator&, const HaloPlan&, std::size_t, std::vector<double>&);
template void append_ghost_values(const Communicator&, const HaloPlan&, std::size_t, std::vector<std::int64_t>&);

}  // namespace block_eigs::aggregation
