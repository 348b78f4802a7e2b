// Every gradient on Troupe's kernels against libtorch's autograd, over random networks, batches and
// settings. The rules have one text for both engines. The reference is autograd in double precision
// with the same parameters: so the bound of 1e-5 of the gradient's norm is single precision's own
// error, not the sum of two. Cases at a kink, or where libtorch's single precision is off by half
// of that itself, are left out; they are counted.
//
//   test_learners '[gradients]'          120 cases for each learner
//   TROUPE_GRADIENT_CASES=1000 test_learners '[gradients]' --success | grep worst

#include "actors/torch/torch.hpp"

#include <numeric>

#include "actors/gradients/kernel_graph.hpp"
#include "actors/gradients/perceptron.hpp"
#include "actors/gradients/policy.hpp"
#include "actors/gradients/torch_graph.hpp"
#include "actors/networks/mlp_autograd.hpp"
#include "algorithms/losses/coma_loss.hpp"
#include "algorithms/losses/ppo_loss.hpp"
#include "algorithms/multi_agent/on_policy/coma/learner.hpp"
#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/dqn/rule.hpp"
#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/sac/rule.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "algorithms/off_policy/td3/rule.hpp"
#include "algorithms/on_policy/advantage_normalization.hpp"
#include "tests/actors/gradients/evaluated.hpp"
#include "tests/algorithms/batch_tensors.hpp"
#include "tests/algorithms/gradients/for_each_case.hpp"
#include "tests/algorithms/gradients/gradient_by_torch.hpp"
#include "tests/algorithms/gradients/random_case.hpp"
#include "tests/algorithms/gradients/reference_policy.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

network_shape random_box(case_random& random) {
  return {.obs_size = random.between(1, 20), .continuous_size = random.between(1, 6)};
}

template <class Options>
Options fused_options(case_random& random) {
  Options options;
  options.backend = gradient_backend::fused;
  options.network = random_network(random);
  return options;
}

at::Tensor rows_in_double(const std::vector<float>& rows, int count) {
  return detail::tensor_of(rows, {count, -1}, at::kDouble);
}

std::vector<float> noise_of(action_random& random, int rows, int size) {
  std::vector<float> noise(static_cast<std::size_t>(rows) * size);
  random.fill_normal(noise);
  return noise;
}

void watch_critics(kink_watch& watch, const detail::critic_ensemble& critics,
                   const at::Tensor& parameters, const at::Tensor& obs, const at::Tensor& action,
                   int among) {
  const auto count = static_cast<std::int64_t>(critics.network().parameter_count());
  const auto stride = static_cast<std::int64_t>(critics.stride());
  for (int i = 0; i < among; ++i) {
    watch.see(critics.network(), parameters.narrow(0, i * stride, count),
              at::cat({obs, action}, 1));
  }
  // Which critic is the smallest decides whose slope counts.
  if (among == 1) return;
  std::vector<at::Tensor> values;
  for (int i = 0; i < among; ++i) {
    values.push_back(detail::forward(critics.network(), parameters.narrow(0, i * stride, count),
                                     at::cat({obs, action}, 1)));
  }
  const auto sorted = std::get<0>(at::cat(values, 1).sort(1));
  watch.see(sorted.select(1, 1) - sorted.select(1, 0));
}

parity dqn_case(case_random& random, bool double_q, bool dueling) {
  const network_shape shape{.obs_size = random.between(1, 20),
                            .discrete_actions = random.between(2, 10)};
  auto with = fused_options<dqn_options>(random);
  with.double_q = double_q;
  with.dueling = dueling;
  dqn_learner learner(shape, with, random.next());
  auto state = parts_of(learner);
  disturb(random, state["parameters"]);
  disturb(random, state["target"]);
  set_parts(learner, state);
  const auto batch = random_batch(random, shape);

  const auto& net = learner.policy().network();
  const auto& options = learner.options();
  const auto online = in_double(state["parameters"]);
  kink_watch watch;
  watch.see(net, online, rows_in_double(batch.obs, batch.rows));
  if (options.double_q) {
    auto q = detail::forward(net, online, rows_in_double(batch.next_obs, batch.rows));
    // What a state is worth is the same for all actions.
    if (options.dueling) q = q.narrow(1, 1, q.size(1) - 1);
    const auto sorted = std::get<0>(q.sort(1, true));
    watch.see(sorted.select(1, 0) - sorted.select(1, 1));
  }
  const auto expected = gradient_by_torch(
      state["parameters"], at::kDouble, [&](graph& g, const parameter_block& block) {
        return dqn_loss(g, learner.policy().stack(), block, {state["target"]}, batch,
                        options.dueling, options.double_q)
            .loss;
      });
  learner.update(batch);
  return {relative_distance(learner.gradient(), expected.to(at::kDouble)), watch.too_near()};
}

parity sac_case(case_random& random, bool use_sde) {
  const auto shape = random_box(random);
  auto with = fused_options<sac_options>(random);
  with.n_critics = random.between(1, 3);
  with.initial_ent_coef = random.between(0.01, 1.5);
  with.network.use_sde = use_sde;
  if (use_sde) {
    with.network.use_expln = random.flip();
    with.network.log_std_init = static_cast<float>(random.between(-3.0, 0.3));
    // By one feature alone actions lie the same number of deviations off in every state, but for
    // the floor of the variance: what the feature learns of that is the rest of two equal terms.
    auto& hidden = with.network.hidden;
    if (!hidden.empty()) hidden.back() = std::max(hidden.back(), 2);
  }
  sac_learner learner(shape, with, random.next());
  auto state = parts_of(learner);
  for (auto* block : {&state["actor"], &state["critics"], &state["target"]})
    disturb(random, *block);
  set_parts(learner, state);
  const auto batch = random_batch(random, shape);

  action_random noises(0);
  noises.set_state(state.random);
  const auto& policy = learner.policy();
  const auto& net = policy.network();
  const int drawn = use_sde ? net.features() : batch.rows;
  const auto noise = noise_of(noises, drawn, shape.continuous_size);
  const auto next_noise = use_sde ? noise : noise_of(noises, drawn, shape.continuous_size);
  const auto obs = rows_in_double(batch.obs, batch.rows);
  const auto action = rows_in_double(batch.action, batch.rows);
  const auto actor = in_double(state["actor"]);
  const auto critics = in_double(state["critics"]);
  const auto alpha = static_cast<float>(learner.ent_coef());
  const auto expected_critics =
      gradient_by_torch(state["critics"], at::kDouble, [&](graph& g, const parameter_block& block) {
        return sac_critic_loss(g, policy, learner.critics(), block, batch, next_noise, alpha).loss;
      });
  kink_watch watch;
  watch_critics(watch, learner.critics(), critics, obs, action, 1);
  for (int i = 1; i < learner.critics().count(); ++i) {
    const auto stride = static_cast<std::int64_t>(learner.critics().stride());
    watch.see(learner.critics().network(),
              critics.narrow(0, i * stride, learner.critics().network().parameter_count()),
              at::cat({obs, action}, 1));
  }
  learner.update(batch);

  // The actor learns from the critics that have just been stepped.
  const auto stepped = in_double(learner.critics().parameters());
  const auto loss = [&](graph& g, const parameter_block& block) {
    return sac_actor_loss(g, policy, block, learner.critics(), batch, noise, alpha).loss;
  };
  const auto expected_actor = gradient_by_torch(state["actor"], at::kDouble, loss).to(at::kDouble);
  const auto single = gradient_by_torch(state["actor"], at::kFloat, loss);
  watch.see_rounding(relative_distance(in_span(single), expected_actor));
  torch_graph exact(detail::device_link("cpu"), at::kDouble);
  const auto drawn_actions =
      draw_actions(policy, exact.constant(batch.obs, shape.obs_size), {state["actor"]}, noise);
  const auto actions = exact.values(drawn_actions.action);
  const auto drawn_action = rows_in_double({actions.begin(), actions.end()}, batch.rows);
  const auto of_net = actor.narrow(0, 0, static_cast<std::int64_t>(net.parameter_count()));
  watch.see(net, of_net, obs);
  const auto outputs = detail::forward(net, of_net, obs);
  watch.see(use_sde ? outputs.abs() - 2.0
                    : outputs.narrow(1, shape.continuous_size, shape.continuous_size) - 2.0);
  watch_critics(watch, learner.critics(), stepped, obs, drawn_action, learner.critics().count());
  return {std::max(relative_distance(learner.critic_gradient(), expected_critics.to(at::kDouble)),
                   relative_distance(learner.actor_gradient(), expected_actor)),
          watch.too_near()};
}

parity td3_case(case_random& random) {
  const auto shape = random_box(random);
  auto with = fused_options<td3_options>(random);
  with.policy_delay = 1;
  with.target_policy_noise = random.between(0.0, 0.5);
  with.target_noise_clip = random.between(0.0, 0.7);
  with.n_critics = random.between(1, 3);
  td3_learner learner(shape, with, random.next());
  auto state = parts_of(learner);
  for (auto* block :
       {&state["actor"], &state["critics"], &state["target_actor"], &state["target_critics"]}) {
    disturb(random, *block);
  }
  set_parts(learner, state);
  const auto batch = random_batch(random, shape);

  action_random noises(0);
  noises.set_state(state.random);
  const auto clip = static_cast<float>(learner.options().target_noise_clip);
  auto noise = noise_of(noises, batch.rows, shape.continuous_size);
  for (auto& each : noise) {
    each =
        std::clamp(static_cast<float>(learner.options().target_policy_noise) * each, -clip, clip);
  }
  const auto obs = rows_in_double(batch.obs, batch.rows);
  const auto action = rows_in_double(batch.action, batch.rows);
  const auto actor = in_double(state["actor"]);
  const auto critics = in_double(state["critics"]);
  const auto& net = learner.policy().stack();
  const auto smallest = [](variable q, const transition_batch&) { return row_min(q); };
  const auto expected_critics =
      gradient_by_torch(state["critics"], at::kDouble, [&](graph& g, const parameter_block& block) {
        return td3_critic_loss(g, net, {state["target_actor"]}, learner.critics(), block, batch,
                               noise, smallest)
            .loss;
      });
  kink_watch watch;
  for (int i = 0; i < learner.critics().count(); ++i) {
    const auto stride = static_cast<std::int64_t>(learner.critics().stride());
    watch.see(learner.critics().network(),
              critics.narrow(0, i * stride, learner.critics().network().parameter_count()),
              at::cat({obs, action}, 1));
  }
  learner.update(batch);

  const auto stepped = in_double(learner.critics().parameters());
  const auto loss = [&](graph& g, const parameter_block& block) {
    return td3_actor_loss(g, net, block, learner.critics(), batch);
  };
  const auto expected_actor = gradient_by_torch(state["actor"], at::kDouble, loss).to(at::kDouble);
  const auto single = gradient_by_torch(state["actor"], at::kFloat, loss);
  watch.see_rounding(relative_distance(in_span(single), expected_actor));
  watch.see(net.top(), actor, obs);
  watch_critics(watch, learner.critics(), stepped, obs, net.forward(actor, obs), 1);
  return {std::max(relative_distance(learner.critic_gradient(), expected_critics.to(at::kDouble)),
                   relative_distance(learner.actor_gradient(), expected_actor)),
          watch.too_near()};
}

network_shape random_shape(case_random& random) {
  network_shape shape{.obs_size = random.between(1, 20)};
  const auto choose_several = [&] {
    for (int i = random.between(1, 4); i > 0; --i) {
      shape.multi_discrete.push_back(random.between(2, 5));
    }
  };
  switch (random.below(5)) {
    case 0:
      shape.discrete_actions = random.between(2, 10);
      break;
    case 1:
      shape.continuous_size = random.between(1, 6);
      break;
    case 2:
      shape.multi_binary = random.between(1, 6);
      break;
    case 3:  // a tuple
      shape.continuous_size = random.between(0, 3);
      shape.multi_binary = random.between(0, 3);
      [[fallthrough]];
    default:
      choose_several();
  }
  return shape;
}

/// Overwrites the action masks of obs [rows, D]; each choice keeps an option or more.
void draw_masks(case_random& random, const network_shape& shape, const at::Tensor& obs) {
  for (std::int64_t row = 0; row < obs.size(0); ++row) {
    float* mask = obs.data_ptr<float>() + row * shape.obs_size + shape.actor_inputs();
    for (const int count : shape.categories()) {
      for (int i = 0; i < count; ++i) mask[i] = random.flip() ? 1.0f : 0.0f;
      mask[random.below(static_cast<std::uint64_t>(count))] = 1.0f;
      mask += count;
    }
  }
}

/// The constants of an on-policy loss, [N] each.
struct on_policy_columns {
  std::vector<float> behaviour, proximal, advantage, returns, old_value;

  ppo_loss_inputs inputs(const action_evaluation& now) const {
    auto& g = now.value.owner();
    return {.log_prob = now.log_prob,
            .entropy = now.entropy,
            .value = now.value,
            .behaviour_log_prob = g.constant(behaviour),
            .proximal_log_prob = g.constant(proximal),
            .advantage = g.constant(advantage),
            .returns = g.constant(returns),
            .old_value = g.constant(old_value)};
  }
};

std::vector<float> numbers_of(const at::Tensor& x) {
  const auto here = x.contiguous();
  return {here.data_ptr<float>(), here.data_ptr<float>() + here.numel()};
}

/// PPO's gradient; A2C's is that at the weights that acted, with nothing clipped.
parity on_policy_case(case_random& random, const network_shape& shape, bool a2c, bool use_sde) {
  auto network = random_network(random);
  network.log_std_init = static_cast<float>(random.between(-1.0, 0.5));
  if (use_sde) {
    network.use_sde = true;
    network.use_expln = random.flip();
  }
  actor_critic model(shape, network, random.next());
  std::vector<float> block(static_cast<std::size_t>(model.parameter_count()));
  random.fill_normal(block);
  model.parameters().add_(at::tensor(block), 0.1);

  const int rows = random.between(1, 130);
  const auto normals = [&](std::int64_t width) {
    std::vector<float> numbers(static_cast<std::size_t>(rows * width));
    random.fill_normal(numbers);
    return at::tensor(numbers).view({rows, width});
  };
  const auto obs = normals(shape.obs_size);
  if (shape.mask_size > 0) draw_masks(random, shape, obs);
  const auto acted = model.act(obs, random);
  ppo_loss_options options{.clip_range = random.between(0.05, 0.3),
                           .ent_coef = random.between(0.0, 0.1),
                           .vf_coef = random.between(0.1, 1.0)};
  const bool normalize_advantage = random.flip();
  if (random.flip()) options.clip_range_vf = random.between(0.1, 0.5);
  if (a2c) {
    options.clip_range = std::numeric_limits<double>::infinity();
    options.clip_range_vf.reset();
  }
  const double moved = a2c ? 0.0 : 0.3;
  const auto behaviour = acted.log_prob + moved * normals(1).squeeze(1);
  auto advantage = normals(1).squeeze(1);
  on_policy_columns columns{.behaviour = numbers_of(behaviour),
                            .returns = numbers_of(normals(1)),
                            .old_value = numbers_of(acted.value + 0.3 * normals(1).squeeze(1))};
  if (normalize_advantage) advantage = troupe::detail::normalized(advantage);
  columns.advantage = numbers_of(advantage);
  columns.proximal = random.flip() && !a2c
                         ? numbers_of(acted.log_prob + 0.2 * normals(1).squeeze(1))
                         : columns.behaviour;

  const bool has_choices = shape.choice_count() > 0;
  const auto& floats = has_choices ? acted.continuous : acted.action;
  action_rows actions;
  if (shape.is_continuous()) actions.value = floats.data_ptr<float>();
  if (has_choices) actions.choice = acted.action.data_ptr<std::int64_t>();
  const auto loss_of = [&](graph& g, const parameter_block& parameters) {
    const auto now = evaluate(g, model, parameters, in_span(obs), actions);
    return ppo_loss(columns.inputs(now), options).loss;
  };
  kernel_graph kernels;
  kernels.backward(loss_of(kernels, trained_parameters(model)));
  const auto values = in_span(model.parameters());
  const auto expected = gradient_by_torch(values, at::kDouble, loss_of).to(at::kDouble);

  kink_watch watch;
  // Where noise is small beside the mean, their difference has few digits.
  const auto single = gradient_by_torch(values, at::kFloat, loss_of);
  if (use_sde) watch.see_rounding(relative_distance(in_span(single), expected));
  const auto integers =
      has_choices ? acted.action.view({rows, shape.choice_count()}) : at::Tensor();
  const auto leaf = model.parameters().to(at::kDouble).requires_grad_();
  const auto reference = reference_evaluation_of(
      shape, network, leaf, obs.to(at::kDouble),
      shape.is_continuous() ? floats.to(at::kDouble) : at::Tensor(), integers, watch);
  // The sides of both clips decide what flows.
  const auto ratio = (reference.log_prob - at::tensor(columns.proximal)).exp();
  watch.see(ratio - (1.0 + options.clip_range));
  watch.see(ratio - (1.0 - options.clip_range));
  if (options.clip_range_vf) {
    watch.see((reference.value - at::tensor(columns.old_value)).abs() - *options.clip_range_vf);
  }
  // What the engines evaluate is what libtorch's operators give, up to the rounding of floats.
  const auto now = evaluated_by(kernels, model, obs, actions, nullptr);
  const auto near = [](const at::Tensor& a, const at::Tensor& b) {
    return at::allclose(a.to(at::kDouble), b.detach(), 1e-4, 1e-4);
  };
  CHECK((use_sde || near(now.log_prob, reference.log_prob)));
  CHECK((use_sde || near(now.entropy, reference.entropy)));
  CHECK(near(now.value, reference.value));
  return {relative_distance(in_span(model.gradient()), expected), watch.too_near()};
}

parity ppo_case(case_random& random) {
  const auto shape = random_shape(random);
  return on_policy_case(random, shape, false, false);
}
/// The actor sees less than the critic, and some options are forbidden.
parity mappo_case(case_random& random) {
  auto shape = random_shape(random);
  const auto options = shape.categories();
  shape.critic_only = random.between(0, 12);
  if (random.flip()) shape.mask_size = std::accumulate(options.begin(), options.end(), 0);
  shape.obs_size += shape.critic_only + shape.mask_size;
  return on_policy_case(random, shape, false, false);
}
parity ppo_sde_case(case_random& random) {
  const auto shape = random_box(random);
  return on_policy_case(random, shape, false, true);
}
parity a2c_sde_case(case_random& random) {
  const auto shape = random_box(random);
  return on_policy_case(random, shape, true, true);
}

/// COMA's targets by equation 2 of Foerster et al. 2018 in double, for one step of C columns and
/// the step after it: y = r + gamma Q'(s', u'), or r where the task ended.
at::Tensor coma_targets(const detail::mlp& critic, const at::Tensor& target,
                        const coma_batch& batch, double gamma) {
  const auto columns = batch.rows.environments();
  const auto next =
      detail::forward(critic, target,
                      rows_in_double(batch.critic.bootstrap, static_cast<int>(columns)))
          .gather(1, at::tensor(batch.critic.bootstrap_choice).unsqueeze(1))
          .squeeze(1);
  const auto goes_on = batch.rows.terminated.flatten().logical_not().to(at::kDouble);
  return batch.rows.reward.flatten().to(at::kDouble) + gamma * goes_on * next;
}

/// COMA's actor's loss in double, with the advantages of the critic.
at::Tensor coma_actor_loss(const coma_learner& learner, const network_options& network,
                           const at::Tensor& actor, const at::Tensor& critic,
                           const detail::mlp& critic_net, const coma_batch& batch, double ent_coef,
                           kink_watch& watch) {
  const auto type = actor.scalar_type();
  const auto& shape = learner.model().shape();
  const auto rows = batch.rows.reward.numel();
  const detail::mlp net(shape.actor_inputs(), network.hidden, shape.discrete_actions,
                        network.hidden_activation);
  const auto count = static_cast<std::int64_t>(net.parameter_count());
  const auto obs = batch.rows.obs.flatten(0, 1).to(type);
  const auto own = obs.narrow(1, 0, shape.actor_inputs());
  const auto parameters = actor.narrow(0, 0, count);
  watch.see(net, parameters, own);
  auto logits = detail::forward(net, parameters, own);
  if (shape.mask_size > 0) {
    const auto allowed = obs.narrow(1, shape.actor_inputs(), shape.mask_size) > 0;
    logits = at::where(allowed, logits, at::full({}, -1e8, logits.options()));
  }
  const auto log_p = at::log_softmax(logits, 1);
  const auto p = log_p.exp();
  const auto choice = batch.rows.action.view({rows, 1});
  const auto q = detail::forward(
      critic_net, critic, rows_in_double(batch.critic.steps, static_cast<int>(rows)).to(type));
  const auto advantage = q.gather(1, choice).squeeze(1) - (p.detach() * q).sum(1);
  const auto entropy = -(p * log_p).sum(1);
  return (-log_p.gather(1, choice).squeeze(1) * advantage - ent_coef * entropy).mean();
}

parity coma_case(case_random& random) {
  network_shape shape{.obs_size = random.between(1, 20),
                      .discrete_actions = random.between(2, 10),
                      .critic_only = random.between(0, 12)};
  if (random.flip()) shape.mask_size = shape.discrete_actions;
  shape.obs_size += shape.critic_only + shape.mask_size;
  const int others = random.between(2, 20);  // the numbers of the actions of all agents
  coma_options options;
  options.network = random_network(random);
  options.network.critic_hidden = random_network(random).hidden;
  options.network.backend = gradient_backend::fused;
  options.gamma = random.between(0.8, 1.0);
  options.ent_coef = random.between(0.0, 0.1);
  const int rows = random.between(1, 130);
  options.batch_size = rows;
  options.n_epochs = 1;
  coma_learner learner(shape, shape.obs_size + others, options, random.next());
  auto state = parts_of(learner);
  for (auto* numbers : {&state["critic"], &state["target"]}) disturb(random, *numbers);
  set_parts(learner, state);
  std::vector<float> moves(static_cast<std::size_t>(learner.model().parameter_count()));
  random.fill_normal(moves);
  learner.model().parameters().add_(at::tensor(moves), 0.1);

  const auto normals = [&](std::int64_t width) {
    std::vector<float> numbers(static_cast<std::size_t>(rows * width));
    random.fill_normal(numbers);
    return at::tensor(numbers).view({1, rows, width});
  };
  coma_batch batch;
  batch.rows.obs = normals(shape.obs_size);
  if (shape.mask_size > 0) draw_masks(random, shape, batch.rows.obs.select(0, 0));
  const auto acted = learner.model().act(batch.rows.obs.select(0, 0), random);
  batch.rows.action = acted.action.view({1, rows});
  batch.rows.log_prob = acted.log_prob.view({1, rows});
  batch.rows.value = at::zeros({1, rows});
  batch.rows.final_value = at::zeros({1, rows});
  batch.rows.reward = normals(1).squeeze(2);
  batch.rows.terminated = at::zeros({1, rows}, at::kBool);
  batch.rows.truncated = at::zeros({1, rows}, at::kBool);
  for (int i = 0; i < rows; ++i) batch.rows.terminated[0][i] = random.below(5) == 0;
  batch.rows.bootstrap_value = at::zeros({rows});
  const auto joined = [&](const at::Tensor& obs) {
    const auto all = at::cat({obs.select(0, 0), normals(others).select(0, 0)}, 1).contiguous();
    return std::vector<float>(all.data_ptr<float>(), all.data_ptr<float>() + all.numel());
  };
  batch.critic.steps = joined(batch.rows.obs);
  batch.critic.bootstrap = joined(normals(shape.obs_size));
  for (int i = 0; i < rows; ++i) {
    batch.critic.bootstrap_choice.push_back(random.between(0, shape.discrete_actions - 1));
  }

  kink_watch watch;
  const auto& net = learner.critic().network();
  const auto x = rows_in_double(batch.critic.steps, rows);
  const auto critic = in_double(state["critic"]);
  watch.see(net, critic, x);
  const auto targets = numbers_of(
      coma_targets(net, in_double(state["target"]), batch, options.gamma).to(at::kFloat));
  const auto choices = batch.rows.action.flatten().contiguous();
  const auto expected_critic =
      gradient_by_torch(state["critic"], at::kDouble, [&](graph& g, const parameter_block& block) {
        const auto q = perceptron(net, g.constant(batch.critic.steps, net.inputs()), block).outputs;
        const std::span chosen(choices.data_ptr<std::int64_t>(), targets.size());
        return coma_critic_loss(q, chosen, g.constant(targets));
      }).to(at::kDouble);
  const auto actor = learner.model().parameters().to(at::kDouble);
  learner.update(batch);

  // The actor learns from the critic that has just been stepped.
  const auto stepped = in_double(learner.critic().parameters());
  const auto gradient_of = [&](at::ScalarType type) {
    const auto leaf = actor.to(type).requires_grad_();
    const auto loss = coma_actor_loss(learner, options.network, leaf, stepped.to(type), net, batch,
                                      options.ent_coef, watch);
    return torch::autograd::grad({loss}, {leaf})[0];
  };
  watch.see(net, stepped, x);
  const auto expected_actor = gradient_of(at::kDouble);
  watch.see_rounding(relative_distance(in_span(gradient_of(at::kFloat)), expected_actor));
  return {std::max(relative_distance(learner.critic().gradient(), expected_critic),
                   relative_distance(in_span(learner.model().gradient()), expected_actor)),
          watch.too_near()};
}

}  // namespace

TEST_CASE("gradients: DQN's on the kernels equals libtorch's, plain, double and dueling",
          "[gradients]") {
  for (const bool double_q : {false, true}) {
    for (const bool dueling : {false, true}) {
      CAPTURE(double_q, dueling);
      for_each_case([&](case_random& random) { return dqn_case(random, double_q, dueling); });
    }
  }
}
TEST_CASE("gradients: SAC's on the kernels equal libtorch's", "[gradients]") {
  for_each_case([](case_random& random) { return sac_case(random, false); });
}
TEST_CASE("gradients: SAC's with state-dependent exploration equal libtorch's", "[gradients]") {
  for_each_case([](case_random& random) { return sac_case(random, true); });
}
TEST_CASE("gradients: TD3's on the kernels equal libtorch's", "[gradients]") {
  for_each_case(td3_case);
}
TEST_CASE("gradients: PPO's on the kernels equals libtorch's", "[gradients]") {
  for_each_case(ppo_case);
}
TEST_CASE("gradients: MAPPO's on the kernels equals libtorch's, with action masks", "[gradients]") {
  for_each_case(mappo_case);
}
TEST_CASE("gradients: COMA's on the kernels equal libtorch's, with action masks", "[gradients]") {
  for_each_case(coma_case);
}
TEST_CASE("gradients: PPO's with state-dependent exploration equals libtorch's", "[gradients]") {
  for_each_case(ppo_sde_case);
}
TEST_CASE("gradients: A2C's with state-dependent exploration equals libtorch's", "[gradients]") {
  for_each_case(a2c_sde_case);
}

}  // namespace troupe
