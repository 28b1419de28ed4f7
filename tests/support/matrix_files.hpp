#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "spmm/error.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::test {

/// Folder with what write_matrix_files.py wrote, empty where it did not run.
inline std::string matrix_files_folder() {
  const char* folder = std::getenv("BLOCK_EIGS_MATRIX_FILES");
  return folder != nullptr && std::filesystem::exists(std::string(folder) + "/good.txt") ? folder : "";
}

inline constexpr const char* no_matrix_files =
    "no matrix files: they are written by SciPy and h5py (Debian: python3-scipy, python3-h5py), which were not "
    "found";

/// Lines of a list, cut at '|'.
inline std::vector<std::vector<std::string>> read_list(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> words;
    std::istringstream cells(line);
    for (std::string word; std::getline(cells, word, '|');) words.push_back(word);
    rows.push_back(words);
  }
  return rows;
}

/// What SciPy says of a matrix in a file.
struct Expected {
  std::string path;
  std::string dataset;
  GlobalIndex rows = 0;
  GlobalIndex columns = 0;
  Offset nonzeros = 0;
  double sum = 0.0;
  std::vector<double> product;             ///< A x
  std::vector<double> transposed_product;  ///< A^T y
};

inline std::string in_folder(const std::string& folder, const std::string& name) {
  return name.front() == '/' ? name : folder + "/" + name;
}

inline std::vector<Expected> expected_matrices() {
  const std::string folder = matrix_files_folder();
  std::vector<Expected> list;
  for (const auto& cells : read_list(folder + "/good.txt")) {
    Expected matrix{in_folder(folder, cells[0]),
                    cells[1],
                    std::stoll(cells[2]),
                    std::stoll(cells[3]),
                    std::stoll(cells[4]),
                    std::stod(cells[5]),
                    {},
                    {}};
    matrix.product.resize(static_cast<std::size_t>(matrix.rows));
    matrix.transposed_product.resize(static_cast<std::size_t>(matrix.columns));
    std::ifstream reference(folder + "/" + cells[6], std::ios::binary);
    const auto read = [&](std::vector<double>& values) {
      reference.read(reinterpret_cast<char*>(values.data()),
                     static_cast<std::streamsize>(values.size() * sizeof(double)));
    };
    read(matrix.product);
    read(matrix.transposed_product);
    EXPECT_TRUE(reference.good()) << cells[6];
    list.push_back(std::move(matrix));
  }
  return list;
}

/// x_j of write_matrix_files.py.
inline double probe(GlobalIndex j) { return static_cast<double>(j * 7919 % 1009) / 1009.0 - 0.5; }

/// Collective: A x and A^T y, number and sum of the nonzeros agree with `expected`, columns ascend.
inline void expect_matrix(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                          const Expected& expected) {
  const GlobalIndex begin = partition.begin(comm.rank());
  ASSERT_EQ(rows.row_begin, begin);
  ASSERT_EQ(rows.rows(), partition.size(comm.rank()));
  EXPECT_EQ(rows.global_rows, expected.rows);
  EXPECT_EQ(rows.global_columns, expected.columns);
  std::vector<double> transposed(static_cast<std::size_t>(expected.columns), 0.0);
  std::vector<double> transposed_size(transposed.size(), 0.0);
  double sum = 0.0;
  double size = 0.0;
  double worst = 0.0;
  bool ascending = true;
  for (std::size_t i = 0; i + 1 < rows.row_offsets.size(); ++i) {
    const GlobalIndex row = begin + static_cast<GlobalIndex>(i);
    double product = 0.0;
    double terms = 0.0;
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
         k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k) {
      const auto column = static_cast<std::size_t>(rows.columns[k]);
      ascending = ascending &&
                  (k == static_cast<std::size_t>(rows.row_offsets[i]) || rows.columns[k - 1] < rows.columns[k]);
      product += rows.values[k] * probe(rows.columns[k]);
      terms += std::abs(rows.values[k]);
      transposed[column] += rows.values[k] * probe(row);
      transposed_size[column] += std::abs(rows.values[k]);
      sum += rows.values[k];
    }
    size += terms;
    worst = std::max(
        worst, std::abs(product - expected.product[static_cast<std::size_t>(row)]) / std::max(terms, 1e-300));
  }
  comm.sum(transposed);
  comm.sum(transposed_size);
  double worst_transposed = 0.0;
  for (std::size_t j = 0; j < transposed.size(); ++j) {
    const double difference = std::abs(transposed[j] - expected.transposed_product[j]);
    worst_transposed = std::max(worst_transposed, difference / std::max(transposed_size[j], 1e-300));
  }
  EXPECT_TRUE(ascending);
  EXPECT_LE(worst, 1e-13);
  EXPECT_LE(worst_transposed, 1e-13);
  EXPECT_EQ(comm.sum(rows.nonzeros()), expected.nonzeros);
  EXPECT_NEAR(comm.sum(sum), expected.sum, 1e-12 * comm.sum(size));
}

/// What a collective step that must fail said: the message of the one rank that may print it, empty on the others.
/// Checks that all ranks fail with exit code 2 and that one of them alone has the message. Collective.
inline std::string refusal(const Communicator& comm, const std::function<void()>& step) {
  std::string message;
  bool failed = false;
  try {
    step();
  } catch (const RemoteError& error) {
    failed = error.exit_code() == ExitCode::invalid_input;
  } catch (const InputError& error) {
    failed = true;
    message = error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an InputError: " << error.what();
  }
  EXPECT_TRUE(failed) << "rank " << comm.rank() << " did not fail";
  EXPECT_EQ(comm.sum(std::int64_t{message.empty() ? 0 : 1}), 1) << "ranks with a message";
  return message;
}

/// `message`, of refusal, holds `words`; so says the rank that has it.
inline void expect_said(const std::string& message, const std::string& words) {
  if (!message.empty()) {
    EXPECT_NE(message.find(words), std::string::npos) << "wanted: " << words << "\nsaid: " << message;
  }
}

}  // namespace block_eigs::test
