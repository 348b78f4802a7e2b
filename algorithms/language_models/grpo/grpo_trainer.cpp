#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_trainer.hpp"

#include <optional>

#include "actors/weights/give_weights.hpp"

namespace troupe {

task<std::int64_t> push_weights(service<grpo_trainer> from, service<llm::generator> to,
                                std::shared_ptr<loops::update_gate> gate) {
  std::optional<loops::update_gate::closure> closed;
  if (gate) closed.emplace(co_await gate->close());
  const auto fresh = co_await from.route<&grpo_trainer::publish>();
  co_await give_weights<&llm::generator::update>(std::move(to), fresh);
  co_return fresh.version;
}

}  // namespace troupe
