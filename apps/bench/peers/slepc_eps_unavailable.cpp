#include "apps/bench/peers/slepc_eps.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {

bool have_slepc() { return false; }
bool have_slepc_with(const Communicator&, const std::string&) { return false; }

Contender slepc_contender(const Communicator&, const CsrRows&, int, double, int, const std::string&,
                          const std::string&, const std::string&) {
  throw InputError("this bench was built without SLEPc");
}

void end_slepc() {}

}  // namespace block_eigs::bench
