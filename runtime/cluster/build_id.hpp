#pragma once

#include <string>

namespace troupe::detail {

/// What tells this executable from every other build: its GNU build id, as hexadecimal digits.
/// "unknown" where it was linked without one (-Wl,--build-id).
const std::string& build_id();

}  // namespace troupe::detail
