#include "solver/multigrid/aggregation/local_rows.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "solver/multigrid/aggregation/host_rows.hpp"

namespace block_eigs::aggregation {

namespace {

std::vector<std::size_t> natural_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// Every row goes to the owner of its number, those of one owner that follow one another at once.
void add_by_owner(RowMessages& messages, const std::vector<GlobalIndex>& numbers, const HostRows& rows,
                  const Partition& partition) {
  for (std::size_t first = 0; first < rows.rows();) {
    const int owner = partition.owner(numbers[first]);
    std::size_t end = first + 1;
    while (end < rows.rows() && numbers[end] >= partition.begin(owner) && numbers[end] < partition.end(owner))
      ++end;
    messages.add(owner, std::span(numbers).subspan(first, end - first), rows, first);
    first = end;
  }
}

/// A matrix with one entry in every row, 1 in column to[i]; none where that is negative.
CsrBuffers<double> selection(const std::shared_ptr<Device>& device, const std::vector<LocalIndex>& to,
                             LocalIndex columns) {
  HostRows rows;
  rows.offsets.reserve(to.size() + 1);
  rows.columns.reserve(to.size());
  for (const LocalIndex column : to) {
    if (column >= 0) rows.columns.push_back(column);
    rows.offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  rows.values.assign(rows.columns.size(), 1.0);
  return upload_rows(device, rows, ColumnNumbers(0, columns, {}));
}

/// The rows of `a` that `list` has, in its order.
CsrBuffers<double> selected(const RowMoving& by, const CsrView<double>& a, const std::vector<LocalIndex>& list) {
  return *by.algebra->product(selection(by.context.device, list, a.rows).view(), a);
}

/// The same rows in the numbers of `columns`, which has the same own ones and more ghosts.
class WithMoreGhosts {
 public:
  WithMoreGhosts(const RowMoving& by, const LocalRows& rows, const ColumnNumbers& columns) : view_(rows.view()) {
    view_.columns = columns.all();
    if (rows.columns.ghosts().empty() || rows.columns == columns) return;  // all stay where they are
    std::vector<LocalIndex> places;
    for (const GlobalIndex ghost : rows.columns.ghosts()) places.push_back(columns.local(ghost));
    Buffer<LocalIndex> on_device(by.context.device, places.size());
    on_device.upload(places.data());
    made_ = by.algebra->with_columns(rows.view(), columns.own(), on_device, columns.all());
    view_ = made_.view();
  }
  const CsrView<double>& view() const { return view_; }

 private:
  CsrBuffers<double> made_;
  CsrView<double> view_;
};

}  // namespace

LocalRows whole_columns(const RowMoving& by, const DistributedMatrix<double>& a, double shift, int unknowns) {
  const Partition& partition = a.column_partition();
  LocalRows result;
  by.comm().collectively([&] {
    std::vector<GlobalIndex> ghosts;
    for (const GlobalIndex ghost : a.ghost_columns()) {
      const GlobalIndex first = ghost / unknowns * unknowns;
      for (int u = 0; u < unknowns; ++u) ghosts.push_back(first + u);
    }
    const CsrMatrix<double>& own = a.own_columns();
    result.columns = {partition.begin(by.comm().rank()), own.columns(), ghosts};
    if (a.ghosts() == 0) {
      result.matrix = by.algebra->shifted(own.view(), own.pattern(), shift);
      return;
    }
    std::vector<LocalIndex> places;
    for (const GlobalIndex ghost : a.ghost_columns()) places.push_back(result.columns.local(ghost));
    CsrView<double> boundary = a.boundary().view();
    const LocalIndex* const rows = std::exchange(boundary.row_map, nullptr);
    const CsrBuffers<double> others =
        *by.algebra->product(boundary, selection(by.context.device, places, result.columns.all()).view());
    result.matrix = by.algebra->with_added_rows(own.view(), others.view(), rows);
    if (shift != 0.0) result.matrix = by.algebra->shifted(result.view(), result.matrix.pattern, shift);
  });
  return result;
}

CsrView<double> top_rows(const RowMoving& by, CsrView<double> a, LocalIndex rows) {
  if (rows == a.rows) return a;
  by.context.device->copy_to_host(&a.nonzeros, a.row_offsets + rows, sizeof(Offset), Queue::compute);
  by.context.device->synchronize(Queue::compute);
  a.rows = rows;
  return a;
}

RowsAndGhosts with_ghost_rows(const RowMoving& by, LocalRows own, const HaloPlan& plan) {
  const Communicator& comm = by.comm();
  if (comm.size() == 1) return {std::move(own), {}};
  RowMessages messages(comm.size());
  comm.collectively([&] {
    const CsrBuffers<double> wanted = selected(by, own.view(), plan.rows_to_send());
    const HostRows there = download_rows(*by.context.device, wanted.view(), 0, own.columns);
    // Whoever asked for them knows which they are.
    const std::vector<GlobalIndex> numbers(there.rows(), 0);
    for (const auto& neighbour : plan.destinations()) {
      const auto first = static_cast<std::size_t>(neighbour.first);
      messages.add(neighbour.rank, std::span(numbers).subspan(first, static_cast<std::size_t>(neighbour.count)),
                   there, first);
    }
  });
  messages.exchange(comm);
  RowsAndGhosts result;
  comm.collectively([&] {
    std::vector<GlobalIndex> numbers;
    const HostRows ghosts = messages.received(numbers);
    result.all.columns = ColumnNumbers(own.columns, ghosts.columns);
    // Sources and ghosts both ascend.
    const CsrBuffers<double> below = upload_rows(by.context.device, ghosts, result.all.columns);
    const WithMoreGhosts above(by, own, result.all.columns);
    result.all.matrix = by.algebra->stacked(above.view(), below.view());
  });
  result.own = std::move(own);
  return result;
}

LocalRows assembled(const RowMoving& by, LocalRows part, const std::vector<GlobalIndex>& others,
                    const Partition& partition) {
  const Communicator& comm = by.comm();
  if (comm.size() == 1) return part;
  const LocalIndex own = partition.size(comm.rank());
  RowMessages messages(comm.size());
  comm.collectively([&] {
    const HostRows rows = download_rows(*by.context.device, part.view(), own, part.columns);
    add_by_owner(messages, others, rows, partition);
  });
  messages.exchange(comm);
  comm.collectively([&] {
    std::vector<GlobalIndex> numbers;
    const HostRows received = messages.received(numbers);
    std::vector<std::size_t> order = natural_order(received.rows());
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return numbers[x] < numbers[y]; });
    std::vector<LocalIndex> targets;
    for (const std::size_t i : order)
      targets.push_back(static_cast<LocalIndex>(numbers[i] - partition.begin(comm.rank())));
    ColumnNumbers columns(part.columns, received.columns);
    const WithMoreGhosts all(by, part, columns);
    const CsrBuffers<double> added = upload_rows(by.context.device, received, order, columns);
    Buffer<LocalIndex> rows(by.context.device, targets.size());
    rows.upload(targets.data());
    part = {by.algebra->with_added_rows(top_rows(by, all.view(), own), added.view(), rows.data()),
            std::move(columns)};
  });
  return part;
}

LocalRows dealt(const RowMoving& by, LocalRows rows, const Partition& from, const Partition& to) {
  if (from == to) return rows;
  const Communicator& comm = by.comm();
  RowMessages messages(comm.size());
  comm.collectively([&] {
    const HostRows all = download_rows(*by.context.device, rows.view(), 0, rows.columns);
    std::vector<GlobalIndex> numbers(all.rows());
    std::iota(numbers.begin(), numbers.end(), from.begin(comm.rank()));
    add_by_owner(messages, numbers, all, to);
  });
  messages.exchange(comm);
  comm.collectively([&] {
    std::vector<GlobalIndex> numbers;
    const HostRows received = messages.received(numbers);  // ascending, as ranks are
    rows.columns = {rows.columns.begin(), rows.columns.own(), received.columns};
    rows.matrix = upload_rows(by.context.device, received, rows.columns);
  });
  return rows;
}

Buffer<double> dealt_vectors(const RowMoving& by, const Buffer<double>& vectors, int width, const Partition& from,
                             const Partition& to) {
  const Communicator& comm = by.comm();
  std::vector<std::vector<double>> outgoing(static_cast<std::size_t>(comm.size()));
  comm.collectively([&] {
    std::vector<double> values(vectors.size());
    vectors.download(values.data());
    const GlobalIndex begin = from.begin(comm.rank());
    for (GlobalIndex row = begin; row < from.end(comm.rank()); ++row) {
      const double* first = values.data() + (row - begin) * width;
      std::vector<double>& message = outgoing[static_cast<std::size_t>(to.owner(row))];
      message.insert(message.end(), first, first + width);
    }
  });
  const std::vector<std::vector<double>> incoming = comm.all_to_all(outgoing);
  Buffer<double> result;
  comm.collectively([&] {
    std::vector<double> values;
    for (const std::vector<double>& message : incoming)
      values.insert(values.end(), message.begin(), message.end());
    result = Buffer<double>(by.context.device, values.size());
    result.upload(values.data());
  });
  return result;
}

LocalRows with_column_partition(const RowMoving& by, const LocalRows& rows, const Partition& columns) {
  const int rank = by.comm().rank();
  std::vector<GlobalIndex> others;
  for (LocalIndex c = 0; c < rows.columns.all(); ++c) {
    const GlobalIndex column = rows.columns.global(c);
    if (column < columns.begin(rank) || column >= columns.end(rank)) others.push_back(column);
  }
  ColumnNumbers numbers(columns.begin(rank), columns.size(rank), others);
  std::vector<LocalIndex> places;
  for (LocalIndex c = 0; c < rows.columns.all(); ++c) places.push_back(numbers.local(rows.columns.global(c)));
  const CsrBuffers<double> to = selection(by.context.device, places, numbers.all());
  return {*by.algebra->product(rows.view(), to.view()), std::move(numbers)};
}

CsrBuffers<double> no_rows(const RowMoving& by, const ColumnNumbers& columns) {
  return upload_rows(by.context.device, {}, columns);
}

CsrParts<double> parts_of(const RowMoving& by, LocalRows rows) {
  if (by.comm().size() == 1) return {std::move(rows.matrix), {}, {}, {}};
  SplitColumns split = by.algebra->split_columns(rows.view(), rows.columns.own());
  rows.matrix = {};
  const std::vector<GlobalIndex>& ghosts = rows.columns.ghosts();
  std::vector<LocalIndex> used(split.others.pattern->column_indices.size());
  split.others.pattern->column_indices.download(used.data());
  std::vector<LocalIndex> places(ghosts.size(), -1);
  for (const LocalIndex column : used) places[static_cast<std::size_t>(column)] = 0;
  std::vector<GlobalIndex> kept;
  for (std::size_t g = 0; g < ghosts.size(); ++g) {
    if (places[g] < 0) continue;
    places[g] = static_cast<LocalIndex>(kept.size());
    kept.push_back(ghosts[g]);
  }
  if (kept.size() < ghosts.size()) {
    split.others = *by.algebra->product(
        split.others.view(), selection(by.context.device, places, static_cast<LocalIndex>(kept.size())).view());
  }
  return {std::move(split.own), std::move(split.others), std::move(split.rows), std::move(kept)};
}

CsrRows to_host(Device& device, const LocalRows& rows, GlobalIndex row_begin, GlobalIndex global_rows,
                GlobalIndex global_columns) {
  HostRows all = download_rows(device, rows.view(), 0, rows.columns);
  CsrRows result{row_begin,
                 global_rows,
                 global_columns,
                 std::move(all.offsets),
                 std::move(all.columns),
                 std::move(all.values)};
  sort_rows(result);
  return result;
}

}  // namespace block_eigs::aggregation
