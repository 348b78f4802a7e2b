#pragma once
// Internal to this folder: normalises what a player says.

#include <string>
#include <string_view>

namespace troupe::openenv {

/// Returns what a player said in lower case, without spaces, full stops and exclamation marks
/// around it: " Hit.\n" becomes "hit".
inline std::string move_text(std::string_view said) {
  constexpr std::string_view around = " \t\r\n.!";
  const auto first = said.find_first_not_of(around);
  if (first == said.npos) return {};
  std::string word(said.substr(first, said.find_last_not_of(around) - first + 1));
  for (auto& letter : word) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return word;
}

}  // namespace troupe::openenv
