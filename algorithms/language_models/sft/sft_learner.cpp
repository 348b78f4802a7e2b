#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft_learner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "actors/checkpoint/state_codec.hpp"

namespace troupe {
namespace {

std::span<float> floats(const at::Tensor& x) {
  return {x.data_ptr<float>(), std::size_t(x.numel())};
}

}  // namespace

sft_learner::sft_learner(llm::tuned_model model, const sft_options& options)
    : model_(std::move(model)),
      options_(checked_options(options, "sft")),
      optimizer_(std::size_t(model_.trained().numel()), options.adam(),
                 model_.adapters() ? std::vector<parameter_range>()
                                   : undecayed_in(model_.config(), options.weight_decay_of)),
      skips_("sft", options.max_skipped_steps) {}

sft_learner::sft_learner(llm::model_config config, const sft_options& options, at::Tensor start)
    : sft_learner(llm::tuned_model(std::move(config), start.clone()), options) {}

sft_learner::sft_learner(llm::model_config config, const sft_options& options, at::Tensor base,
                         llm::lora_options adapters, std::uint64_t seed)
    : sft_learner(
          llm::tuned_model(config, base, adapters, llm::initial_adapters(config, adapters, seed)),
          options) {}

void sft_learner::load_parameters(const at::Tensor& parameters) {
  const at::NoGradGuard off;
  llm::check_flat(parameters, this->parameters().numel(), "sft: parameters");
  at::Tensor(this->parameters()).copy_(parameters);
}

sft_model sft_learner::model() const {
  return {model_.config(), model_.weights(), model_.adapters()};
}

sft_report sft_learner::update(const batch& given, double, std::optional<double> chosen_lr) {
  const auto& examples = given.examples;
  if (examples.empty()) throw std::invalid_argument("sft: expected a batch of examples, got none");
  sft_report report{.learning_rate = chosen_lr.value_or(learning_rate(options_, updates_))};
  report.answer_tokens = answer_tokens(examples);
  for (const auto& one : examples) report.prompt_tokens += std::int64_t(one.prompt.size());
  model_.gradient().zero_();
  for (const auto& some : micro_batches(examples, options_)) {
    const auto loss =
        -answer_log_probs(model(), some, options_).sum() / double(report.answer_tokens);
    loss.backward();
    report.loss += loss.item<double>();
    ++report.forward_passes;
  }
  const bool finite = std::isfinite(report.loss);
  report.grad_norm = finite ? optimizer_.step(floats(parameters()), floats(model_.gradient()),
                                              report.learning_rate)
                            : report.loss;
  report.skipped = !std::isfinite(report.grad_norm);
  if (report.skipped) {
    skips_.skipped(finite ? "gradient's norm" : "loss", report.grad_norm);
  } else {
    skips_.taken();
  }
  ++updates_;
  return report;
}

double sft_learner::loss_of(std::span<const sft_example> examples) const {
  if (examples.empty()) throw std::invalid_argument("sft: expected examples, got none");
  const auto losses = losses_of(model(), examples, options_);
  return std::accumulate(losses.begin(), losses.end(), 0.0) /
         static_cast<double>(answer_tokens(examples));
}

sft_learner_state sft_learner::state() const {
  return {
      .optimizer = optimizer_.state(), .updates = updates_, .skipped_in_a_row = skips_.in_a_row()};
}

void sft_learner::set_state(sft_learner_state state) {
  optimizer_.set_state(std::move(state.optimizer));
  updates_ = state.updates;
  skips_.set_in_a_row(state.skipped_in_a_row);
}

std::string sft_learner::save() const { return state_bytes(state()); }

void sft_learner::restore(const std::string& bytes) { restore_state(*this, bytes); }

}  // namespace troupe
