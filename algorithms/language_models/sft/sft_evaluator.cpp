#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft_evaluator.hpp"

#include <numeric>

#include "actors/llm/model/flat_weights.hpp"

namespace troupe {

at::Tensor sft_network::merged(const at::Tensor& trained) const {
  return adapters ? llm::merge_adapters(config, *adapters, base, trained) : trained;
}

std::vector<double> sft_evaluator::losses(weights of, std::vector<sft_example> some) const {
  const auto& [config, options, adapters, base] = network_;
  if (!adapters) {
    const auto all = llm::weights_in(config, of.parameters);
    return losses_of({config, all}, some, options);
  }
  const auto all = llm::weights_in(config, base);
  const auto beside = llm::adapters_in(config, *adapters, of.parameters);
  return losses_of({config, all, &beside}, some, options);
}

evaluation score_of_losses(const std::vector<sft_example>& examples,
                           const std::vector<double>& losses, std::int64_t version) {
  std::vector<evaluated_episode> scores;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto tokens = double(examples[i].answer.size());
    scores.push_back({-losses[i] / tokens, tokens});
  }
  auto made = summarise(scores, version);
  made.mean = -std::accumulate(losses.begin(), losses.end(), 0.0) / double(answer_tokens(examples));
  return made;
}

}  // namespace troupe
