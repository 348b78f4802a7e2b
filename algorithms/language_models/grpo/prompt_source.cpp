#include "algorithms/language_models/grpo/prompt_source.hpp"

#include "actors/derived_seed.hpp"

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

std::string prompt_source::save() const {
  state_writer to;
  to.put("items", items_.save());
  to.put("drawn", drawn_);
  return to.bytes();
}

void prompt_source::restore(std::string bytes) {
  const state_reader from(bytes);
  items_.restore(from.get<std::string>("items"));
  from.get("drawn", drawn_);
}

}  // namespace troupe
