#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/halo_exchange.hpp"
#include "spmm/parallel/staged_transport.hpp"
#include "tests/support/parts_of_rows.hpp"
#include "tests/support/staged_device.hpp"

namespace block_eigs::test {

/// On the host, by a stand-in for a GPU there, or on GPUs, as many as there are.
enum class Place { host, stand_in, gpu };

/// What every transport between devices has to do: deliver the rows that were asked for, whatever is wanted by
/// whom, however wide, and whoever is late.
class HaloTransportTest : public ::testing::TestWithParam<Place> {
 protected:
  /// The rows that a rank wants, and the plan that brings them.
  struct Wish {
    std::vector<GlobalIndex> rows;
    HaloPlan plan;
  };

  /// False where the test is for a GPU and there is none.
  bool choose_device(const std::shared_ptr<StagedDevice>& stand_in) {
    if (GetParam() != Place::gpu) {
      stand_in_ = stand_in;
      device_ = stand_in;
      return true;
    }
    try {
      device_ = make_device(Backend::cuda, comm_.node_rank());
    } catch (const InputError&) {
      return false;
    }
    return true;
  }

  template <class T>
  Context<T> context(std::shared_ptr<Transport> transport) const {
    return {comm_, device_, make_kernels<T>(stand_in_ ? stand_in_->host() : device_),
            std::make_shared<Profile>(device_), std::move(transport)};
  }
  template <class T>
  HaloExchange<T> exchange_of(const Wish& wish) const {
    return {context<T>(transport_), wish.plan};
  }

  int ranks() const { return comm_.size(); }
  Partition partition() const { return Partition::uniform(GlobalIndex{rows_of_rank} * ranks(), ranks()); }

  /// Each rank wants some rows of some others, not the same ones as these want of it.
  Wish random_wish(std::uint64_t seed) const {
    std::mt19937_64 draw(seed * 1000 + static_cast<std::uint64_t>(comm_.rank()));
    std::vector<GlobalIndex> rows;
    for (int r = 0; r < ranks(); ++r) {
      if (r == comm_.rank() || draw() % 4 == 0) continue;
      const std::uint64_t one_in = 1 + draw() % 8;
      for (GlobalIndex row = partition().begin(r); row < partition().end(r); ++row) {
        if (draw() % one_in == 0) rows.push_back(row);
      }
    }
    return {rows, HaloPlan(comm_, partition(), rows)};
  }
  /// A row of the next rank, in a ring.
  Wish ring() const {
    const std::vector<GlobalIndex> rows = {partition().begin((comm_.rank() + 1) % ranks())};
    return {rows, HaloPlan(comm_, partition(), rows)};
  }

  template <class T>
  static T element(int turn, GlobalIndex row, LocalIndex column) {
    return static_cast<T>(GlobalIndex{1000003} * turn + 37 * row + column) / T(7);
  }

  template <class T>
  DenseBlock<T> block(int turn, LocalIndex columns) const {
    DenseBlock<T> x(device_, rows_of_rank, columns);
    std::vector<T> values;
    const GlobalIndex first = partition().begin(comm_.rank());
    for (GlobalIndex row = first; row < first + rows_of_rank; ++row) {
      for (LocalIndex j = 0; j < columns; ++j) values.push_back(element<T>(turn, row, j));
    }
    x.from_host(values.data());
    return x;
  }

  template <class T>
  std::vector<T> to_host(ConstBlockView<T> ghosts) const {
    std::vector<T> values(static_cast<std::size_t>(ghosts.rows) * static_cast<std::size_t>(ghosts.cols));
    if (values.empty()) return values;
    device_->copy_to_host(values.data(), ghosts.data, values.size() * sizeof(T), Queue::compute);
    device_->synchronize(Queue::compute);
    return values;
  }

  template <class T>
  void expect_rows(ConstBlockView<T> ghosts, const std::vector<GlobalIndex>& wanted, int turn) const {
    const std::vector<T> values = to_host(ghosts);
    ASSERT_EQ(static_cast<std::size_t>(ghosts.rows), wanted.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (LocalIndex j = 0; j < ghosts.cols; ++j) {
        const T found = values[i * static_cast<std::size_t>(ghosts.cols) + static_cast<std::size_t>(j)];
        if (found != element<T>(turn, wanted[i], j)) ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0u) << "turn " << turn << ", " << ghosts.cols << " columns, rank " << comm_.rank();
  }

  template <class T>
  void expect_exchange(HaloExchange<T>& exchange, const Wish& wish, int turn, LocalIndex columns) const {
    const DenseBlock<T> x = block<T>(turn, columns);
    exchange.begin(x.view());
    exchange.progress();
    expect_rows<T>(exchange.finish(), wish.rows, turn);
  }

  template <class T>
  void exchange_by_random_plans() const {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const Wish wish = random_wish(seed);
      HaloExchange<T> exchange = exchange_of<T>(wish);
      int turn = 0;
      for (const LocalIndex columns : {1, 16, 5, 0, 33, 8, 8, 40, 3, 40}) {
        expect_exchange<T>(exchange, wish, turn++, columns);
      }
    }
  }

  /// Rounds follow one another without a look at the result, so that ranks run ahead of each other; one of them,
  /// in turn, is late or has a busy device.
  void overwrite_nothing_unread() const {
    constexpr LocalIndex columns = 12;
    constexpr int turns = 60;
    const Wish wish = random_wish(11);
    HaloExchange<double> exchange = exchange_of<double>(wish);
    exchange.reserve(columns);
    const auto kernels = context<double>(transport_).kernels;
    DenseBlock<double> busy(device_, 20000, 64);
    std::vector<DenseBlock<double>> sent;
    std::vector<DenseBlock<double>> copies;
    for (int turn = 0; turn < turns; ++turn) {
      sent.push_back(block<double>(turn, columns));
      copies.emplace_back(device_, static_cast<LocalIndex>(wish.rows.size()), columns);
    }
    for (int turn = 0; turn < turns; ++turn) {
      const bool late = turn / 3 % ranks() == comm_.rank();
      exchange.begin(sent[static_cast<std::size_t>(turn)].view());
      if (late && turn % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      const ConstBlockView<double> ghosts = exchange.finish();
      for (int i = 0; late && i < 20; ++i) kernels->fill(busy.view(), i);
      if (!wish.rows.empty()) kernels->copy(ghosts, copies[static_cast<std::size_t>(turn)].view());
    }
    for (int turn = 0; turn < turns; ++turn) {
      expect_rows<double>(std::as_const(copies[static_cast<std::size_t>(turn)]).view(), wish.rows, turn);
    }
  }

  void let_channels_come_and_go() const {
    int turn = 0;
    for (std::uint64_t seed = 20; seed < 24; ++seed) {
      const Wish first = random_wish(seed);
      const Wish second = random_wish(seed + 100);
      HaloExchange<double> one = exchange_of<double>(first);
      HaloExchange<float> other = exchange_of<float>(second);
      for (const LocalIndex columns : {4, 7, 30}) {
        expect_exchange<double>(one, first, turn++, columns);
        expect_exchange<float>(other, second, turn++, columns + 1);
        expect_exchange<float>(other, second, turn++, columns);
      }
    }
  }

  /// Ones that all ranks began and none finished, some of them late.
  void cut_exchanges_short() const {
    const auto begin_late = [&](HaloExchange<double>& exchange) {
      const DenseBlock<double> x = block<double>(77, 6);
      if (comm_.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      exchange.begin(x.view());
    };
    {
      HaloExchange<double> dropped = exchange_of<double>(random_wish(31));
      begin_late(dropped);
    }
    const Wish wish = random_wish(32);
    HaloExchange<double> exchange = exchange_of<double>(wish);
    expect_exchange<double>(exchange, wish, 1, 6);
    begin_late(exchange);
    expect_exchange<double>(exchange, wish, 2, 9);
    begin_late(exchange);
    exchange.give_up();
    for (int turn = 3; turn < 8; ++turn) expect_exchange<double>(exchange, wish, turn, 6);
  }

  /// Products that the host has no part in, with the same bits as by MPI.
  void multiply_without_the_host() const {
    const auto source = laplacian3d(comm_, {.size = {12, 12, 40}});
    const Partition rows = Partition::uniform(source->rows(), ranks());
    const auto product = [&](const std::shared_ptr<Transport>& transport) {
      DistributedMatrix<double> matrix(context<double>(transport),
                                       parts_of(device_, source->read(rows), rows, comm_.rank()), rows, rows,
                                       nullptr);
      DenseBlock<double> x(device_, matrix.rows(), 16);
      DenseBlock<double> y(device_, matrix.rows(), 16);
      context<double>(transport).kernels->fill_random(x.view(), 3, rows.begin(comm_.rank()));
      matrix.reserve(16);
      matrix.apply(x.view(), y.view());
      const TransferCount before = device_->transferred();
      for (int i = 0; i < 10; ++i) {
        matrix.apply(x.view(), y.view());
        matrix.apply(y.view(), x.view());
      }
      const TransferCount after = device_->transferred();
      if (transport == transport_) {
        EXPECT_EQ(after.host_waits, before.host_waits);
        EXPECT_EQ(after.to_host, before.to_host);
        EXPECT_EQ(after.to_device, before.to_device);
      }
      return x.to_host();
    };
    EXPECT_EQ(product(transport_), product(make_staged_transport(comm_, device_)));
  }

  static constexpr LocalIndex rows_of_rank = 300;
  Communicator comm_{MPI_COMM_WORLD};
  std::shared_ptr<StagedDevice> stand_in_;  ///< or what counts for the host; null on a GPU
  std::shared_ptr<Device> device_;
  std::shared_ptr<Transport> transport_;
};

inline std::string name_of_place(const ::testing::TestParamInfo<Place>& place) {
  if (place.param == Place::host) return "host";
  return place.param == Place::stand_in ? "stand_in" : "cuda";
}

}  // namespace block_eigs::test
