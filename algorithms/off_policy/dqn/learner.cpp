#include "algorithms/off_policy/dqn/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/dqn/rule.hpp"

namespace troupe {
namespace {

tensor_layout layout_for(const network_shape& shape, const dqn_options& options,
                         network_kind kind) {
  auto network = options.network;
  network.kind = kind;
  return layout_of(shape, network);
}

}  // namespace

dqn_learner::dqn_learner(const network_shape& shape, const dqn_options& options, std::uint64_t seed)
    : options_(checked_options(options, "dqn")),
      online_(shape, options.network,
              options.dueling ? network_kind::dueling_q_values : network_kind::q_values),
      target_(online_.parameters().size()),
      trained_("", target_.size(),
               {.eps = options.adam_eps,
                .max_grad_norm = options.max_grad_norm,
                .weight_decay = options.weight_decay},
               undecayed_in(layout_for(shape, options, online_.kind()), target_.size(),
                            options.weight_decay_of)),
      random_(seed),
      graph_(make_graph(options.backend, online_.stack())),
      guard_("dqn", options.max_skipped_steps) {
  online_.initialise(random_);
  std::ranges::copy(online_.parameters(), target_.begin());
}

dqn_metrics dqn_learner::update(const transition_batch& batch, double progress_remaining,
                                std::optional<double> chosen_lr) {
  check(batch, online_.shape());
  const detail::flush_denormals flush;
  graph_->clear();
  const auto [loss, q_mean, error] =
      dqn_loss(*graph_, online_.stack(), trained_.of(online_.parameters()), {target_}, batch,
               options_.dueling, options_.double_q);
  const auto errors = graph_->values(abs(error));
  td_errors_.assign(errors.begin(), errors.end());
  dqn_metrics metrics{.loss = graph_->number(loss),
                      .q_mean = graph_->number(q_mean),
                      .n_updates = ++n_updates_,
                      .learning_rate = chosen_lr.value_or(
                          annealed(options_.lr, options_.lr_schedule, progress_remaining))};
  const double norm = trained_.minimise(loss, online_.parameters(), metrics.learning_rate, guard_);
  metrics.skipped = std::isnan(norm);
  if (!metrics.skipped) {
    metrics.grad_norm = norm;
    guard_.taken();
  }
  return metrics;
}

void dqn_learner::update_target(std::int64_t times) {
  if (times == 0) return;
  // The online weights don't change in between, so one pass replaces all updates.
  const double stays = std::pow(1.0 - options_.tau, static_cast<double>(times));
  polyak_average(std::as_const(online_).parameters(), 1.0 - stays, target_);
}

void dqn_learner::start_from(std::span<const float> acting, const named_tensors&) {
  online_.load_parameters(acting);
  std::ranges::copy(acting, target_.begin());
}

template <class Self, class State, class Visit>
void dqn_learner::parts(Self& self, State& state, const Visit& visit) {
  visit("parameters", state.parameters, self.online_.parameters());
  visit("target", state.target, self.target_);
  visit("optimizer", state.optimizer, self.trained_.optimizer());
  visit("random", state.random, self.random_);
  visit("n_updates", state.n_updates, self.n_updates_);
  visit("skipped_in_a_row", state.skipped_in_a_row, self.guard_);
}

dqn_learner_state dqn_learner::state() const {
  return detail::saved_state<dqn_learner_state>(*this);
}

void dqn_learner::set_state(const dqn_learner_state& state) {
  detail::restore_state_parts("dqn", state, *this);
}

}  // namespace troupe
