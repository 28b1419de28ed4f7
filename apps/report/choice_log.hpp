#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/result/result_file.hpp"
#include "solver/report.hpp"

namespace block_eigs {

/// Which preconditioners were at work in the course of a solve, for the result file.
class ChoiceLog {
 public:
  /// `first`: what was taken at the start, and why.
  explicit ChoiceLog(std::string first) { records_.push_back({0, std::move(first)}); }

  /// `observer`, with an eye on how many iterations there were. Refers to this.
  Observer counting(const Observer& observer) {
    return [this, observer](const IterationReport& report) {
      ++iterations_;
      if (observer) observer(report);
    };
  }
  /// Another one, as it is announced: "preconditioner from here on: amg, because ...".
  void take(const std::string& announced) {
    const std::size_t colon = announced.rfind("preconditioner from here on: ", 0);
    constexpr std::size_t length = sizeof("preconditioner from here on: ") - 1;
    records_.push_back({iterations_, colon == 0 ? announced.substr(length) : announced});
  }
  /// `announce`, with an eye on what it is told. Refers to this.
  std::function<void(const std::string&)> noting(std::function<void(const std::string&)> announce) {
    return [this, announce = std::move(announce)](const std::string& text) {
      announce(text);
      take(text);
    };
  }
  const std::vector<ChoiceRecord>& records() const { return records_; }

 private:
  std::vector<ChoiceRecord> records_;
  std::int64_t iterations_ = 0;
};

}  // namespace block_eigs
