#pragma once

namespace block_eigs {

/// "0.1.0"
const char* version();

}  // namespace block_eigs
