#include "algorithms/language_models/grpo/prompt_source.hpp"

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"

namespace troupe {

prompt_source::prompt_source(std::function<source(std::uint64_t)> make, std::uint64_t seed)
    : make_(std::move(make)), seed_(seed), items_(make_(seed)) {}

prompt_source::prompt_source(std::vector<llm::problem> problems, bool shuffle, std::uint64_t seed)
    : prompt_source(
          [problems = dataset<llm::problem>::shared(std::move(problems)), shuffle](auto seed) {
            const dataset_options options{.shuffle = shuffle, .seed = seed};
            return source(dataset<llm::problem>({}, problems, options));
          },
          seed) {}

prompt_source::prompt_source(python_dataset_options items,
                             python_dataset<llm::problem>::maker to_problem, std::uint64_t seed)
    : prompt_source(
          [items = std::move(items), to_problem = std::move(to_problem)](std::uint64_t) {
            return source(python_dataset<llm::problem>(items, to_problem));
          },
          seed) {}

prompt_draw prompt_source::next() {
  auto asked = std::visit([](auto& items) { return items.next(); }, items_);
  return {std::move(asked), derived_seed(seed_, "prompt", {drawn_++})};
}

void prompt_source::rewind(std::uint64_t seed) {
  seed_ = seed;
  items_ = make_(seed);
  drawn_ = 0;
}

namespace {

struct prompt_source_state {
  std::string items;
  std::uint64_t drawn;
};

}  // namespace

std::string prompt_source::save() const {
  return state_bytes(prompt_source_state{
      std::visit([](const auto& items) { return items.save(); }, items_), drawn_});
}

void prompt_source::restore(std::string bytes) {
  auto state = state_of<prompt_source_state>(bytes);
  std::visit([&](auto& items) { items.restore(std::move(state.items)); }, items_);
  drawn_ = state.drawn;
}

}  // namespace troupe
