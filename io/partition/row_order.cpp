#include "io/partition/row_order.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace block_eigs {

namespace {

template <class Value>
using Parcels = std::vector<std::vector<Value>>;

Partition in_rows(const Partition& nodes, int unknowns) {
  std::vector<GlobalIndex> offsets = nodes.offsets();
  for (GlobalIndex& offset : offsets) offset *= unknowns;
  return Partition(std::move(offsets));
}

template <class Value>
Parcels<Value> empty_parcels(const Communicator& comm) {
  return Parcels<Value>(static_cast<std::size_t>(comm.size()));
}

/// Those of all ranks, in rank order, as one list.
template <class Value>
std::vector<Value> joined(const Parcels<Value>& parcels) {
  std::vector<Value> list;
  for (const auto& parcel : parcels) list.insert(list.end(), parcel.begin(), parcel.end());
  return list;
}

/// Every node's lot to the owner of that node: lot i are values [first[i], first[i + 1]). As ranks have ascending
/// nodes in both orders, what comes from the ranks one after another is in the new order. Collective.
template <class Value>
std::vector<Value> send_lots(const Communicator& comm, const std::vector<int>& owners,
                             const std::vector<Value>& values, const auto& first) {
  Parcels<Value> outgoing = empty_parcels<Value>(comm);
  comm.collectively([&] {
    for (std::size_t i = 0; i < owners.size(); ++i) {
      auto& parcel = outgoing[static_cast<std::size_t>(owners[i])];
      parcel.insert(parcel.end(), values.begin() + static_cast<std::ptrdiff_t>(first(i)),
                    values.begin() + static_cast<std::ptrdiff_t>(first(i + 1)));
    }
  });
  const Parcels<Value> incoming = comm.all_to_all(outgoing);
  outgoing = {};
  std::vector<Value> list;
  comm.collectively([&] { list = joined(incoming); });
  return list;
}

}  // namespace

RowOrder::RowOrder(const Communicator& comm, const Partition& nodes, std::vector<int> owners, int unknowns)
    : comm_(comm), file_nodes_(nodes), unknowns_(unknowns), owners_(std::move(owners)) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  Parcels<std::int64_t> counts(ranks, {0});
  for (const int owner : owners_) ++counts[static_cast<std::size_t>(owner)][0];
  received_ = joined(comm.all_to_all(counts));
  GlobalIndex own = 0;
  for (const GlobalIndex count : received_) own += count;
  std::vector<GlobalIndex> offsets{0};
  for (const GlobalIndex size : comm.all_gather(own)) offsets.push_back(offsets.back() + size);
  nodes_ = Partition(std::move(offsets));
  file_ = in_rows(file_nodes_, unknowns_);
  partition_ = in_rows(nodes_, unknowns_);

  // Each rank tells those whose nodes it gets where they begin with it.
  Parcels<std::int64_t> begins(ranks);
  GlobalIndex next = nodes_.begin(comm.rank());
  for (std::size_t r = 0; r < ranks; ++r) {
    begins[r] = {next};
    next += received_[r];
  }
  std::vector<GlobalIndex> number = joined(comm.all_to_all(begins));
  std::vector<std::int64_t> names(owners_.size());
  new_number_.resize(owners_.size());
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    new_number_[i] = number[static_cast<std::size_t>(owners_[i])]++;
    names[i] = file_nodes_.begin(comm.rank()) + static_cast<GlobalIndex>(i);
  }
  is_of_file_ = !comm.any(names != new_number_);
  file_number_ = send_lots(comm, owners_, names, [](std::size_t i) { return i; });
}

/// The columns of all entries by their new numbers: asked of the ranks that have them in the file's order, each
/// once.
std::vector<GlobalIndex> RowOrder::new_columns(const CsrRows& rows) const {
  std::vector<GlobalIndex> nodes;
  Parcels<std::int64_t> asked = empty_parcels<std::int64_t>(comm_);
  comm_.collectively([&] {
    nodes.reserve(rows.columns.size());
    for (const GlobalIndex column : rows.columns) nodes.push_back(column / unknowns_);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (const GlobalIndex node : nodes) asked[static_cast<std::size_t>(file_nodes_.owner(node))].push_back(node);
  });
  Parcels<std::int64_t> questions = comm_.all_to_all(asked);
  for (auto& list : questions) {
    for (GlobalIndex& node : list)
      node = new_number_[static_cast<std::size_t>(node - file_nodes_.begin(comm_.rank()))];
  }
  const Parcels<std::int64_t> answers = comm_.all_to_all(questions);
  std::vector<GlobalIndex> columns;
  comm_.collectively([&] {
    const std::vector<GlobalIndex> numbers = joined(answers);
    columns.resize(rows.columns.size());
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const GlobalIndex node = rows.columns[k] / unknowns_;
      const auto at = std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin();
      columns[k] = numbers[static_cast<std::size_t>(at)] * unknowns_ + rows.columns[k] % unknowns_;
    }
  });
  return columns;
}

CsrRows RowOrder::reordered(const CsrRows& rows) const {
  const auto unknowns = static_cast<std::size_t>(unknowns_);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows.rows()));
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = rows.row_offsets[i + 1] - rows.row_offsets[i];
  const auto entries = [&](std::size_t node) { return rows.row_offsets[node * unknowns]; };
  CsrRows out;
  out.row_begin = partition_.begin(comm_.rank());
  out.global_rows = rows.global_rows;
  out.global_columns = rows.global_columns;
  out.columns = send_lots(comm_, owners_, new_columns(rows), entries);
  out.values = send_lots(comm_, owners_, rows.values, entries);
  const std::vector<std::int64_t> new_lengths =
      send_lots(comm_, owners_, lengths, [&](std::size_t node) { return node * unknowns; });
  comm_.collectively([&] {
    out.row_offsets.assign(1, 0);
    for (const std::int64_t length : new_lengths) out.row_offsets.push_back(out.row_offsets.back() + length);
    sort_rows(out);
  });
  return out;
}

std::vector<double> RowOrder::reordered(const std::vector<double>& values, std::size_t columns) const {
  return reordered_nodes(values, columns * static_cast<std::size_t>(unknowns_));
}

std::vector<double> RowOrder::reordered_nodes(const std::vector<double>& values, std::size_t columns) const {
  return send_lots(comm_, owners_, values, [&](std::size_t node) { return node * columns; });
}

template <class T>
std::vector<T> RowOrder::in_file_order(const std::vector<T>& values, std::size_t columns) const {
  const std::size_t width = columns * static_cast<std::size_t>(unknowns_);
  Parcels<double> outgoing = empty_parcels<double>(comm_);
  comm_.collectively([&] {
    auto at = values.begin();
    for (std::size_t r = 0; r < outgoing.size(); ++r) {
      const auto end = at + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(received_[r]) * width);
      outgoing[r].assign(at, end);
      at = end;
    }
  });
  const Parcels<double> incoming = comm_.all_to_all(outgoing);
  outgoing = {};
  std::vector<T> list;
  comm_.collectively([&] {
    list.reserve(owners_.size() * width);
    std::vector<std::size_t> next(incoming.size(), 0);
    for (const int owner : owners_) {
      const auto rank = static_cast<std::size_t>(owner);
      for (std::size_t k = 0; k < width; ++k) list.push_back(static_cast<T>(incoming[rank][next[rank]++]));
    }
  });
  return list;
}

GlobalIndex RowOrder::file_row(GlobalIndex row) const {
  const GlobalIndex local = row / unknowns_ - nodes_.begin(comm_.rank());
  const bool own = local >= 0 && local < static_cast<GlobalIndex>(file_number_.size());
  const GlobalIndex node = own ? file_number_[static_cast<std::size_t>(local)] : -1;
  return comm_.max(std::int64_t{node}) * unknowns_ + row % unknowns_;
}

template std::vector<float> RowOrder::in_file_order(const std::vector<float>&, std::size_t) const;
template std::vector<double> RowOrder::in_file_order(const std::vector<double>&, std::size_t) const;

}  // namespace block_eigs
