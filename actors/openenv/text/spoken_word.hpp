#pragma once

#include <string>
#include <string_view>

namespace troupe::openenv {

/// What a player said, without spaces and full stops around it, in small letters: " Hit.\n" is
/// "hit".
inline std::string spoken_word(std::string_view said) {
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
