#include "actors/text/text_world.hpp"

#include <stdexcept>

namespace troupe {
task<text_step> text_world::reset(text_reset with) {
  auto now = co_await world_->reset(with);
  if (now.ended)
    throw std::runtime_error("text world: expected an episode that goes on after its reset");
  shown_ = now.shown;
  co_return now;
}

task<text_step> text_world::step(std::string reply) {
  auto now = co_await world_->step(std::move(reply));
  if (now.refused.empty()) {
    shown_ = now.shown;
    co_return now;
  }
  now.reward = options_.refusal_reward;
  now.ended = options_.refusal_ends;
  if (now.ended) world_->end_episode();
  // A model of letters can't read the reason.
  now.shown = {"That was no action: " + now.refused + ".\n" + shown_.words, shown_.letters};
  co_return now;
}

}  // namespace troupe
