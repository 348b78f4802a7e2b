#pragma once

#include <string>
#include <string_view>

namespace troupe::llm {

/// A text's Normalization Form C (Unicode Standard Annex 15) as the tokenizers library computes it:
/// by the tables of Unicode 9. Characters that are newer stay where they are. `text` is UTF-8.
std::string to_nfc(std::string_view text);

}  // namespace troupe::llm
