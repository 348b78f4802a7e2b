#include "actors/llm/tokenizer/byte_alphabet.hpp"

#include <array>
#include <cstdint>

namespace troupe::llm {
namespace {

constexpr std::size_t letters_end = 256 + 68;

struct alphabet {
  std::array<std::string, 256> letter;         // by byte
  std::array<std::int16_t, letters_end> byte;  // by code point, -1 for none

  alphabet() {
    byte.fill(-1);
    unsigned next = 256;
    for (unsigned b = 0; b < 256; ++b) {
      const bool itself = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      const unsigned code = itself ? b : next++;
      byte[code] = static_cast<std::int16_t>(b);
      if (code < 0x80) {
        letter[b] = static_cast<char>(code);
      } else {
        letter[b] = {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
      }
    }
  }
};

const alphabet& the_alphabet() {
  static const alphabet made;
  return made;
}

}  // namespace

const std::string& letter_of_byte(unsigned char byte) { return the_alphabet().letter[byte]; }

std::optional<std::string> bytes_of_letters(std::string_view letters) {
  std::string bytes;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto first = static_cast<unsigned char>(letters[i]);
    unsigned code = first;
    if (first >= 0x80) {  // the letter has two bytes, or is not of the alphabet
      if (first < 0xC2 || first > 0xC5 || i + 1 == letters.size()) return std::nullopt;
      const auto second = static_cast<unsigned char>(letters[++i]);
      if (second >> 6 != 2) return std::nullopt;
      code = (first & 0x1Fu) << 6 | (second & 0x3Fu);
    }
    if (code >= letters_end || the_alphabet().byte[code] < 0) return std::nullopt;
    bytes += static_cast<char>(the_alphabet().byte[code]);
  }
  return bytes;
}

}  // namespace troupe::llm
