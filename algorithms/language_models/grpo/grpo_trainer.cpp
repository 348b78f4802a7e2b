#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_trainer.hpp"

#include <optional>

namespace troupe {

task<std::int64_t> push_weights(service<grpo_trainer> from, service<llm::generator> to,
                                std::shared_ptr<loops::update_gate> gate) {
  std::optional<loops::update_gate::closure> closed;
  if (gate) closed.emplace(co_await gate->close());
  const auto fresh = co_await from.route<&grpo_trainer::publish>();
  const auto everyone = to.with({.priority = priority::control});
  const auto settled = co_await everyone.fanout_settled<&llm::generator::update>(fresh);
  for (const auto& one : settled) {
    if (!one.ok() && !is_kind(one.error(), error_kind::replica_lost))
      std::rethrow_exception(one.error());
  }
  co_return fresh.version;
}

}  // namespace troupe
