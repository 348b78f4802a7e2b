#pragma once
// The base of the learners of language models.

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "actors/llm/training/tuned_model.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/language_models/config.hpp"
#include "algorithms/language_models/lr_schedule.hpp"
#include "algorithms/learner/learner.hpp"

namespace troupe {

/// A learner of a model by AdamW. It trains all weights, or adapters beside them. The step size
/// follows the number of updates. The state has no weights, as the run keeps those that act.
template <class Batch, class Report = learner_report>
class language_model_learner : public learner<Batch, Report> {
 public:
  void visit_state(state_visitor& visit) override {
    any_learner::visit_state(visit);
    visit("optimizer", optimizer_);
  }

 protected:
  language_model_learner(const char* name, llm::tuned_model model,
                         const language_model_options& options, const lr_schedule& lr,
                         std::uint64_t seed)
      : learner<Batch, Report>(name, {.lr = lr.lr, .max_skipped_steps = options.max_skipped_steps},
                               seed),
        lr_(lr),
        model_(std::move(model)),
        optimizer_(trained().size(), options.adam(),
                   model_.adapters() ? std::vector<parameter_range>()
                                     : undecayed_in(model_.config(), options.weight_decay_of)) {}

  const llm::tuned_model& model() const { return model_; }
  /// Takes another model of the same shape. The optimiser stays.
  void set_model(llm::tuned_model model) { model_ = std::move(model); }
  adam& optimizer() { return optimizer_; }

  /// A view of a contiguous block of floats.
  static std::span<float> floats_of(const at::Tensor& block) {
    return {block.template data_ptr<float>(), static_cast<std::size_t>(block.numel())};
  }
  /// The block that is trained: the weights [P], or the adapters [A].
  std::span<float> trained() const { return floats_of(model_.trained()); }
  /// Sets the gradient to 0, to which backward() adds.
  void clear_gradient() const { at::Tensor(model_.gradient()).zero_(); }
  /// Takes a step down the gradient of `loss` and returns its norm before clipping. A loss that
  /// isn't finite is returned instead. If the result isn't finite, the step is skipped and the
  /// weights stay as they are.
  double take_step(double loss) {
    if (!std::isfinite(loss)) {
      this->skip_step("loss", loss);
      return loss;
    }
    const double norm =
        optimizer_.step(trained(), floats_of(model_.gradient()), this->report().learning_rate);
    if (std::isfinite(norm)) {
      this->took_step();
    } else {
      this->skip_step("gradient norm", norm);
    }
    return norm;
  }

 private:
  double scheduled_lr(double) const final { return lr_.at(this->n_updates() - 1); }

  lr_schedule lr_;
  llm::tuned_model model_;
  adam optimizer_;
};

}  // namespace troupe
