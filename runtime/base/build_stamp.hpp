#pragma once

#include <string>

namespace troupe::detail {

/// Identifies the sources of what processes send each other: Troupe's version and a hash of these
/// sources, as in "0.1.0-5d41402abc4b2a76". Two different programs that were linked with the same
/// build of Troupe have the same stamp, other than build_id().
const std::string& build_stamp();

}  // namespace troupe::detail
