#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace troupe::detail {

/// What goes through a model together: as many items in a row as have `tokens_max` tokens, at least
/// one. `tokens_of(item)` says how many it has.
template <class T, class TokensOf>
std::vector<std::span<T>> micro_batches(std::span<T> all, std::int64_t tokens_max,
                                        TokensOf tokens_of) {
  std::vector<std::span<T>> parts;
  std::size_t begin = 0;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t more = tokens_of(all[i]);
    if (i > begin && tokens + more > tokens_max) {
      parts.push_back(all.subspan(begin, i - begin));
      begin = i;
      tokens = 0;
    }
    tokens += more;
  }
  if (begin < all.size()) parts.push_back(all.subspan(begin));
  return parts;
}

}  // namespace troupe::detail
