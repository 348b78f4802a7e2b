#pragma once

#include <string>
#include <string_view>

namespace troupe::detail {

/// Well-formed UTF-8 (RFC 3629): no overlong form, no surrogate, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

/// A text from outside as it may stand in a message: control characters written as `\u000a`, bytes
/// that are no UTF-8 as U+FFFD, and "..." for what comes after the first `bytes_max` bytes.
std::string printable(std::string_view text, std::size_t bytes_max);

}  // namespace troupe::detail
