#pragma once
// The alphabet of byte-level BPE (GPT-2), which writes every byte as a printable character, so that
// a vocabulary is readable text. Bytes 33-126, 161-172 and 174-255 are their own code points, and
// the other 68 follow in order from U+0100.

#include <optional>
#include <string>
#include <string_view>

namespace troupe::llm {

/// The character of a byte, in UTF-8: " " gives "Ġ".
const std::string& letter_of_byte(unsigned char byte);

/// The bytes that a text in this alphabet stands for; none if it has any other character.
std::optional<std::string> bytes_of_letters(std::string_view letters);

}  // namespace troupe::llm
