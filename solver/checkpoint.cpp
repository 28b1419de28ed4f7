#include "solver/checkpoint.hpp"

#include "solver/require_whole.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

void require_whole(bool whole, const std::string& name) {
  if (whole) return;
  throw Agreed<InputError>(InputError("checkpoint: the state that was found is not whole: it has no \"" + name +
                                      "\", or too little of it"));
}

const SavedNumbers::List& SavedNumbers::at(const std::string& name, std::size_t least) const {
  const auto there = lists_.find(name);
  require_whole(there != lists_.end() && there->second.size() >= least, name);
  return there->second;
}

}  // namespace block_eigs
