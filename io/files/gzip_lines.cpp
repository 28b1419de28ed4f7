#include "io/files/gzip_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "io/files/byte_stream.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Whole lines on their way to one rank.
struct Deal {
  std::string text;
  std::int64_t first_line = 0;
  std::int64_t position = 0;
};

/// Bytes that are decompressed for one deal; with the begun line of the one before, a deal has fewer than twice as
/// many.
std::size_t deal_size(int ranks) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>((std::int64_t{64} << 20) / ranks, 1 << 18, 1 << 22));
}

/// Rank 0's part: text in, deals of whole lines out.
class Dealer {
 public:
  Dealer(const std::string& path, std::int64_t offset, std::int64_t first_line, int ranks)
      : stream_(open_byte_stream(path)), line_(first_line), deal_size_(deal_size(ranks)) {
    stream_->skip(static_cast<std::size_t>(offset));
  }

  /// About deal_size_ bytes; empty at the end of the text.
  Deal next() {
    Deal deal{std::exchange(rest_, {}), line_, position_};
    const std::size_t kept = deal.text.size();
    deal.text.resize(kept + deal_size_);
    const std::size_t got = stream_->read(deal.text.data() + kept, deal_size_);
    deal.text.resize(kept + got);
    if (got == deal_size_) {
      const auto newline = deal.text.rfind('\n');
      require(newline != std::string::npos,
              fmt::format("{}, line {}: is longer than {} bytes; it is no line of numbers", stream_->path(), line_,
                          deal.text.size()));
      rest_ = deal.text.substr(newline + 1);
      deal.text.resize(newline + 1);
    }
    position_ += static_cast<std::int64_t>(deal.text.size());
    line_ += std::count(deal.text.begin(), deal.text.end(), '\n');
    return deal;
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::int64_t line_;
  std::int64_t position_ = 0;
  std::size_t deal_size_;
  std::string rest_;
};

/// All memory for the messages is there before the first of them, so that no rank fails with some on their way.
class GzipLines : public LineSource {
 public:
  /// Collective.
  GzipLines(const Communicator& comm, const std::string& path, std::int64_t offset, std::int64_t first_line)
      : comm_(comm) {
    comm_.collectively([&] {
      if (!comm_.is_root()) {
        own_.text.reserve(2 * deal_size(comm_.size()));
        return;
      }
      dealer_ = std::make_unique<Dealer>(path, offset, first_line, comm_.size());
      const auto ranks = static_cast<std::size_t>(comm_.size());
      deals_.resize(ranks);
      sending_.resize(ranks);
      plan_.resize(ranks);
      requests_.reserve(ranks);
    });
    if (comm_.is_root()) prepare();
  }

  bool next(std::string_view& lines) override {
    comm_.collectively([&] {
      if (failure_) std::rethrow_exception(failure_);
    });
    for (std::size_t r = 0; r < deals_.size(); ++r) {
      const Deal& deal = deals_[r];
      plan_[r] = {static_cast<std::int64_t>(deal.text.size()), deal.first_line, deal.position, more_ ? 1 : 0};
    }
    Announcement own{};
    MPI_Scatter(plan_.data(), 4, MPI_INT64_T, own.data(), 4, MPI_INT64_T, 0, comm_.handle());
    if (own[3] == 0) return false;
    if (comm_.is_root()) {
      send_out();
    } else {
      own_.first_line = own[1];
      own_.position = own[2];
      own_.text.resize(static_cast<std::size_t>(own[0]));
      if (own[0] > 0) {
        MPI_Recv(own_.text.data(), static_cast<int>(own[0]), MPI_CHAR, 0, 0, comm_.handle(), MPI_STATUS_IGNORE);
      }
    }
    lines = own_.text;
    return true;
  }

  std::int64_t position() const override { return own_.position; }

  std::int64_t line_number(const char* at) const override {
    return own_.first_line + std::count(own_.text.data(), at, '\n');
  }

 private:
  /// Bytes to come, number of their first line, their place, whether there is anything for anyone.
  using Announcement = std::array<std::int64_t, 4>;

  /// Decompresses one deal a rank; with several ranks none for rank 0, which has this to do. A failure waits for
  /// the next call of next(), where all ranks learn of it.
  void prepare() {
    more_ = false;
    try {
      std::fill(deals_.begin(), deals_.end(), Deal{});
      for (std::size_t r = comm_.size() > 1 ? 1 : 0; r < deals_.size() && !failure_; ++r) {
        deals_[r] = dealer_->next();
        more_ = more_ || !deals_[r].text.empty();
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void send_out() {
    sending_.swap(deals_);
    requests_.clear();
    for (std::size_t r = 1; r < sending_.size(); ++r) {
      const std::string& text = sending_[r].text;
      if (text.empty()) continue;
      MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_CHAR, static_cast<int>(r), 0, comm_.handle(),
                &requests_.emplace_back());
    }
    own_ = std::move(sending_[0]);
    prepare();
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  Communicator comm_;
  Deal own_;
  // Rank 0 only.
  std::unique_ptr<Dealer> dealer_;
  std::vector<Deal> deals_;
  std::vector<Deal> sending_;
  std::vector<Announcement> plan_;
  std::vector<MPI_Request> requests_;
  bool more_ = false;
  std::exception_ptr failure_;
};

}  // namespace

std::unique_ptr<LineSource> open_gzip_lines(const Communicator& comm, const std::string& path, std::int64_t offset,
                                            std::int64_t first_line) {
  return std::make_unique<GzipLines>(comm, path, offset, first_line);
}

}  // namespace block_eigs
