#include "actors/llm/generator/prefix_cache.hpp"

#include <algorithm>

namespace troupe::llm {
namespace {

constexpr std::uint64_t first_hash = 0xcbf29ce484222325;

/// The hash of a list with one more token (FNV-1a).
std::uint64_t with(std::uint64_t hash, token_id token) {
  return (hash ^ static_cast<std::uint64_t>(token)) * 0x100000001b3;
}

}  // namespace

void prefix_cache::put(std::vector<token_id> tokens, kv_sequence sequence) {
  const auto bytes = sequence.bytes();
  if (bytes > bytes_max_ || tokens.empty()) return;
  while (bytes_ + bytes > bytes_max_) remove(kept_.begin());
  auto hash = first_hash;
  for (const auto token : tokens) hash = with(hash, token);
  kept_.push_back({std::move(tokens), std::move(sequence), hash});
  by_hash_.emplace(hash, std::prev(kept_.end()));
  bytes_ += bytes;
}

std::optional<kv_sequence> prefix_cache::take(std::span<const token_id> prompt) {
  if (kept_.empty()) return std::nullopt;
  std::optional<place> longest;
  auto hash = first_hash;
  for (std::size_t length = 1; length < prompt.size(); ++length) {
    hash = with(hash, prompt[length - 1]);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto each = first; each != last; ++each)
      if (std::ranges::equal(each->second->tokens, prompt.first(length))) longest = each->second;
  }
  if (!longest) return std::nullopt;
  return remove(*longest);
}

kv_sequence prefix_cache::remove(place which) {
  auto sequence = std::move(which->sequence);
  bytes_ -= sequence.bytes();
  const auto [first, last] = by_hash_.equal_range(which->hash);
  by_hash_.erase(std::find_if(first, last, [&](const auto& each) { return each.second == which; }));
  kept_.erase(which);
  return sequence;
}

void prefix_cache::clear() {
  kept_.clear();
  by_hash_.clear();
  bytes_ = 0;
}

}  // namespace troupe::llm
