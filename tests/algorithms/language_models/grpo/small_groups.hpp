#pragma once
// A model of a few hundred weights, and groups of answers that it gave. Comes after
// actors/torch/torch.hpp.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/tasks/letters_model.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/language_models/grpo/grpo_learner.hpp"

namespace troupe {

inline llm::model_config small_model() {
  auto config = llm::letters_model();
  config.hidden_size = 32;
  config.intermediate_size = 48;
  config.layers = 2;
  config.heads = config.kv_heads = 2;
  config.head_dim = 16;
  return config;
}

inline at::Tensor small_weights(std::uint64_t seed = 3) {
  const auto config = small_model();
  return 3 * llm::flatten_weights(config, llm::random_weights(config, seed));
}

/// Random answers with random rewards of 0 and 1; `given` says how likely the weights find each
/// token.
inline std::vector<answer_group> random_groups(int groups, int answers, const at::Tensor& given,
                                               std::uint64_t seed = 1) {
  const auto config = small_model();
  action_random random(seed);
  const auto draw = [&](std::size_t count) {
    std::vector<llm::token_id> ids(count);
    for (auto& id : ids) id = static_cast<llm::token_id>(random.below(22));
    return ids;
  };
  std::vector<answer_group> made(static_cast<std::size_t>(groups));
  for (auto& group : made) {
    group.prompt = draw(2 + random.below(4));
    llm::token_group tokens{group.prompt, {}};
    for (int i = 0; i < answers; ++i) tokens.answers.push_back(draw(1 + random.below(5)));
    const at::NoGradGuard no_grad;
    const auto scores = llm::answer_log_probs(config, llm::weights_in(config, given), {&tokens, 1});
    const float* next = scores.data_ptr<float>();
    for (int i = 0; i < answers; ++i) {
      const auto& ids = tokens.answers[std::size_t(i)];
      const double reward = i == 0 ? 1.0 : i == 1 ? 0.0 : double(random.below(2));
      group.answers.push_back({.tokens = ids,
                               .log_probs = {next, next + ids.size()},
                               .text = {},
                               .truncated = false,
                               .reward = reward,
                               .right = reward});
      next += ids.size();
    }
  }
  return made;
}

}  // namespace troupe
