// Products of borrowed CSR arrays with column-major blocks: y_i = x_i + 2 x_(i + n/2 mod n), in closed form.
#include "spmm/matrix/column_major_product.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <vector>

#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {
namespace {

double entry(GlobalIndex i, std::int64_t j) { return static_cast<double>(i % 1021) + static_cast<double>(j) / 64; }

/// Own rows of the matrix, split as PETSc has it.
template <class Index>
class Halves {
 public:
  Halves(const Communicator& comm, GlobalIndex n)
      : n_(n), partition_(uneven(n, comm.size())), begin_(partition_.begin(comm.rank())) {
    const GlobalIndex end = partition_.end(comm.rank());
    std::vector<GlobalIndex> far;
    for (GlobalIndex i = begin_; i < end; ++i) {
      if (is_own(mate(i), end)) continue;
      far.push_back(mate(i));
    }
    ghosts_ = far;
    std::sort(ghosts_.begin(), ghosts_.end());
    for (GlobalIndex i = begin_; i < end; ++i) {
      own_.add(i - begin_, 1.0);
      if (is_own(mate(i), end)) {
        own_.add(mate(i) - begin_, 2.0);
      } else {
        ghost_.add(std::lower_bound(ghosts_.begin(), ghosts_.end(), mate(i)) - ghosts_.begin(), 2.0);
      }
      own_.end_row();
      ghost_.end_row();
    }
    product_ = make_column_major_product(comm, partition_, own_.borrowed(), ghost_.borrowed(),
                                         std::span<const GlobalIndex>(ghosts_), 2);
    rows_ = end - begin_;
  }

  /// Collective.
  void expect_right(std::int64_t columns) {
    const std::int64_t leading = rows_ + 3;
    std::vector<double> b(static_cast<std::size_t>(leading * columns));
    std::vector<double> c(b.size(), -1.0);
    for (std::int64_t j = 0; j < columns; ++j) {
      for (GlobalIndex i = 0; i < rows_; ++i) b[static_cast<std::size_t>(i + j * leading)] = entry(begin_ + i, j);
    }
    product_->multiply({b.data(), leading}, {c.data(), leading}, columns);
    for (std::int64_t j = 0; j < columns; ++j) {
      for (GlobalIndex i = 0; i < rows_; ++i) {
        ASSERT_EQ(c[static_cast<std::size_t>(i + j * leading)],
                  entry(begin_ + i, j) + 2 * entry(mate(begin_ + i), j))
            << "row " << begin_ + i << ", column " << j << " of " << columns;
      }
    }
  }

  /// Collective.
  void multiply(ConstColumns b, Columns c, std::int64_t columns) { product_->multiply(b, c, columns); }

 private:
  struct Part {
    std::vector<Index> offsets{0};
    std::vector<Index> columns;
    std::vector<double> values;
    void add(GlobalIndex column, double value) {
      columns.push_back(static_cast<Index>(column));
      values.push_back(value);
    }
    void end_row() { offsets.push_back(static_cast<Index>(columns.size())); }
    BorrowedCsr<Index> borrowed() const {
      return {static_cast<Index>(offsets.size() - 1), offsets.data(), columns.data(), values.data()};
    }
  };

  /// On three and more ranks none on rank 1.
  static Partition uneven(GlobalIndex n, int ranks) {
    if (ranks < 3) return Partition::uniform(n, ranks);
    const Partition even = Partition::uniform(n, ranks - 1);
    std::vector<GlobalIndex> offsets{0};
    for (int r = 0; r < ranks - 1; ++r) {
      offsets.push_back(even.end(r));
      if (r == 0) offsets.push_back(even.end(r));
    }
    return Partition(offsets);
  }
  GlobalIndex mate(GlobalIndex i) const { return (i + n_ / 2) % n_; }
  bool is_own(GlobalIndex i, GlobalIndex end) const { return i >= begin_ && i < end; }

  GlobalIndex n_;
  Partition partition_;
  GlobalIndex begin_;
  GlobalIndex rows_ = 0;
  std::vector<GlobalIndex> ghosts_;
  Part own_;
  Part ghost_;
  std::unique_ptr<ColumnMajorProduct<Index>> product_;
};

TEST(ColumnMajorProduct, OfAnyWidth) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const GlobalIndex n : {GlobalIndex{2}, GlobalIndex{130}, GlobalIndex{9000}}) {
    Halves<std::int32_t> narrow(comm, n);
    Halves<std::int64_t> wide(comm, n);
    for (const std::int64_t columns : {1, 3, 16, 4, 17, 18, 40, 0}) {
      narrow.expect_right(columns);
      wide.expect_right(columns);
    }
  }
}

/// Bytes of address space that the process has.
rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

TEST(ColumnMajorProduct, WithoutMemoryOnOneRankFailsOnAll) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends the process where memory runs out";
#endif
  const Communicator comm(MPI_COMM_WORLD);
  Halves<std::int32_t> halves(comm, 1 << 19);
  halves.expect_right(1);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  bool all = false;
  {
    const std::vector<double> b((std::size_t{1} << 19) * 12);
    std::vector<double> c(b.size());
    if (comm.is_root()) {
      const rlimit little{address_space() + (rlim_t{1} << 20), before.rlim_max};
      ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
    }
    try {
      halves.multiply({b.data(), 1 << 19}, {c.data(), 1 << 19}, 12);
    } catch (const OnAllRanks&) {
      all = true;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  }
  EXPECT_TRUE(all);
  halves.expect_right(12);
}

}  // namespace
}  // namespace block_eigs
