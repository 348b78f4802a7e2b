#pragma once

#include <cstddef>
#include <string_view>

namespace troupe::detail {

inline constexpr std::size_t label_bytes_max = 64;

/// Whether a label may have this value: UTF-8 of at most `label_bytes_max` bytes. One that is not
/// would make Prometheus refuse the whole scrape, or bloat every one.
bool is_label_value(std::string_view value);

}  // namespace troupe::detail
