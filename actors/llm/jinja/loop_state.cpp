#include "actors/llm/jinja/loop_state.hpp"

#include "actors/llm/jinja/operations.hpp"

namespace troupe::llm::jinja {

value loop_state::attribute(machine& run, std::string_view name) {
  if (name == "index") return index_ + 1;
  if (name == "index0") return index_;
  if (name == "first") return index_ == 0;
  if (name == "last") return peek(0) == nullptr;
  if (name == "length") {
    run.work(items_.size());
    return length();
  }
  if (name == "revindex") return length() - index_;
  if (name == "revindex0") return length() - index_ - 1;
  // They count the levels of recursive loops, which aren't known here.
  if (name == "depth") return 1;
  if (name == "depth0") return 0;
  if (name == "previtem")
    return previous_ ? *previous_ : value(undefined{"loop.previtem of the first item"});
  if (name == "nextitem") {
    const auto* following = peek(0);
    return following ? *following : value(undefined{"loop.nextitem of the last item"});
  }
  fail("the field " + std::string(name) + " of loop isn't known");
}

value loop_state::cycle(const given_arguments& given) const {
  if (given.positional.empty() || !given.named.empty()) fail("loop.cycle: expected values");
  return given.positional[static_cast<std::size_t>(index_) % given.positional.size()];
}

bool loop_state::changed(machine& run, const given_arguments& given) {
  const auto& now = given.positional;
  bool same = last_changed_ && last_changed_->size() == now.size();
  for (std::size_t i = 0; same && i < now.size(); ++i)
    same = equal(run, (*last_changed_)[i], now[i]);
  if (!same) last_changed_ = now;
  return !same;
}

}  // namespace troupe::llm::jinja
