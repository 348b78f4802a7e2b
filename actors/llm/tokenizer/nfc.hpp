#pragma once
// Unicode normalisation, for tokenizers that require it.

#include <string>
#include <string_view>

namespace troupe::llm {

/// The Normalization Form C (Unicode Standard Annex 15) of a UTF-8 text, by the tables of Unicode
/// 9, as in the tokenizers library. Newer characters stay as they are.
std::string to_nfc(std::string_view text);

}  // namespace troupe::llm
