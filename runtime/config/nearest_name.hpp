#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/utf8.hpp"

namespace troupe {

/// Number of single-character insertions, deletions and replacements that turn `a` into `b`
/// (Levenshtein's distance), in bytes, upper and lower case alike.
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

/// The known name nearest to `wanted` by edit distance, the first of equals; empty where none is
/// nearer than half of the longer name's length, and for names over 200 bytes.
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

/// `unknown environment "CartPol-v1"; did you mean "CartPole-v1"? known: "CartPole-v1", ...`
/// `kind` is what the name was meant to name, such as "environment". `meant`: what to suggest where
/// that is known; empty: the nearest name.
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
