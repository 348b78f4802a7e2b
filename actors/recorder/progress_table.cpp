#include "actors/recorder/progress_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/utf8.hpp"

namespace troupe {
namespace {

constexpr std::size_t text_max = 36;

/// Environments name some of the metrics, in any characters.
std::string cut(const std::string& text) {
  const auto shown = detail::printable(text, text_max);
  return shown.size() <= text_max ? shown : detail::printable(text, text_max - 3);
}

std::string value_text(double value) {
  // Whole numbers below 2^53 are counts, which are printed exactly: 100352 and not 1e+05.
  if (std::trunc(value) == value && std::abs(value) < 9007199254740992.0)
    return fmt::format("{:.0f}", value == 0 ? 0.0 : value);
  return fmt::format("{:<8.3g}", value);
}

}  // namespace

std::string progress_table(const std::map<std::string, double>& values) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::string group;
  for (const auto& [key, value] : values) {
    const auto slash = key.find('/');
    const bool grouped = slash != key.npos && slash > 0;
    const auto key_group = grouped ? key.substr(0, slash + 1) : std::string();
    if (grouped && key_group != group) rows.emplace_back(cut(key_group), "");
    group = key_group;
    rows.emplace_back(cut(grouped ? "   " + key.substr(slash + 1) : key), cut(value_text(value)));
  }

  std::size_t key_width = 0;
  std::size_t value_width = 0;
  for (const auto& [key, value] : rows) {
    key_width = std::max(key_width, key.size());
    value_width = std::max(value_width, value.size());
  }
  const std::string line = std::string(key_width + value_width + 7, '-') + '\n';
  std::string table = line;
  for (const auto& [key, value] : rows)
    table += fmt::format("| {:<{}} | {:<{}} |\n", key, key_width, value, value_width);
  return table + line;
}

}  // namespace troupe
