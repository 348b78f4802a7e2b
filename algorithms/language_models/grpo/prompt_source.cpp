#include "algorithms/language_models/grpo/prompt_source.hpp"

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"

namespace troupe {

prompt_source::prompt_source(std::vector<llm::problem> problems, bool shuffle, std::uint64_t seed)
    : problems_(dataset<llm::problem>::shared(std::move(problems))),
      options_{.shuffle = shuffle, .seed = seed},
      items_({}, problems_, options_) {}

prompt_draw prompt_source::next() {
  return {items_.next(), derived_seed(options_.seed, "prompt", {drawn_++})};
}

void prompt_source::rewind(std::uint64_t seed) {
  options_.seed = seed;
  items_ = dataset<llm::problem>({}, problems_, options_);
  drawn_ = 0;
}

namespace {

struct prompt_source_state {
  std::string items;
  std::uint64_t drawn;
};

}  // namespace

std::string prompt_source::save() const {
  return state_bytes(prompt_source_state{items_.save(), drawn_});
}

void prompt_source::restore(std::string bytes) {
  auto state = state_of<prompt_source_state>(bytes);
  items_.restore(std::move(state.items));
  drawn_ = state.drawn;
}

}  // namespace troupe
