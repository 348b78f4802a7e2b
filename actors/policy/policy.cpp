#include "actors/torch/torch.hpp"

#include "actors/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/worlds/scripted_policies.hpp"

namespace troupe {

namespace {

/// Skips orthogonal weights, which take a second for a CNN: the store's weights replace the initial
/// ones before the first request.
network_options with_quick_weights(network_options options) {
  options.ortho_init = false;
  return options;
}

}  // namespace

policy::policy(const replica_info& info, policy_options options, service<weight_store> store)
    : options_(std::move(options)),
      store_(std::move(store)),
      network_(options_.shape, with_quick_weights(options_.network), options_.seed),
      random_(derived_seed(options_.seed, options_.stream, {info.index, info.generation})),
      matrices_(network_.noise_size()) {
  network_.keep_device_copy();
  if (options_.script) script_ = make_scripted_policy(*options_.script);
}

task<> policy::catch_up() {
  auto newest = co_await store_.route<&weight_store::latest>();
  update(std::move(newest));
}

void policy::update(weights fresh) {
  if (fresh.version <= version_) return;
  network_.load_parameters(
      options_.of_several
          ? fresh.parameters.narrow(0, options_.first_parameter, network_.parameter_count())
          : fresh.parameters);
  version_ = fresh.version;
}

int policy::rows_of(std::span<const float> obs) const {
  const auto width = static_cast<std::size_t>(options_.shape.obs_size);
  if (obs.empty() || obs.size() % width != 0) {
    throw std::invalid_argument(fmt::format(
        "policy: expected observations of {} numbers each, got {} numbers", width, obs.size()));
  }
  if (!std::all_of(obs.begin(), obs.end(), [](float x) { return std::isfinite(x); })) {
    throw std::invalid_argument("policy: an observation is not finite");
  }
  return static_cast<int>(obs.size() / width);
}

std::uint64_t policy::choose_noise(const act_request& request) {
  if (request.deterministic || network_.noise_size() == 0) return 0;
  return request.noise_seed != 0 ? request.noise_seed : random_.next() | 1;
}

void policy::act_rows(std::span<const float> obs, int rows, kind how, act_reply& reply) {
  const auto n = static_cast<std::size_t>(rows);
  reply.discrete.resize(n * static_cast<std::size_t>(options_.shape.choice_count()));
  reply.continuous.resize(n * static_cast<std::size_t>(options_.shape.continuous_size));
  const action_rows_out actions{reply.discrete.data(), reply.continuous.data()};
  reply.log_prob.resize(n);
  reply.value.resize(n);
  reply.version = version_;
  if (script_) return follow_script(obs, reply);
  network_.take_normalized_obs(how.normalized);
  network_.act(obs.data(), rows, random_, how.deterministic, actions, reply.log_prob.data(),
               reply.value.data(), noise_.empty() ? nullptr : noise_.data());
}

/// Log-probabilities and values of a script are 0; nobody learns from them.
void policy::follow_script(std::span<const float> obs, act_reply& reply) {
  const auto& shape = options_.shape;
  const auto width = static_cast<std::size_t>(shape.obs_size);
  const auto choices = static_cast<std::size_t>(shape.choice_count());
  const auto floats = static_cast<std::size_t>(shape.continuous_size);
  for (std::size_t i = 0; i < reply.log_prob.size(); ++i) {
    const auto row = obs.subspan(i * width, width);
    const agent_sight seen{row.first(static_cast<std::size_t>(options_.own_obs)),
                           row.subspan(static_cast<std::size_t>(shape.actor_inputs()),
                                       static_cast<std::size_t>(shape.mask_size))};
    script_->act(seen, random_, std::span(reply.discrete).subspan(i * choices, choices),
                 std::span(reply.continuous).subspan(i * floats, floats));
    reply.log_prob[i] = reply.value[i] = 0;
  }
}

namespace {

/// Returns the rows [first, first + n) of a joint reply.
act_reply part_of(const act_reply& joint, std::size_t first, std::size_t n) {
  const auto rows = joint.log_prob.size();
  const auto cut = [&](const auto& all) {
    using column = std::remove_cvref_t<decltype(all)>;
    const auto width = all.size() / rows;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * width);
    return column(begin, begin + static_cast<std::ptrdiff_t>(n * width));
  };
  return {cut(joint.discrete), cut(joint.continuous), cut(joint.log_prob), cut(joint.value),
          joint.version};
}

}  // namespace

batch<act_reply> policy::act(batch<act_request> requests) {
  const std::size_t count = requests.size();
  recycled_vector<int> rows(count, 0);
  recycled_vector<std::exception_ptr> refused(count);
  recycled_vector<std::uint64_t> seeds(count, 0);
  matrices_.forget();
  for (std::size_t i = 0; i < count; ++i) {
    try {
      rows[i] = rows_of(requests[i].obs);
      seeds[i] = choose_noise(requests[i]);
    } catch (...) {
      refused[i] = std::current_exception();
    }
  }
  recycled_vector<act_reply> replies(count);
  if (count == 1) {
    const kind its{requests[0].deterministic, requests[0].normalized};
    noise_.clear();
    if (seeds[0] != 0) matrices_.append(seeds[0], rows[0], noise_);
    if (!refused[0]) act_rows(requests[0].obs, rows[0], its, replies[0]);
  } else {
    // Requests of the same kind share one forward pass.
    for (const kind how : {kind{false, false}, {true, false}, {false, true}, {true, true}}) {
      recycled_vector<float> joint_obs;
      int joint_rows = 0;
      noise_.clear();
      for (std::size_t i = 0; i < count; ++i) {
        if (refused[i] || !how.is_of(requests[i])) continue;
        joint_obs.insert(joint_obs.end(), requests[i].obs.begin(), requests[i].obs.end());
        joint_rows += rows[i];
        if (seeds[i] != 0) matrices_.append(seeds[i], rows[i], noise_);
      }
      if (joint_rows == 0) continue;
      act_reply joint;
      act_rows(joint_obs, joint_rows, how, joint);
      std::size_t first = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (refused[i] || !how.is_of(requests[i])) continue;
        const auto n = static_cast<std::size_t>(rows[i]);
        replies[i] = part_of(joint, first, n);
        first += n;
      }
    }
  }
  batch<act_reply> answer;
  answer.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (refused[i]) {
      answer.push_error(refused[i]);
    } else {
      replies[i].noise_seed = seeds[i];
      answer.push_back(std::move(replies[i]));
    }
  }
  return answer;
}

std::vector<float> policy::values(std::vector<float> obs, bool normalized) {
  const int rows = rows_of(obs);
  std::vector<float> value(static_cast<std::size_t>(rows));
  network_.take_normalized_obs(normalized);
  network_.values(obs.data(), rows, value.data());
  return value;
}

std::string policy::save() const { return state_bytes(random_.state()); }

void policy::restore(std::string bytes) {
  random_.set_state(state_of<action_random::state_type>(bytes));
}

}  // namespace troupe
