#pragma once
// Divides a batch of a language model into micro-batches. The GRPO and SFT learners use it.

#include <cstdint>
#include <span>
#include <vector>

namespace troupe::detail {

/// Divides `all` into micro-batches, each of which goes through a model at once: as many
/// consecutive items as have at most `tokens_max` tokens together, at least one. `tokens_of(item)`
/// returns the number of tokens of an item.
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
