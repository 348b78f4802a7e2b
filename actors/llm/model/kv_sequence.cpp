#include "actors/llm/model/kv_sequence.hpp"

#include <stdexcept>
#include <string>

#include "actors/kernels/lanes.hpp"

namespace troupe::llm {
namespace {

std::shared_ptr<kv_segment> make_segment(const model_config& config, std::int64_t room) {
  if (room < 0 || room > config.max_positions)
    throw std::invalid_argument("kv_sequence: expected room for 0 to " +
                                std::to_string(config.max_positions) + " tokens, got " +
                                std::to_string(room));
  return std::make_shared<kv_segment>(config, room);
}

std::int64_t whole_blocks(std::int64_t room) {
  constexpr std::int64_t block = detail::lane_count;
  return (room + block - 1) / block * block;
}

}  // namespace

kv_segment::kv_segment(const model_config& config, std::int64_t room)
    : kv_heads(config.kv_heads),
      head_dim(config.head_dim),
      capacity(whole_blocks(room)),
      keys(static_cast<std::size_t>(config.layers * kv_heads * capacity * head_dim)),
      values(keys.size()) {}

kv_sequence::kv_sequence(const model_config& config, std::int64_t room)
    : config_(config), segments_{make_segment(config, room)} {}

std::int64_t kv_sequence::length() const {
  std::int64_t tokens = 0;
  for (const auto& segment : segments_) tokens += segment->used;
  return tokens;
}

std::int64_t kv_sequence::room() const {
  const auto& last = segments_.back();
  return last.use_count() > 1 ? 0 : last->capacity - last->used;
}

std::int64_t kv_sequence::bytes() const {
  std::size_t floats = 0;
  for (const auto& segment : segments_) floats += segment->keys.size() + segment->values.size();
  return static_cast<std::int64_t>(floats * sizeof(float));
}

kv_sequence kv_sequence::fork(std::int64_t room) const {
  auto segments = segments_;
  segments.push_back(make_segment(config_, room));
  return {config_, std::move(segments)};
}

}  // namespace troupe::llm
