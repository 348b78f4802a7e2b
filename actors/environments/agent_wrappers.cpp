#include "actors/environments/agent_wrappers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "actors/environments/action_numbers.hpp"
#include "actors/random/derived_seed.hpp"

namespace troupe {
namespace {

const env_spec& with_several(const env_spec& spec, const char* what) {
  if (!spec.agents.empty()) return spec;
  throw std::invalid_argument(fmt::format(
      "{}: {}: expected an environment with several agents, got one without", spec.id, what));
}

void check_options(const env_spec& spec, const channel_options& o) {
  const auto refuse = [&](const char* option, const std::string& expected, auto got) {
    throw std::invalid_argument(
        fmt::format("{}: channel.{}: expected {}, got {}", spec.id, option, expected, got));
  };
  if (o.words < 0) refuse("words", "a number >= 0", o.words);
  if (o.numbers < 0) refuse("numbers", "a number >= 0", o.numbers);
  if (o.words + o.numbers == 0) refuse("words", "words or numbers to send", o.words);
  if (o.delay < 1) refuse("delay", "a number of steps >= 1", o.delay);
  if (!(o.loss >= 0 && o.loss <= 1)) refuse("loss", "a probability", o.loss);
  if (o.bandwidth < 0) refuse("bandwidth", "a number >= 0", o.bandwidth);
}

space with_messages(const space& actions, const channel_options& o) {
  std::vector<space> parts{actions};
  if (o.words > 0) parts.emplace_back(spaces::discrete(o.words + 1));
  if (o.numbers > 0) parts.emplace_back(spaces::box(-1, 1, {o.numbers}));
  return spaces::tuple(std::move(parts));
}

space with_heard(const space& seen, const channel_options& o, std::size_t others) {
  const auto count = static_cast<std::int64_t>(others) * (o.words + o.numbers);
  return spaces::tuple({seen, spaces::box(-1, 1, {count})});
}

}  // namespace

message_channel::message_channel(std::unique_ptr<environment> inner, const channel_options& options)
    : inner_(std::move(inner)),
      options_(options),
      inside_(with_several(inner_->spec(), "channel")),
      spec_(inner_->spec()) {
  check_options(spec_, options);
  row_.resize(inside_.obs_size());
  for (std::size_t i = 0; i < inside_.count(); ++i) {
    integers_.resize(integers_.size() + inside_[i].integers.size);
    floats_.resize(floats_.size() + inside_[i].floats.size);
  }
  for (auto& agent : spec_.agents) {
    agent.action_space = with_messages(agent.action_space, options);
    agent.observation_space = with_heard(agent.observation_space, options, inside_.count() - 1);
  }
  spec_ = with_joint_spaces(std::move(spec_));
}

void message_channel::begin(std::optional<std::uint64_t> seed, joint_observation obs) {
  random_.begin_episode(seed ? std::optional(derived_seed(*seed, "messages")) : std::nullopt);
  inner_->reset(seed, row_);
  const messages silence(inside_.count() * width());
  on_the_way_.assign(static_cast<std::size_t>(options_.delay), silence);
  show(obs);
}

/// What each agent sends: its words one-hot, then its numbers.
message_channel::messages message_channel::sent_in(const joint_action& actions) {
  messages sent(inside_.count() * width());
  const auto words = static_cast<std::size_t>(options_.words);
  for (std::size_t i = 0; i < inside_.count(); ++i) {
    if (!inside_.acts(row_, i)) continue;
    float* to = sent.data() + i * width();
    if (words > 0) {
      const auto word = actions[i].parts()[inside_[i].integers.size];
      if (word > 0) to[word - 1] = 1;
    }
    const auto numbers = actions[i].floats().subspan(inside_[i].floats.size);
    std::ranges::copy(numbers, to + words);
  }
  return sent;
}

/// Silences those for whom there is no bandwidth.
void message_channel::limit(messages& sent) {
  if (options_.bandwidth == 0) return;
  std::vector<std::size_t> senders;
  for (std::size_t i = 0; i < inside_.count(); ++i) {
    const auto own = std::span(sent).subspan(i * width(), width());
    if (std::ranges::any_of(own, [](float x) { return x != 0; })) senders.push_back(i);
  }
  while (std::cmp_greater(senders.size(), options_.bandwidth)) {
    const auto which = random_->integers(0, static_cast<std::int64_t>(senders.size()));
    const auto at = senders.begin() + which;
    std::ranges::fill(std::span(sent).subspan(*at * width(), width()), 0.0F);
    senders.erase(at);
  }
}

/// Writes the inner row, and behind each observation what the others sent `delay` steps ago.
void message_channel::show(joint_observation obs) {
  const std::span<const float> row(row_);
  const auto& heard = on_the_way_.front();
  for (std::size_t i = 0; i < inside_.count(); ++i) {
    const auto own = inside_[i].obs.of(row);
    auto to = std::ranges::copy(own, obs[i].begin()).out;
    for (std::size_t from = 0; from < inside_.count(); ++from) {
      if (from == i) continue;
      const bool lost = options_.loss > 0 && random_->uniform(0, 1) < options_.loss;
      const auto message = std::span(heard).subspan(from * width(), width());
      for (const float number : message) *to++ = lost ? 0.0F : number;
    }
    if (spec_.agents_vary) obs.set_active(i, inside_.acts(row, i));
    if (spec_.action_masks) {
      std::ranges::copy(inside_[i].mask.of(row), obs.action_mask(i).begin());
    }
  }
  std::ranges::copy(inside_.state().of(row), obs.state().begin());
}

void message_channel::act(joint_action actions, joint_observation obs,
                          std::span<agent_step> results) {
  auto sent = sent_in(actions);
  limit(sent);
  for (std::size_t i = 0; i < inside_.count(); ++i) {
    const auto& own = inside_[i];
    std::ranges::copy(actions[i].parts().first(own.integers.size),
                      own.integers.of(std::span(integers_)).begin());
    std::ranges::copy(actions[i].floats().first(own.floats.size),
                      own.floats.of(std::span(floats_)).begin());
  }
  inner_->step({integers_, floats_}, row_);
  std::ranges::copy(inner_->agent_steps(), results.begin());
  on_the_way_.push_back(std::move(sent));
  on_the_way_.pop_front();
  show(obs);
}

bool message_channel::save(state_writer& to) const {
  state_writer inner;
  if (!inner_->save(inner)) return false;
  to.put("inner", inner.bytes());
  to.put("row", row_);
  messages all;
  for (const auto& each : on_the_way_) all.insert(all.end(), each.begin(), each.end());
  to.put("messages", all);
  to.put("ended", ended());
  random_.save(to);
  return true;
}

void message_channel::restore(const state_reader& from) {
  auto row = from.get<std::vector<float>>("row");
  auto all = from.get<messages>("messages");
  auto ended = from.get<std::vector<std::uint8_t>>("ended");
  const auto each = inside_.count() * width();
  if (row.size() != row_.size() || ended.size() != inside_.count() ||
      all.size() != each * static_cast<std::size_t>(options_.delay)) {
    throw state_error(spec_.id + ": expected the state of the same channel, got that of another");
  }
  inner_->restore(state_reader(from.get<std::string>("inner")));
  layout();
  row_ = std::move(row);
  set_ended(std::move(ended));
  on_the_way_.clear();
  for (auto at = all.begin(); at != all.end(); at += static_cast<std::ptrdiff_t>(each)) {
    on_the_way_.emplace_back(at, at + static_cast<std::ptrdiff_t>(each));
  }
  random_.restore(from);
}

difference_rewards::difference_rewards(std::unique_ptr<environment> inner)
    : environment_wrapper(std::move(inner)),
      layout_(with_several(inner_->spec(), "difference_rewards")),
      results_(layout_.count()) {
  const auto own = inner_->spec();
  const auto numbers = numbers_of(own.action_space);
  if (!numbers.low.empty()) {
    throw std::invalid_argument(fmt::format(
        "{}: difference_rewards: expected agents that choose one of some actions, got {}", own.id,
        to_string(own.action_space)));
  }
  for (const auto& integer : numbers.integers) first_.push_back(integer.first);
  std::vector<float> obs(layout_.obs_size());
  inner_->reset(0, obs);
  if (state_writer state; !inner_->save(state)) {
    throw std::invalid_argument(
        own.id +
        ": difference_rewards: expected an environment that can be saved, got one without `save`");
  }
}

env_spec difference_rewards::spec() const {
  auto spec = inner_->spec();
  spec.reward_threshold.reset();
  return spec;
}

step_result difference_rewards::step(action_view action, std::span<float> obs) {
  state_writer before;
  inner_->save(before);
  const state_reader begin(before.bytes());
  std::vector<std::int64_t> integers(action.parts().begin(), action.parts().end());
  std::vector<double> without(layout_.count());
  for (std::size_t i = 0; i < layout_.count(); ++i) {
    auto other = integers;
    const auto own = layout_[i].integers;
    std::copy_n(first_.begin() + static_cast<std::ptrdiff_t>(own.begin), own.size,
                other.begin() + static_cast<std::ptrdiff_t>(own.begin));
    if (other == integers) continue;
    without[i] = inner_->step(action_view(other), obs).reward;
    inner_->restore(begin);
  }
  auto result = inner_->step(action, obs);
  const auto steps = inner_->agent_steps();
  double sum = 0;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    results_[i] = steps[i];
    const auto own = layout_[i].integers;
    const bool took_first =
        std::equal(integers.begin() + static_cast<std::ptrdiff_t>(own.begin),
                   integers.begin() + static_cast<std::ptrdiff_t>(own.begin + own.size),
                   first_.begin() + static_cast<std::ptrdiff_t>(own.begin));
    results_[i].reward = took_first ? 0.0 : result.reward - without[i];
    sum += results_[i].reward;
  }
  result.reward = sum / static_cast<double>(results_.size());
  return result;
}

}  // namespace troupe
