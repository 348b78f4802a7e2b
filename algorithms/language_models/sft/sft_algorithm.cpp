#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft_algorithm.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "actors/recorder/score_text.hpp"
#include "algorithms/language_models/sft/sft_evaluator.hpp"
#include "algorithms/language_models/sft/sft_setup.hpp"

namespace troupe {

evaluation evaluate_model(sft_config config, const std::filesystem::path& model,
                          std::size_t examples) {
  // The folder has the tokenizer and the template, too. The run's first model may be gone by now.
  config.model.path = model.string();
  shared_sft_setup setup(config);
  const auto all = setup.get().judged(0).size();
  if (examples > all)
    throw std::invalid_argument(fmt::format(
        "examples: expected 1 to {} examples, as many as there are, got {}", all, examples));
  const auto judged = setup.get().judged(examples);
  config = completed(std::move(config), setup);
  const sft_evaluator evaluator({.config = setup.get().model.config, .options = config.learner()});
  const auto losses =
      evaluator.losses({0, starting_weights(config, setup.get().model), {}}, judged);
  return score_of_losses(judged, losses, 0);
}

named_algorithm sft_algorithm() {
  auto made = algorithm_of<sft_config>(
      "sft", "language models on examples: supervised fine-tuning, with or without LoRA");
  made.evaluate = [](const nlohmann::json& document, const run_permissions& may,
                     const std::filesystem::path& model, std::size_t examples) {
    const auto config = read_named_config(document, may, sft_config{});
    auto seen = evaluate_model(config, model, examples);
    auto verdict = fmt::format("a loss of {} (mean cross-entropy in nats) on {} {}",
                               score_text(-seen.mean), seen.returns.size(),
                               judges_training(config) ? "training examples" : "held-out examples");
    return model_evaluation{std::move(seen), std::move(verdict)};
  };
  return made;
}

}  // namespace troupe
