#include "actors/llm/model/packed_tokens.hpp"

#include <stdexcept>
#include <string>

namespace troupe::llm {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("packed tokens: expected " + what);
}

void check_ids(const model_config& config, const std::vector<token_id>& ids) {
  for (const auto id : ids) {
    if (id < 0 || id >= config.vocab_size)
      refuse("ids from 0 to " + std::to_string(config.vocab_size - 1) + ", got " +
             std::to_string(id));
  }
}

}  // namespace

std::vector<document_place> places_of(const model_config& config, const packed_tokens& tokens) {
  const auto count = tokens.lengths.size();
  if (!tokens.parents.empty() && tokens.parents.size() != count)
    refuse("parents of " + std::to_string(count) + " documents, got " +
           std::to_string(tokens.parents.size()));
  std::vector<document_place> places(count);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto& place = places[i];
    place.own = {total, tokens.lengths[i]};
    const auto parent = tokens.parents.empty() ? -1 : tokens.parents[i];
    if (parent < -1 || parent >= static_cast<std::int64_t>(i))
      refuse("the parent of document " + std::to_string(i) + " to be an earlier one or -1, got " +
             std::to_string(parent));
    if (parent >= 0) {
      const auto& before = places[static_cast<std::size_t>(parent)];
      place.position = before.position + before.own.count;
      place.seen = before.seen;
      place.seen.push_back(before.own);
    }
    if (place.own.count < 1 || place.own.count > config.max_positions - place.position)
      refuse("documents of 1 to " + std::to_string(config.max_positions) +
             " tokens, what they go on from included, got " +
             std::to_string(place.position + place.own.count));
    total += place.own.count;
  }
  if (total != static_cast<std::int64_t>(tokens.ids.size()) || total == 0)
    refuse("documents of " + std::to_string(tokens.ids.size()) + " tokens together, got " +
           std::to_string(total));
  check_ids(config, tokens.ids);
  return places;
}

}  // namespace troupe::llm
