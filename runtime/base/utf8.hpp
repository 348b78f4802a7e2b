#pragma once
// Checks of texts that come from outside.

#include <string>
#include <string_view>

namespace troupe::detail {

/// Returns true if `text` is well-formed UTF-8 (RFC 3629): no overlong form, no surrogate, nothing
/// above U+10FFFF.
bool is_utf8(std::string_view text);

/// Returns a text from outside in a form that is safe in messages. Control characters become
/// `\u000a`, bytes that are not UTF-8 become U+FFFD, and "..." replaces everything after the first
/// `bytes_max` bytes.
std::string printable(std::string_view text, std::size_t bytes_max);

}  // namespace troupe::detail
