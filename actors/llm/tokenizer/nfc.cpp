#include "actors/llm/tokenizer/nfc.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace troupe::llm {
namespace {

struct code_range {
  utf8proc_int32_t first, last;
};

// Characters newer than Unicode 9 that normalisation would reorder or compose. In the tables of
// Unicode 9 they are unassigned and stay as they are.
constexpr code_range newer[] = {
    {0x7fd, 0x7fd},     {0x897, 0x89f},     {0x8ca, 0x8d3},     {0x9fe, 0x9fe},
    {0xc3c, 0xc3c},     {0xd3b, 0xd3c},     {0xeba, 0xeba},     {0x1715, 0x1715},
    {0x1abf, 0x1ace},   {0x1df6, 0x1dfa},   {0xa82c, 0xa82c},   {0x10d24, 0x10d27},
    {0x10d69, 0x10d6d}, {0x10eab, 0x10eac}, {0x10efd, 0x10eff}, {0x10f46, 0x10f50},
    {0x10f82, 0x10f85}, {0x11070, 0x11070}, {0x1133b, 0x1133b}, {0x113ce, 0x113d0},
    {0x1145e, 0x1145e}, {0x11839, 0x1183a}, {0x11930, 0x11930}, {0x11935, 0x11935},
    {0x11938, 0x11938}, {0x1193d, 0x1193e}, {0x11943, 0x11943}, {0x119e0, 0x119e0},
    {0x11a34, 0x11a34}, {0x11a47, 0x11a47}, {0x11a99, 0x11a99}, {0x11d42, 0x11d42},
    {0x11d44, 0x11d45}, {0x11d97, 0x11d97}, {0x11f41, 0x11f42}, {0x1612f, 0x1612f},
    {0x16ff0, 0x16ff1}, {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae},
    {0x1e2ec, 0x1e2ef}, {0x1e4ec, 0x1e4ef}, {0x1e5ee, 0x1e5ef},
};

bool is_newer(utf8proc_int32_t code) {
  const auto* at = std::lower_bound(std::begin(newer), std::end(newer), code,
                                    [](const code_range& r, auto c) { return r.last < c; });
  return at != std::end(newer) && at->first <= code;
}

std::string composed(std::string_view text) {
  if (text.empty()) return {};
  utf8proc_uint8_t* mapped = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (length < 0)
    throw std::runtime_error(std::string("normalisation to NFC: ") + utf8proc_errmsg(length));
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length)};
}

}  // namespace

std::string to_nfc(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    const auto length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                         static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (length <= 0) throw std::invalid_argument("to_nfc: expected UTF-8");
    const auto next = at + static_cast<std::size_t>(length);
    if (is_newer(code)) {
      result += composed(text.substr(begin, at - begin));
      result += text.substr(at, next - at);
      begin = next;
    }
    at = next;
  }
  return result + composed(text.substr(begin));
}

}  // namespace troupe::llm
