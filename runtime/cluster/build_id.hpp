#pragma once

#include <string>

namespace troupe::detail {

/// The id that distinguishes this executable from every other build: its GNU build id in
/// hexadecimal digits, or "unknown" if it was linked without one (-Wl,--build-id).
const std::string& build_id();

}  // namespace troupe::detail
