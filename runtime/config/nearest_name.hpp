#pragma once
// Suggestions for misspelt names in error messages.

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/utf8.hpp"

namespace troupe {

/// Returns the Levenshtein distance: the number of insertions, deletions and replacements of single
/// bytes that turn `a` into `b`. Upper and lower case count as equal.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// Returns the known name with the smallest edit distance to `wanted`, the first one of equals.
/// Returns an empty string if every distance is more than half of the longer name's length, and for
/// a `wanted` of more than 200 bytes.
inline std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known) {
  if (wanted.size() > 200) return {};
  std::string best;
  std::size_t best_distance = 0;
  for (const auto& name : known) {
    const auto distance = edit_distance(wanted, name);
    if (distance * 2 > std::max(wanted.size(), name.size())) continue;
    if (best.empty() || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

/// `unknown environment "CartPol-v1"; did you mean "CartPole-v1"? known: "CartPole-v1", ...` `kind`
/// says what the name stands for, such as "environment". `meant` is the name to suggest; if it is
/// empty, the nearest name is suggested.
inline std::string unknown_name_message(std::string_view kind, std::string_view wanted,
                                        const std::vector<std::string>& known,
                                        const std::string& meant = {}) {
  std::string message =
      "unknown " + std::string(kind) + " \"" + detail::printable(wanted, 80) + "\"";
  const auto nearest = meant.empty() ? nearest_name(wanted, known) : meant;
  message += nearest.empty() ? ";" : "; did you mean \"" + nearest + "\"?";
  message += known.empty() ? " none is known" : " known: ";
  for (std::size_t i = 0; i < known.size(); ++i)
    message += (i == 0 ? "\"" : ", \"") + known[i] + "\"";
  return message;
}

}  // namespace troupe
