#pragma once
// The rule for label values, which come from users' names. Internal to runtime/.

#include <cstddef>
#include <string_view>

namespace troupe::detail {

inline constexpr std::size_t label_bytes_max = 64;

/// Returns true if a label may have this value: UTF-8 of at most `label_bytes_max` bytes. Another
/// value would make Prometheus refuse the whole scrape, or make every scrape large.
bool is_label_value(std::string_view value);

}  // namespace troupe::detail
