#pragma once

#include <string>

namespace block_eigs {

/// Notes, while it lives, a file that is to go with the job where the job is aborted: aborted ranks put nothing in
/// order. All ranks note it, for any of them may be the one that ends the others; the note of one that an
/// exception ends stays, for other ranks may not have heard of that. Who made the file removes it in all other
/// cases. At most 16 at a time, names of less than 4096 bytes; what is beyond that is not noted.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::string& path) noexcept;
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

 private:
  int slot_ = -1;
  int exceptions_ = 0;  ///< under way when it was made
};

/// Removes the files that are noted: before an abort. Takes no memory and no lock, for signal handlers too.
void remove_unfinished_files() noexcept;

}  // namespace block_eigs
