#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

void check_group(const answer_group& group) {
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

// As get_linear_schedule_with_warmup and get_constant_schedule_with_warmup of transformers: 0 at
// the first update of a warm-up, and lr at the first update after it.
lr_schedule lr_of(const grpo_options& options, const grpo_model& model) {
  return {.lr = options.lr.value_or(model.lr),
          .decay = options.lr_schedule == annealing::linear ? lr_decay::linear : lr_decay::constant,
          .warmup_updates = options.warmup_updates.value_or(0),
          .begins_at_zero = true,
          .total_updates = model.updates};
}

}  // namespace

/// The numbers of an update: those of the answers, and sums over tokens and over steps.
struct grpo_learner::figures {
  grpo_loss_metrics loss;
  double grad_norm = 0.0;
  double reward_mean = 0.0;
  double reward_std = 0.0;       // mean over groups of the standard deviation within each
  double right_mean = 0.0;       // mean of `right` over answers
  double length_mean = 0.0;      // mean length of an answer, in sampled tokens
  double entropy = 0.0;          // minus the mean log-probability of sampled tokens, when sampled
  double kl_reward = 0.0;        // mean k1 of an answer if kl_in is reward
  double overlong_reward = 0.0;  // mean change of the reward by an answer's length, at most 0
  std::int64_t groups = 0;
  std::int64_t zero_variance_groups = 0;
  std::int64_t answers = 0;
  std::int64_t truncated = 0;
  std::int64_t trained_answers = 0;
  std::int64_t trained_tokens = 0;

  explicit figures(const std::vector<answer_group>& of);
  std::vector<named_number> metrics() const;
};

// Counts what is known before the batch is trained on.
grpo_learner::figures::figures(const std::vector<answer_group>& of) {
  double tokens = 0, log_probs = 0;
  for (const auto& group : of) {
    ++groups;
    answers += std::ssize(group.answers);
    group_rewards rewards;
    for (const auto& a : group.answers) {
      rewards.emplace_back(a.reward);
      reward_mean += a.reward;
      right_mean += a.right;
      truncated += a.truncated;
      tokens += double(a.sampled_tokens());
      for (const auto& part : a.earlier)
        for (const float each : part.log_probs) log_probs += each;
      for (const float each : a.log_probs) log_probs += each;
    }
    reward_std += troupe::reward_std(rewards);
  }
  const double count = std::max(1.0, double(answers));
  reward_mean /= count;
  reward_std /= std::max(1.0, double(groups));
  right_mean /= count;
  length_mean = tokens / count;
  entropy = -log_probs / std::max(1.0, tokens);
}

std::vector<named_number> grpo_learner::figures::metrics() const {
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? double(part) / double(whole) : 0.0;
  };
  return {{"rollout/reward_mean", reward_mean},
          {"rollout/reward_std", reward_std},
          {"rollout/frac_reward_zero_std", share(zero_variance_groups, groups)},
          {"rollout/overlong_reward", overlong_reward},
          {"rollout/right_mean", right_mean},
          {"rollout/length_mean", length_mean},
          {"rollout/truncated_fraction", share(truncated, answers)},
          {"rollout/zero_variance_groups", double(zero_variance_groups)},
          {"train/loss", loss.loss},
          {"train/approx_kl", loss.approx_kl},
          {"train/clip_fraction", loss.clip_low + loss.clip_high},
          {"train/clip_fraction_low", loss.clip_low},
          {"train/clip_fraction_high", loss.clip_high},
          {"train/ratio", loss.ratio},
          {"train/importance_weight", loss.weight},
          {"train/importance_out_of_range", loss.out_of_range},
          {"train/kl_reference", loss.kl + kl_reward},
          {"train/entropy", entropy},
          {"train/token_entropy", loss.entropy},
          {"train/grad_norm", grad_norm},
          {"train/trained_answers", double(trained_answers)},
          {"train/trained_tokens", double(trained_tokens)}};
}

namespace {

std::uint64_t adapter_seed_of(std::uint64_t seed) { return derived_seed(seed, "adapters"); }

// The model as training begins: all its weights are trained, or adapters drawn from the seed.
llm::tuned_model first_model(const llm::model_config& config, const grpo_options& options,
                             const at::Tensor& start, std::uint64_t seed) {
  const auto lora = options.lora.adapters();
  if (!lora) return {config, start.clone()};
  return {config, start, *lora, llm::initial_adapters(config, *lora, adapter_seed_of(seed))};
}

}  // namespace

grpo_learner::grpo_learner(grpo_model model, const grpo_options& options, grpo_start start,
                           std::uint64_t seed)
    : language_model_learner(
          "grpo",
          first_model(model.config, checked_options(options, "grpo"), start.parameters, seed),
          options, lr_of(options, model), seed),
      sampled_by_(std::move(model)),
      options_(options),
      loss_(options.loss()),
      lora_(options.lora.adapters()),
      adapter_seed_(adapter_seed_of(seed)),
      first_(lora_ ? start.parameters : at::Tensor()),
      merged_(lora_ ? this->model().merged() : at::Tensor()) {
  if (start.moments.step > 0 && !lora_) optimizer().set_state(std::move(start.moments));
  if (options.penalty() == 0.0) return;
  reference_parameters_ = lora_ ? first_ : start.parameters.clone();
  reference_ = llm::weights_in(sampled_by_.config, reference_parameters_);
}

// Sets the weights beside adapters, and the adapters.
void grpo_learner::set_adapted(at::Tensor base, at::Tensor adapters) {
  set_model({sampled_by_.config, std::move(base), *lora_, std::move(adapters)});
  merged_ = model().merged();
}

void grpo_learner::start_from(std::span<const float> acting, const named_tensors&) {
  expect_size_of(acting);
  if (std::ranges::equal(acting, this->acting())) return;
  if (!lora_) {
    std::ranges::copy(acting, trained().begin());
  } else {
    set_adapted(at::tensor(at::ArrayRef<float>(acting.data(), acting.size()), at::kFloat),
                llm::initial_adapters(sampled_by_.config, *lora_, adapter_seed_));
  }
}

llm::token_scores grpo_learner::scores_of(rows some, const scored_by& by, bool entropy) const {
  std::vector<llm::token_group> groups;
  for (const auto* each : some) groups.push_back(each->group);
  return llm::answer_scores(
      sampled_by_.config, by.weights, groups,
      {.forward = {.adapters = by.adapters},
       .log_probs = {.temperature = sampled_by_.temperature, .entropy = entropy}});
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
std::vector<group_rewards> grpo_learner::rewards_of(const std::vector<answer_group>& groups,
                                                    figures& sums) const {
  std::vector<group_rewards> rewards;
  for (const auto& group : groups) {
    auto& of_group = rewards.emplace_back();
    const auto length_max = sampled_by_.length_max(group.task);
    const auto cache = options_.overlong_tokens(length_max);
    for (const auto& a : group.answers) {
      const double cost = overlong_reward(a.sampled_tokens(), length_max, cache);
      sums.overlong_reward += cost / static_cast<double>(sums.answers);
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
      sums.kl_reward += of_answer / static_cast<double>(sums.answers);
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

std::vector<grpo_learner::row> grpo_learner::rows_of(const std::vector<answer_group>& groups,
                                                     figures& sums) {
  auto found =
      advantages_of(rewards_of(groups, sums), options_.advantages(), options_.advantage_eps);
  std::vector<row> made;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    // By the task's reward alone, as the episode judges a group that is refilled.
    const bool flat = groups[g].has_zero_variance();
    sums.zero_variance_groups += flat;
    if (flat && options_.zero_variance_rule_used() != zero_variance_rule::keep) continue;
    made.push_back(row_of(groups[g], found[g], options_.mask_truncated));
    made.back().length_max = sampled_by_.length_max(groups[g].task);
    sums.trained_answers += made.back().trained_answers();
  }
  report().advantages = std::move(found);
  return made;
}

// Takes one optimiser step. The loss is divided by the totals of the whole minibatch, so that the
// gradients of its micro-batches add up. As in TRL (mask_truncated_completions) an answer that
// isn't trained on counts as an answer in the divisor, but its tokens do not count.
void grpo_learner::step_on(rows minibatch, figures& sums) {
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
  clear_gradient();
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
    add_weighted(sums.loss, result.metrics, double(in.rows.tokens()));
    sums.trained_tokens += in.rows.tokens();
  }
  const double norm = take_step(loss);
  if (!std::isfinite(norm)) return;
  sums.loss.loss += loss;
  sums.grad_norm += norm;
}

void grpo_learner::check_batch(const std::vector<answer_group>& groups) const {
  for (const auto& each : groups) check_group(each);
}

void grpo_learner::train(const std::vector<answer_group>& groups) {
  figures sums(groups);
  auto all = rows_of(groups, sums);
  if (sums.trained_answers > 0) train_on_rows(all, sums);
  refresh_reference();
  report().trained_rows = sums.trained_tokens;
  report().metrics = sums.metrics();
  report().metrics.push_back({"train/learning_rate", report().learning_rate});
  report().metrics.push_back({"train/skipped_steps", double(report().skipped_steps)});
}

// Takes the optimiser steps on a batch of which something is trained on.
void grpo_learner::train_on_rows(std::vector<row>& all, figures& sums) {
  sums.loss.ratio = sums.loss.weight = 0.0;  // these are sums until `divide`
  if (options_.recomputes()) fill(all, policy(), &row::proximal);
  if (loss_.kl_coef != 0.0) fill(all, reference_policy(), &row::reference);

  const auto parts = std::min(std::size_t(options_.minibatches), all.size());
  std::vector<const row*> order;
  for (const auto& each : all) order.push_back(&each);
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    if (parts > 1) {  // Fisher and Yates
      for (std::size_t i = order.size() - 1; i > 0; --i)
        std::swap(order[i], order[random().below(i + 1)]);
    }
    for (std::size_t part = 0; part < parts; ++part) {
      const auto begin = part * order.size() / parts, end = (part + 1) * order.size() / parts;
      step_on(rows(order).subspan(begin, end - begin), sums);
    }
  }
  divide(sums.loss, double(sums.trained_tokens));
  const auto taken = double(std::max<std::int64_t>(1, report().optimizer_steps));
  sums.loss.loss /= taken;
  sums.grad_norm /= taken;
  if (lora_) merged_ = model().merged();
}

// Mixes the reference with the current weights where it is time for it. This is the soft update of
// TR-DPO, Gorbatovski et al. 2024, arXiv:2404.09656, with the penalty of GRPO.
void grpo_learner::refresh_reference() {
  if (!options_.refreshes_reference() || n_updates() % options_.reference_every_updates != 0)
    return;
  const at::NoGradGuard no_grad;
  const double share = options_.reference_mixup;
  reference_parameters_.mul_(1.0 - share).add_(parameters(), share);
}

void grpo_learner::visit_state(state_visitor& visit) {
  language_model_learner::visit_state(visit);
  if (options_.refreshes_reference()) visit("reference", floats_of(reference_parameters_));
  if (!lora_) return;
  visit("adapters", trained());
  // The weights beside the adapters, if `start_from` has replaced the first ones.
  auto base = model().base().is_same(first_) ? at::Tensor() : model().base();
  visit("base", optional_block{base, first_.numel()});
  if (visit.restores()) set_adapted(base.defined() ? base : first_, model().trained());
}

}  // namespace troupe
