#include "actors/replay/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/checkpoint/state.hpp"
#include "actors/replay/arrival_selector.hpp"
#include "actors/replay/heap_selector.hpp"
#include "actors/replay/prioritised_selector.hpp"
#include "actors/replay/uniform_selector.hpp"

namespace troupe {

void check_priority(double priority) {
  if (!(priority >= 0 && std::isfinite(priority))) {
    throw std::invalid_argument(
        fmt::format("replay: priority: expected a finite number >= 0, got {}", priority));
  }
}

void selector::insert(std::uint64_t key, double priority) {
  check_priority(priority);
  do_insert(key, priority);
}

void selector::update(std::uint64_t key, double priority) {
  check_priority(priority);
  do_update(key, priority);
}

selector::selection selector::select() {
  if (size() == 0) throw std::logic_error("selector: select: expected at least one key, got none");
  return do_select();
}

void selector::save(state_writer& to, std::string_view name) const {
  to.put(fmt::format("{}_keys", name), keys());
  if (!random_) return;
  const auto& state = random_->state();
  to.put(fmt::format("{}_random", name), std::vector<std::uint64_t>(state.begin(), state.end()));
}

void selector::restore(const state_reader& from, std::string_view name,
                       const std::function<double(std::uint64_t key)>& priority_of) {
  const auto keys_name = fmt::format("{}_keys", name);
  const auto random_name = fmt::format("{}_random", name);
  for (const auto key : from.get<std::vector<std::uint64_t>>(keys_name)) {
    insert(key, priority_of(key));
  }
  if (!random_ || !from.has(random_name)) return;
  const auto words = from.get<std::vector<std::uint64_t>>(random_name);
  action_random::state_type state{};
  if (words.size() != state.size() || std::ranges::count(words, 0u) == std::ssize(words)) {
    throw state_error(fmt::format("saved state: {}: expected {} words, not all of them 0",
                                  random_name, state.size()));
  }
  std::ranges::copy(words, state.begin());
  random_->set_state(state);
}

std::unique_ptr<selector> make_selector(const selector_options& options, std::uint64_t seed) {
  switch (options.order) {
    case selection_order::uniform:
      return std::make_unique<uniform_selector>(seed);
    case selection_order::prioritised:
      return std::make_unique<prioritised_selector>(options.exponent, seed);
    case selection_order::fifo:
      return std::make_unique<arrival_selector>(arrival::first);
    case selection_order::lifo:
      return std::make_unique<arrival_selector>(arrival::last);
    case selection_order::min_heap:
      return std::make_unique<heap_selector>(heap_top::lowest);
    case selection_order::max_heap:
      return std::make_unique<heap_selector>(heap_top::highest);
  }
  throw std::invalid_argument(fmt::format(
      "selector: order: expected one of selection_order, got {}", static_cast<int>(options.order)));
}

}  // namespace troupe
