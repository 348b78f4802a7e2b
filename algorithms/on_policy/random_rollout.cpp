#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/random_rollout.hpp"

namespace troupe::detail {
namespace {

constexpr std::int64_t steps = 16;

template <class To, class T>
void write_numbers(const at::Tensor& numbers, std::vector<T>& to) {
  const auto whole = numbers.contiguous();
  const To* from = whole.data_ptr<To>();
  to.assign(from, from + whole.numel());
}

}  // namespace

void move_weights(actor_critic& model, const at::Generator& generator) {
  const auto count = model.trained_count();
  model.parameters().narrow(0, 0, count).add_(at::randn({count}, generator), 0.1);
}

void write_actions(const action_batch& acted, const network_shape& shape,
                   std::vector<std::int64_t>& choices, std::vector<float>& continuous) {
  const bool chooses = shape.choice_count() > 0;
  if (chooses) write_numbers<std::int64_t>(acted.action, choices);
  if (shape.is_continuous()) {
    write_numbers<float>(chooses ? acted.continuous : acted.action, continuous);
  }
}

policy_rollout random_rollout(actor_critic& model, std::int64_t columns, action_random& random,
                              const at::Generator& generator) {
  const at::NoGradGuard no_grad;
  const std::int64_t D = model.shape().obs_size, rows = steps * columns;
  policy_rollout made;
  made.steps = steps;
  made.columns = columns;
  made.valid.assign(static_cast<std::size_t>(rows), 1);
  const auto obs = at::randn({rows, D}, generator);
  const auto acted = model.act(obs, random);
  write_numbers<float>(obs, made.obs);
  write_actions(acted, model.shape(), made.discrete, made.continuous);
  write_numbers<float>(acted.log_prob + 0.1 * at::randn({rows}, generator), made.log_prob);
  write_numbers<float>(acted.value, made.value);
  write_numbers<float>(at::randn({rows}, generator), made.reward);
  const auto ends = [&] { return at::rand({steps, columns}, generator) < 0.1; };
  write_numbers<bool>(ends(), made.terminated);
  const auto truncated = ends();
  write_numbers<bool>(truncated, made.truncated);
  const auto places = truncated.nonzero();
  for (std::int64_t i = 0; i < places.size(0); ++i) {
    made.cuts.push_back({places[i][0].item<std::int64_t>(), places[i][1].item<std::int64_t>()});
  }
  const auto finals = at::randn({places.size(0), D}, generator);
  write_numbers<float>(finals, made.final_obs);
  write_numbers<float>(model.values(finals), made.final_value);
  const auto last = at::randn({columns, D}, generator);
  write_numbers<float>(last, made.bootstrap_obs);
  write_numbers<float>(model.values(last), made.bootstrap_value);
  return made;
}

}  // namespace troupe::detail
