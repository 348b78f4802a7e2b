#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

namespace troupe::detail {

namespace {

/// Returns the number of bytes of the UTF-8 sequence at the beginning of `text`; 0 if there is
/// none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return continues(1) ? 2 : 0;
  if (first < 0xF0) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;   // A lower byte would be an overlong form.
    const unsigned high = first == 0xED ? 0x9F : 0xBF;  // A higher byte would be a surrogate.
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (first > 0xF4) return 0;
  const unsigned low = first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
  return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t bytes_max) {
  std::string result;
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (result.size() + length > bytes_max) return result + "...";
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      result += "\xef\xbf\xbd";
    } else if (first < 0x20 || first == 0x7f) {
      result += fmt::format("\\u{:04x}", first);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace troupe::detail
