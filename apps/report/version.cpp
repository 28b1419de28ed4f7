#include "apps/report/version.hpp"

namespace block_eigs {

const char* version() { return BLOCK_EIGS_VERSION; }

}  // namespace block_eigs
