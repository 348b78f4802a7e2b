#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/learner/micro_batches.hpp"
#include "algorithms/losses/overlong_reward.hpp"

namespace troupe {

struct grpo_learner::row {
  llm::token_group group;  // one group, with the parts of the answers that are trained on
  std::vector<std::int64_t> lengths = {};    // the sampled tokens of each answer, of all its parts
  std::vector<std::size_t> of_answer = {};   // which answers of the group these are
  std::int64_t answers = 0;                  // all answers, also those that aren't trained on
  std::int64_t length_max = 0;               // the most tokens of an answer of the group's task
  at::Tensor behaviour = {};                 // [T]
  at::Tensor advantage = {};                 // [N]
  at::Tensor proximal = {}, reference = {};  // [T]; undefined if not needed

  /// The number of answers that are trained on.
  std::int64_t trained_answers() const { return std::ssize(lengths); }
  std::int64_t sampled_tokens() const {
    return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  }
  /// The number of tokens that go through the model, including those that were read.
  std::int64_t tokens() const {
    std::size_t all = group.prompt.size();
    for (const auto& each : group.answers) all += each.size();
    return std::int64_t(all);
  }
};

namespace {

void check(const answer_group& group) {
  if (group.prompt.empty())
    throw std::invalid_argument("grpo: expected groups with a prompt, got one without tokens");
  const auto check_part = [](const auto& part) {
    auto sampled = std::int64_t(part.tokens.size());
    for (const auto& range : part.read) sampled -= range.end - range.begin;
    if (sampled < 1 || sampled != std::int64_t(part.log_probs.size()))
      throw std::invalid_argument(fmt::format(
          "grpo: expected answers with tokens that were sampled and a log-probability each, got {} "
          "and {}",
          sampled, part.log_probs.size()));
  };
  for (const auto& a : group.answers) {
    for (const auto& part : a.earlier) check_part(part);
    check_part(a);
  }
}

at::Tensor floats(const std::vector<float>& numbers) { return at::tensor(numbers, at::kFloat); }

std::span<float> numbers_in(const at::Tensor& block) {
  return {block.data_ptr<float>(), static_cast<std::size_t>(block.numel())};
}

// Adds `more`, the means over this many tokens, to sums that `divide` turns into means.
void add_weighted(grpo_loss_metrics& sum, const grpo_loss_metrics& more, double tokens) {
  sum.ratio += more.ratio * tokens;
  sum.approx_kl += more.approx_kl * tokens;
  sum.clip_low += more.clip_low * tokens;
  sum.clip_high += more.clip_high * tokens;
  sum.weight += more.weight * tokens;
  sum.out_of_range += more.out_of_range * tokens;
  sum.kl += more.kl * tokens;
  sum.entropy += more.entropy * tokens;
}

void divide(grpo_loss_metrics& sum, double tokens) {
  for (auto* of : {&sum.ratio, &sum.approx_kl, &sum.clip_low, &sum.clip_high, &sum.weight,
                   &sum.out_of_range, &sum.kl, &sum.entropy}) {
    *of /= tokens;
  }
}

}  // namespace

// A new model of these weights and adapters.
llm::tuned_model grpo_learner::adapted(at::Tensor base, at::Tensor adapters) const {
  return {model_.config, std::move(base), *lora_, std::move(adapters)};
}

grpo_learner::grpo_learner(grpo_model model, const grpo_options& options, grpo_start start,
                           std::uint64_t seed)
    : model_(std::move(model)),
      options_(checked_options(options, "grpo")),
      loss_(options.loss()),
      lora_(options.lora.adapters()),
      adapter_seed_(derived_seed(seed, "adapters")),
      first_(lora_ ? start.parameters : at::Tensor()),
      tuned_(lora_ ? adapted(first_, llm::initial_adapters(model_.config, *lora_, adapter_seed_))
                   : llm::tuned_model(model_.config, start.parameters.clone())),
      merged_(lora_ ? tuned_.merged() : at::Tensor()),
      optimizer_(static_cast<std::size_t>(tuned_.trained().numel()), options.adam(),
                 lora_ ? std::vector<parameter_range>()
                       : undecayed_in(model_.config, options.weight_decay_of)),
      random_(seed),
      skips_("grpo", options.max_skipped_steps) {
  if (start.moments.step > 0 && !lora_) optimizer_.set_state(std::move(start.moments));
  if (options.penalty() == 0.0) return;
  reference_parameters_ = lora_ ? first_ : start.parameters.clone();
  reference_ = llm::weights_in(model_.config, reference_parameters_);
}

void grpo_learner::set_model(llm::tuned_model model) {
  tuned_ = std::move(model);
  merged_ = tuned_.merged();
}

void grpo_learner::load_parameters(const at::Tensor& parameters) {
  const at::NoGradGuard no_grad;
  llm::check_flat(parameters, this->parameters().numel(), "grpo: parameters");
  if (!lora_) {
    at::Tensor(tuned_.trained()).copy_(parameters);
  } else if (!at::equal(parameters, merged_)) {
    set_model(
        adapted(parameters.clone(), llm::initial_adapters(model_.config, *lora_, adapter_seed_)));
  }
}

llm::token_scores grpo_learner::scores_of(rows some, const scored_by& by, bool entropy) const {
  std::vector<llm::token_group> groups;
  for (const auto* each : some) groups.push_back(each->group);
  return llm::answer_scores(model_.config, by.weights, groups,
                            {.forward = {.adapters = by.adapters},
                             .log_probs = {.temperature = model_.temperature, .entropy = entropy}});
}

// Splits the rows into micro-batches of whole groups.
std::vector<grpo_learner::rows> grpo_learner::micro_batches(rows all) const {
  return detail::micro_batches(all, options_.micro_tokens,
                               [](const row* each) { return each->tokens(); });
}

// Fills one member of all rows with log-probabilities, by a forward pass without gradient.
void grpo_learner::fill(std::vector<row>& all, const scored_by& by, at::Tensor row::* which) const {
  const at::NoGradGuard no_grad;
  std::vector<const row*> in_order;
  std::vector<row*> filled;
  for (auto& each : all) {
    if (each.lengths.empty()) continue;
    in_order.push_back(&each);
    filled.push_back(&each);
  }
  auto next = filled.begin();
  for (const auto& some : micro_batches(in_order)) {
    const auto found = scores_of(some, by).log_probs;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < some.size(); ++i, ++next) {
      const auto count = (*next)->sampled_tokens();
      (*next)->*which = found.narrow(0, begin, count);
      begin += count;
    }
  }
}

// The rewards with the cost of an answer's length, and less the KL penalty where kl_in is reward.
std::vector<group_rewards> grpo_learner::rewards_of(const batch& given, grpo_report& report) const {
  std::vector<group_rewards> rewards;
  for (const auto& group : given.groups) {
    auto& of_group = rewards.emplace_back();
    const auto length_max = model_.length_max(group.task);
    const auto cache = options_.overlong_tokens(length_max);
    for (const auto& a : group.answers) {
      const double cost = overlong_reward(a.sampled_tokens(), length_max, cache);
      report.overlong_reward += cost / static_cast<double>(report.answers);
      of_group.emplace_back(a.reward + cost);
    }
    if (options_.penalty() == 0.0 || options_.kl_in == kl_place::loss || group.answers.empty())
      continue;
    const at::NoGradGuard no_grad;
    std::vector<row> one{row_of(group, std::vector<double>(group.answers.size()), false)};
    fill(one, reference_policy(), &row::reference);
    const auto kl = kl_of_answers(one[0].behaviour, one[0].reference, token_rows(one[0].lengths));
    for (std::size_t i = 0; i < one[0].of_answer.size(); ++i) {
      const double of_answer = kl[std::int64_t(i)].item<double>();
      *of_group[one[0].of_answer[i]] -= options_.penalty() * of_answer;
      report.kl_reward += of_answer / static_cast<double>(report.answers);
    }
  }
  return rewards;
}

grpo_learner::row grpo_learner::row_of(const answer_group& group,
                                       const std::vector<double>& advantages, bool mask_truncated) {
  row made{.group = {.prompt = group.prompt, .answers = {}}, .answers = std::ssize(group.answers)};
  std::vector<float> behaviour, kept;
  for (std::size_t i = 0; i < group.answers.size(); ++i) {
    const auto& a = group.answers[i];
    if (mask_truncated && a.truncated) continue;
    const auto add = [&](const auto& part) {
      made.group.answers.push_back(part.tokens);
      made.group.read.push_back(part.read);
      behaviour.insert(behaviour.end(), part.log_probs.begin(), part.log_probs.end());
    };
    for (const auto& part : a.earlier) add(part);
    add(a);
    // The parts go through the model by themselves, and are one answer in the loss.
    made.lengths.push_back(a.sampled_tokens());
    made.of_answer.push_back(i);
    kept.push_back(static_cast<float>(advantages[i]));
  }
  made.behaviour = floats(behaviour);
  made.advantage = floats(kept);
  return made;
}

std::vector<grpo_learner::row> grpo_learner::rows_of(const batch& given,
                                                     grpo_report& report) const {
  auto found =
      advantages_of(rewards_of(given, report), options_.advantages(), options_.advantage_eps);
  std::vector<row> made;
  for (std::size_t g = 0; g < given.groups.size(); ++g) {
    // By the task's reward alone, as the episode judges a group that is refilled.
    const bool flat = given.groups[g].has_zero_variance();
    report.zero_variance_groups += flat;
    if (flat && options_.zero_variance_rule_used() != zero_variance_rule::keep) continue;
    made.push_back(row_of(given.groups[g], found[g], options_.mask_truncated));
    made.back().length_max = model_.length_max(given.groups[g].task);
  }
  report.advantages = std::move(found);
  return made;
}

// Takes one optimiser step. The loss is divided by the totals of the whole minibatch, so that the
// gradients of its micro-batches add up. As in TRL (mask_truncated_completions) an answer that
// isn't trained on counts as an answer in the divisor, but its tokens do not count.
void grpo_learner::step_on(rows minibatch, grpo_report& report) {
  loss_divisor whole{.length_max = minibatch.front()->length_max};
  const bool alike = std::ranges::all_of(
      minibatch, [&](const row* each) { return each->length_max == whole.length_max; });
  std::vector<const row*> trained;
  for (const auto* each : minibatch) {
    whole.tokens += each->sampled_tokens();
    whole.answers += each->answers;
    if (!each->lengths.empty()) trained.push_back(each);
  }
  if (trained.empty()) return;
  tuned_.gradient().zero_();
  double loss = 0.0;
  for (const auto& some : micro_batches(trained)) {
    std::vector<std::int64_t> lengths, lengths_max;
    std::vector<at::Tensor> behaviour, proximal, reference, advantage;
    for (const auto* each : some) {
      lengths.insert(lengths.end(), each->lengths.begin(), each->lengths.end());
      lengths_max.insert(lengths_max.end(), each->lengths.size(), each->length_max);
      behaviour.push_back(each->behaviour);
      advantage.push_back(each->advantage);
      if (each->proximal.defined()) proximal.push_back(each->proximal);
      if (each->reference.defined()) reference.push_back(each->reference);
    }
    const auto scores = scores_of(some, policy(), loss_.entropy_coef != 0.0);
    const grpo_loss_inputs in{
        .rows = token_rows(std::move(lengths)),
        .log_prob = scores.log_probs,
        .behaviour = at::cat(behaviour),
        .proximal = proximal.empty() ? at::Tensor() : at::cat(proximal),
        .reference = reference.empty() ? at::Tensor() : at::cat(reference),
        .advantage = at::cat(advantage),
        .entropy = scores.entropy,
        .length_max = alike ? at::Tensor() : at::tensor(lengths_max).to(at::kFloat)};
    const auto result = grpo_loss(in, loss_, whole);
    result.loss.backward();
    loss += result.metrics.loss;
    add_weighted(report.loss, result.metrics, double(in.rows.tokens()));
    report.trained_tokens += in.rows.tokens();
  }
  ++report.steps;
  if (!std::isfinite(loss)) {
    ++report.skipped_steps;
    return skips_.skipped("loss", loss);
  }
  const double norm = optimizer_.step(numbers_in(tuned_.trained()), numbers_in(tuned_.gradient()),
                                      report.learning_rate);
  if (!std::isfinite(norm)) {
    ++report.skipped_steps;
    return skips_.skipped("gradient's norm", norm);
  }
  skips_.taken();
  report.loss.loss += loss;
  report.grad_norm += norm;
}

namespace {

/// The part of the report that is known before the batch is trained on.
grpo_report counted(const grpo_learner::batch& given) {
  grpo_report report;
  double tokens = 0, log_probs = 0;
  for (const auto& group : given.groups) {
    check(group);
    ++report.groups;
    report.answers += std::int64_t(group.answers.size());
    group_rewards rewards;
    for (const auto& a : group.answers) {
      rewards.emplace_back(a.reward);
      report.reward_mean += a.reward;
      report.right_mean += a.right;
      report.truncated += a.truncated;
      tokens += double(a.sampled_tokens());
      for (const auto& part : a.earlier)
        for (const float each : part.log_probs) log_probs += each;
      for (const float each : a.log_probs) log_probs += each;
    }
    report.reward_std += reward_std(rewards);
  }
  const double answers = std::max(1.0, double(report.answers));
  report.reward_mean /= answers;
  report.reward_std /= std::max(1.0, double(report.groups));
  report.right_mean /= answers;
  report.length_mean = tokens / answers;
  report.entropy = -log_probs / std::max(1.0, tokens);
  return report;
}

}  // namespace

// The step size of get_linear_schedule_with_warmup or get_constant_schedule_with_warmup of
// transformers: 0 at the first update of a warm-up, and lr at the first update after it.
double grpo_learner::learning_rate() const {
  const double lr = options_.lr.value_or(model_.lr);
  const std::int64_t warmup = options_.warmup_updates.value_or(0);
  if (updates_ < warmup) return lr * double(updates_) / double(warmup);
  if (model_.updates == 0) return lr;
  const auto falling = double(std::max<std::int64_t>(1, model_.updates - warmup));
  const double remaining = 1.0 - double(updates_ - warmup) / falling;
  return annealed(lr, options_.lr_schedule, std::max(0.0, remaining));
}

grpo_report grpo_learner::update(const batch& given, double, std::optional<double> chosen_lr) {
  auto report = counted(given);
  report.learning_rate = chosen_lr.value_or(learning_rate());
  ++updates_;

  auto all = rows_of(given, report);
  for (const auto& each : all) report.trained_answers += each.trained_answers();
  if (report.trained_answers > 0) train_on(all, report);
  refresh_reference();
  return report;
}

// Takes the optimiser steps on a batch of which something is trained on.
void grpo_learner::train_on(std::vector<row>& all, grpo_report& report) {
  report.loss.ratio = report.loss.weight = 0.0;  // these are sums until `divide`
  if (options_.recomputes()) fill(all, policy(), &row::proximal);
  if (loss_.kl_coef != 0.0) fill(all, reference_policy(), &row::reference);

  const auto parts = std::min(std::size_t(options_.minibatches), all.size());
  std::vector<const row*> order;
  for (const auto& each : all) order.push_back(&each);
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    if (parts > 1) {  // Fisher and Yates
      for (std::size_t i = order.size() - 1; i > 0; --i)
        std::swap(order[i], order[random_.below(i + 1)]);
    }
    for (std::size_t part = 0; part < parts; ++part) {
      const auto begin = part * order.size() / parts, end = (part + 1) * order.size() / parts;
      step_on(rows(order).subspan(begin, end - begin), report);
    }
  }
  divide(report.loss, double(report.trained_tokens));
  const double finite = std::max<double>(1.0, double(report.steps - report.skipped_steps));
  report.loss.loss /= finite;
  report.grad_norm /= finite;
  if (lora_) merged_ = tuned_.merged();
}

// Mixes the reference with the current weights where it is time for it. This is the soft update of
// TR-DPO, Gorbatovski et al. 2024, arXiv:2404.09656, with the penalty of GRPO.
void grpo_learner::refresh_reference() {
  if (!options_.refreshes_reference() || updates_ % options_.reference_every_updates != 0) return;
  const at::NoGradGuard no_grad;
  const double share = options_.reference_mixup;
  reference_parameters_.mul_(1.0 - share).add_(parameters(), share);
}

grpo_learner_state grpo_learner::state() const {
  return {.optimizer = optimizer_.state(),
          .random = random_.state(),
          .updates = updates_,
          .skipped_in_a_row = skips_.in_a_row(),
          .reference = options_.refreshes_reference() ? reference_parameters_ : at::Tensor(),
          .adapters = lora_ ? tuned_.trained() : at::Tensor(),
          .base = lora_ && !tuned_.base().is_same(first_) ? tuned_.base() : at::Tensor()};
}

void grpo_learner::set_state(grpo_learner_state state) {
  const at::NoGradGuard no_grad;
  if (options_.refreshes_reference()) {
    llm::check_flat(state.reference, reference_parameters_.numel(), "grpo: reference");
    reference_parameters_.copy_(state.reference);
  }
  if (lora_) {
    llm::check_flat(state.adapters, tuned_.trained().numel(), "grpo: adapters");
    set_model(adapted(state.base.defined() ? state.base : first_, state.adapters.clone()));
  }
  optimizer_.set_state(std::move(state.optimizer));
  random_.set_state(state.random);
  updates_ = state.updates;
  skips_.set_in_a_row(state.skipped_in_a_row);
}

std::string grpo_learner::save() const { return state_bytes(state()); }

void grpo_learner::restore(const std::string& bytes) { restore_state(*this, bytes); }

}  // namespace troupe
