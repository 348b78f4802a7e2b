#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_evaluation.hpp"

#include <fmt/format.h>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "algorithms/language_models/grpo/grpo.hpp"
#include "algorithms/language_models/grpo/grpo_defaults.hpp"

namespace troupe {

namespace {

at::Tensor parameters_of(const std::filesystem::path& model, const llm::model_config& expected) {
  const auto read = llm::read_model(model);
  if (llm::to_config_json(read.config) != llm::to_config_json(expected))
    throw std::invalid_argument(model.string() + ": expected the network of the run, got another");
  return llm::flatten_weights(read.config, read.weights);
}

}  // namespace

namespace {

evaluation evaluate_parts(grpo_config config, std::vector<grpo_part> parts,
                          const std::filesystem::path& model, std::size_t problems) {
  // The folder has the tokenizer and the template, too. The run's first model may be gone by now.
  if (!config.model.path.empty()) config.model.path = model.string();
  // A recording has the programs of its run alone, and others take an amount of time that no seed
  // decides.
  for (auto& part : parts) {
    if (!runs_code(part) || part.config.task.replay.empty()) continue;
    part.config.task.replay.clear();
    part.config.deterministic = config.deterministic = false;
  }
  config = completed(std::move(config), parts);
  for (const auto& part : parts) {
    const auto most = static_cast<std::size_t>(detail::most_evaluated(part.task, part.config));
    const bool endless = part.task.is_played() && !part.task.file();
    if (problems < 1 || (problems > most && !endless))
      throw std::invalid_argument(fmt::format(
          "problems: expected 1 to {} problems, as many as are held out and not asked during "
          "training, got {}",
          most, problems));
    detail::check_options(part.task, part.config);
  }
  system sys({.deterministic = config.deterministic, .seed = config.seed});
  training_run in(sys, {.settings = detail::settings_of(config, parts), .make = {}, .check = {}},
                  {}, {});
  grpo evaluation_run(in, std::move(config), std::move(parts));
  const weights of{0, parameters_of(model, evaluation_run.format().config), {}};
  return sys.run(evaluation_run.evaluate_alone(of, problems));
}

}  // namespace

evaluation evaluate_model(grpo_config config, const std::filesystem::path& model,
                          std::size_t problems) {
  auto parts = parts_of(config);
  return evaluate_parts(std::move(config), std::move(parts), model, problems);
}

evaluation evaluate_model(grpo_config config, const grpo_task& task,
                          const std::filesystem::path& model, std::size_t problems) {
  config.task.name = task.name();
  auto part = part_of(config, task);
  return evaluate_parts(std::move(config), {std::move(part)}, model, problems);
}

}  // namespace troupe
