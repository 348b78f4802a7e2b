#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_trainer.hpp"

#include <optional>

#include "algorithms/run/trainer_role.hpp"

namespace troupe {

task<std::int64_t> push_weights(service<grpo_trainer> from, service<llm::generator> to,
                                std::shared_ptr<loops::update_gate> gate) {
  std::optional<loops::update_gate::closure> closed;
  if (gate) closed.emplace(co_await gate->close());
  co_return co_await push_to<&llm::generator::update>(std::move(from), std::vector{std::move(to)});
}

}  // namespace troupe
