#include "actors/llm/tokenizer/utf8_stream.hpp"

#include <algorithm>
#include <utility>

namespace troupe::llm {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

enum class part { whole, begun, broken };

struct first_part {
  part kind;
  std::size_t bytes;
};

// Classifies the beginning of a text, which must not be empty: a whole character, a character that
// the end of the text cuts, or malformed bytes.
first_part look_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {part::whole, 1};
  if (first < 0xC2 || first > 0xF4) return {part::broken, 1};
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  unsigned low = 0x80, high = 0xBF;  // the range of the second byte
  if (first == 0xE0) low = 0xA0;     // lower bytes make an overlong form
  if (first == 0xED) high = 0x9F;    // higher bytes make a surrogate
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  for (std::size_t i = 1; i < length; ++i, low = 0x80, high = 0xBF) {
    if (i == text.size()) return {part::begun, i};
    if (byte(i) < low || byte(i) > high) return {part::broken, i};
  }
  return {part::whole, length};
}

}  // namespace

std::string utf8_stream::add(std::string_view bytes) {
  held_ += bytes;
  std::string told;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const auto next = look_at(rest);
    if (next.kind == part::begun) break;
    told += next.kind == part::whole ? rest.substr(0, next.bytes) : replacement;
    rest.remove_prefix(next.bytes);
  }
  held_.erase(0, held_.size() - rest.size());
  return told;
}

std::size_t utf8_bytes(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto next = look_at(text.substr(at));
    if (next.kind != part::whole) break;
    at += next.bytes;
  }
  return at;
}

std::string utf8_stream::end() {
  return std::exchange(held_, {}).empty() ? std::string() : std::string(replacement);
}

}  // namespace troupe::llm
