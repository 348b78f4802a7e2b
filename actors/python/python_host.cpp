#include "actors/python/python_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <stdexcept>
#include <utility>

#include "actors/environments/canvas.hpp"
#include "actors/python/python_environment.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/base/told_once.hpp"
#include "runtime/service/successor.hpp"

namespace troupe::detail {

using nlohmann::json;

namespace {

// The bits of a row's flags, as hosting.py writes them.
constexpr std::uint8_t terminated = 1, truncated = 2, failed = 4, begun = 8;

std::vector<std::uint8_t> bytes_of_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, bytes[i], 16);
  return bytes;
}

}  // namespace

python_host::python_host(environment_request request, std::size_t size)
    : request_(std::move(request)), limits_(request_.python), size_(size), rows_(size) {
  if (auto known = known_facts::of_this_process().find(request_)) {
    facts_ = *std::move(known);
    agents_ = agent_layout(facts_.spec);
  } else {
    start();
  }
}

python_host::~python_host() {
  if (worker_ && !retiring_ && worker_->is_running() && has_successor()) {
    keep_for_successor(name_for_successor(), std::move(worker_));
  }
}

void python_host::require_process() {
  if (worker_ && worker_->is_running()) return;
  try {
    start();
  } catch (const python_error& error) {
    throw environment_process_lost(error.what());
  }
}

void python_host::set_action(std::size_t row, action_view action) {
  const auto parts = action.parts();
  if (!parts.empty()) std::ranges::copy(parts, integers_ + row * facts_.integers);
  if (facts_.floats > 0) set_action(row, action.continuous());
}

void python_host::set_action(std::size_t row, std::span<const float> numbers) {
  std::ranges::copy(numbers, floats_ + row * facts_.floats);
}

void python_host::set_action(std::size_t row, action_view action, const agent_layout& given) {
  for (std::size_t i = 0; i < agents_.count(); ++i) {
    const auto& own = agents_[i];
    std::ranges::copy(given[i].integers.of(action.parts()).first(own.integers.size),
                      integers_ + row * facts_.integers + own.integers.begin);
    std::ranges::copy(given[i].floats.of(action.floats()).first(own.floats.size),
                      floats_ + row * facts_.floats + own.floats.begin);
  }
}

std::optional<std::string> python_host::step() {
  if (!worker_)
    throw environment_process_lost("the Python process of " + request_.id + " has not begun");
  for (auto& row : rows_)
    row = {.is_playing = true, .is_retiring = row.is_retiring, .is_new = row.is_new};
  if (retiring_) read_events(*retiring_, take_step(*retiring_));
  if (!std::ranges::all_of(rows_, &row::is_retiring)) read_events(*worker_, take_step(*worker_));
  std::optional<std::string> why;
  if (!retiring_) {
    why = reason_to_replace();
    if (why && !begin_replacement(*why)) why.reset();
  }
  return why;
}

void python_host::reset(const std::vector<std::size_t>& rows,
                        const std::vector<std::optional<std::uint64_t>>& seeds) {
  note_resets(rows);
  if (rows.size() == size_ && seeds.front()) seed_ = seeds.front();
  json told = json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto seed = seeds[i] ? seeds[i] : first_seed(rows[i]);
    told.push_back(seed ? json(*seed) : json());
  }
  const auto answer =
      call(worker_of(rows.front()), {{"do", "reset"}, {"rows", rows}, {"seeds", told}},
           limits_.reset, "a reset");
  memory_mb_ = std::max(memory_mb_, answer.value("memory_mb", std::int64_t{0}));
  tell_notices(request_, answer.at("notices"));
  const auto& errors = answer.at("errors");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& row = rows_.at(rows[i]);
    row = {.is_begun = true, .is_retiring = row.is_retiring};
    if (errors.at(i).is_string()) row.reset_error = errors.at(i).get<std::string>();
  }
}

void python_host::replace(std::size_t row) {
  const auto answer = call(worker_of(row), {{"do", "replace"}, {"row", row}}, limits_.start,
                           "closing an environment and making another one");
  tell_notices(request_, answer.at("notices"));
  rows_[row] = {.is_retiring = rows_[row].is_retiring};
}

void python_host::set_options(const std::string& text) {
  options_ = json::parse(text);
  for (auto* worker : running()) tell_options(*worker);
}

void python_host::set_attr(const std::string& name, const std::string& text) {
  attrs_[name] = json::parse(text);
  for (auto* worker : running()) tell_attr(*worker, name, attrs_[name]);
}

void python_host::set_level(std::size_t level) {
  if (level_ == level) return;
  level_ = level;
  for (auto* worker : running()) tell_level(*worker);
}

void python_host::set_begins_next(bool on) {
  begins_next_ = on;
  if (worker_ && worker_->is_running()) tell_begins_next(*worker_, on);
}

bool python_host::render(std::size_t i, canvas& on) {
  if (!request_.python.render || !worker_) return false;
  const auto picture =
      call(worker_of(i), {{"do", "render"}, {"row", i}}, limits_.step, "a picture");
  if (picture.empty()) return false;
  const auto bytes = bytes_of_hex(picture.at("rgb").get_ref<const std::string&>());
  on.pixels(picture.at("width").get<int>(), picture.at("height").get<int>(), bytes);
  return true;
}

step_result python_host::show_step(std::size_t i, std::span<float> obs) const {
  const auto flags = flags_[i];
  const auto& row = rows_[i];
  if (flags & failed) throw std::runtime_error(row.error);
  const bool ended = flags & (terminated | truncated);
  const float* from = (ended ? final_ : obs_) + i * facts_.obs_size;
  std::copy(from, from + facts_.obs_size, obs.begin());
  step_result result{.reward = reward_[i],
                     .terminated = (flags & terminated) != 0,
                     .truncated = (flags & truncated) != 0};
  const auto success = row.info.find("is_success");
  if (success != row.info.end()) result.success = success->second > 0;
  return result;
}

bool python_host::has_begun(std::size_t i) const {
  return rows_[i].is_begun || (flags_ && flags_[i] & begun);
}

void python_host::show_begun(std::size_t i, std::span<float> obs) {
  auto& row = rows_[i];
  row.is_begun = false;
  flags_[i] = 0;
  const auto error = std::exchange(row.reset_error, {});
  if (!error.empty()) throw std::runtime_error(error);
  std::copy(obs_ + i * facts_.obs_size, obs_ + (i + 1) * facts_.obs_size, obs.begin());
}

void python_host::show_agents(std::size_t i, std::span<agent_step> to) const {
  for (std::size_t a = 0; a < to.size(); ++a) {
    const auto place = i * to.size() + a;
    to[a].reward = agent_reward_[place];
    to[a].ended = agent_ended_[place] == 1   ? episode_end::terminated
                  : agent_ended_[place] == 2 ? episode_end::truncated
                                             : episode_end::none;
  }
}

std::string python_host::name_for_successor() const {
  return fmt::format("{} x {}", request_json(request_).dump(), size_);
}

std::shared_ptr<python_worker> python_host::new_worker() const {
  const auto kept =
      std::static_pointer_cast<python_worker>(take_from_predecessor(name_for_successor()));
  try {
    if (kept) {
      kept->call({{"do", "renew"}}, closing_limit(), "beginning anew");
      return kept;
    }
  } catch (const std::exception& error) {
    log::info("a Python process can't begin anew, so another one is started",
              {{"env", request_.id}, {"reason", error.what()}});
  }
  return std::make_shared<python_worker>(request_.python, request_.id);
}

call_limit python_host::closing_limit() const {
  constexpr double seconds_max = 5;
  return limits_.start.seconds < seconds_max ? limits_.start : call_limit{seconds_max};
}

void python_host::start() {
  retiring_.reset();
  auto worker = new_worker();
  make_environments(*worker, [&](std::size_t bytes) { base_ = worker->share(bytes).data(); });
  worker_ = std::move(worker);
  ended_ = postponed_until_ = memory_mb_ = 0;
  for (auto& row : rows_) row = {};
}

void python_host::make_environments(python_worker& worker,
                                    const std::function<void(std::size_t bytes)>& share) {
  const auto told = call(worker, {{"do", "make"}, {"request", request_json(request_)}},
                         limits_.start, "making its environments");
  for (std::size_t i = 1; i < size_; ++i)
    call(worker, {{"do", "make_another"}}, limits_.start, "making another environment");
  auto facts = readable_facts(told);
  if (facts_.obs_size > 0 && facts.spec != facts_.spec)
    throw python_error(fmt::format(
        "{}: expected what it had before, observations of {}, actions of {} and {} levels, but in "
        "its new process it has {}, {} and {}{}",
        request_.id, to_string(facts_.spec.observation_space), to_string(facts_.spec.action_space),
        facts_.spec.levels, to_string(facts.spec.observation_space),
        to_string(facts.spec.action_space), facts.spec.levels,
        facts.spec.agents == facts_.spec.agents ? "" : ", and other agents"));
  facts_ = std::move(facts);
  agents_ = agent_layout(facts_.spec);
  lay_out(worker, share);
  if (!options_.is_null()) tell_options(worker);
  if (level_) tell_level(worker);
  if (!begins_next_) tell_begins_next(worker, false);
  for (const auto& [name, value] : attrs_) tell_attr(worker, name, value);
  known_facts::of_this_process().add(request_, facts_, told.at("left_out"));
  tell_notices(request_, told.at("notices"));
}

python_worker& python_host::worker_of(std::size_t row) {
  return rows_[row].is_retiring ? *retiring_ : *worker_;
}

std::vector<python_worker*> python_host::running() {
  std::vector<python_worker*> all;
  for (auto* worker : {worker_.get(), retiring_.get()})
    if (worker && worker->is_running()) all.push_back(worker);
  return all;
}

std::optional<std::string> python_host::reason_to_replace() {
  const auto& python = request_.python;
  if (ended_ == 0 || ended_ < postponed_until_) return std::nullopt;
  if (python.replace_above_mb > 0 && memory_mb_ > python.replace_above_mb) {
    // A process that is too large after its first episodes does not leak.
    if (ended_ <= static_cast<std::int64_t>(size_) && !std::exchange(told_too_large_, true))
      log::warn(
          "a process is above env.replace_above_mb already after its first episode, so "
          "each is replaced after one; expected more MiB",
          {{"env", request_.id}, {"mib", memory_mb_}, {"limit", python.replace_above_mb}});
    return "memory";
  }
  if (python.replace_after_episodes > 0 && ended_ >= python.replace_after_episodes)
    return "episodes";
  return std::nullopt;
}

bool python_host::begin_replacement(const std::string& why) {
  try {
    auto next = std::make_shared<python_worker>(request_.python, request_.id, worker_.get());
    make_environments(*next, nullptr);
    tell_begins_next(*worker_, false);
    log::info("a Python process is replaced between episodes",
              {{"env", request_.id}, {"reason", why}, {"episodes", ended_}});
    retiring_ = std::exchange(worker_, std::move(next));
  } catch (const std::exception& error) {
    if (!worker_->is_running()) throw;
    constexpr std::int64_t episodes_between = 100;
    postponed_until_ = ended_ + episodes_between;
    log::warn("a Python process can't be replaced, so it goes on",
              {{"env", request_.id}, {"reason", error.what()}, {"again_after", episodes_between}});
    return false;
  }
  ended_ = postponed_until_ = memory_mb_ = 0;
  ++replacements_;
  for (std::size_t i = 0; i < size_; ++i) {
    auto& row = rows_[i];
    row.is_retiring = true;
    // What the old process has begun after an episode is dropped, since the new one begins it.
    row.is_begun = false;
    row.reset_error.clear();
    flags_[i] &= static_cast<std::uint8_t>(~begun);
  }
  return true;
}

void python_host::note_resets(const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> retiring;
  for (const auto i : rows) {
    if (rows_[i].is_retiring) {
      retiring.push_back(i);
    } else if (std::exchange(rows_[i].is_playing, false)) {
      ++ended_;
    }
  }
  hand_over(retiring);
}

void python_host::hand_over(const std::vector<std::size_t>& rows) {
  if (rows.empty()) return;
  for (const auto i : rows) rows_[i] = {.is_new = true};
  std::vector<std::size_t> old_rows, new_rows;
  for (std::size_t i = 0; i < size_; ++i) (rows_[i].is_retiring ? old_rows : new_rows).push_back(i);
  tell_hosted(*worker_, new_rows);
  if (!old_rows.empty()) {
    tell_hosted(*retiring_, old_rows);
    return;
  }
  try {
    const auto answer =
        call(*retiring_, {{"do", "close"}}, closing_limit(), "closing its environments");
    tell_notices(request_, answer.at("notices"));
  } catch (const std::exception& error) {
    log::warn_once("a Python process that was replaced did not close its environments",
                   {{"env", request_.id}, {"reason", error.what()}});
  }
  retiring_.reset();
}

std::optional<std::uint64_t> python_host::first_seed(std::size_t row) {
  if (!std::exchange(rows_[row].is_new, false) || !seed_) return std::nullopt;
  return environment_seed(*seed_, "replaced process", {replacements_, row});
}

python_facts python_host::readable_facts(const json& told) const {
  try {
    return facts_of(request_, told);
  } catch (const python_error&) {
    throw;
  } catch (const std::exception& error) {
    throw python_error(request_.id + ": expected spaces that can be used: " + error.what());
  }
}

void python_host::lay_out(python_worker& worker,
                          const std::function<void(std::size_t bytes)>& share) {
  constexpr std::size_t alignment = 64;
  std::size_t bytes = 0;
  json at;
  const auto place = [&](const char* name, std::size_t size) {
    at[name] = bytes;
    bytes += (size + alignment - 1) / alignment * alignment;
  };
  place("integers", size_ * facts_.integers * sizeof(std::int64_t));
  place("floats", size_ * facts_.floats * sizeof(float));
  place("obs", size_ * facts_.obs_size * sizeof(float));
  place("final", size_ * facts_.obs_size * sizeof(float));
  const auto agents = facts_.spec.agents.size();
  place("agent_reward", size_ * agents * sizeof(double));
  place("agent_ended", size_ * agents);
  place("reward", size_ * sizeof(double));
  place("flags", size_);
  place("mark", sizeof(std::int64_t));
  if (share) share(bytes);
  call(worker, {{"do", "share"}, {"bytes", bytes}, {"at", at}}, limits_.start, "mapping memory");
  const auto array = [&](const char* name) { return base_ + at.at(name).get<std::size_t>(); };
  integers_ = reinterpret_cast<std::int64_t*>(array("integers"));
  floats_ = reinterpret_cast<float*>(array("floats"));
  obs_ = reinterpret_cast<float*>(array("obs"));
  final_ = reinterpret_cast<float*>(array("final"));
  agent_reward_ = reinterpret_cast<double*>(array("agent_reward"));
  agent_ended_ = reinterpret_cast<std::uint8_t*>(array("agent_ended"));
  reward_ = reinterpret_cast<double*>(array("reward"));
  flags_ = reinterpret_cast<std::uint8_t*>(array("flags"));
  mark_ = reinterpret_cast<std::int64_t*>(array("mark"));
}

json python_host::call(python_worker& worker, const json& command, const call_limit& limit,
                       const char* action) {
  try {
    return worker.call(command, limit, action);
  } catch (const python_ended& error) {
    throw environment_process_lost(error.what());
  }
}

json python_host::take_step(python_worker& worker) {
  try {
    return worker.step({.step = limits_.step, .reset = limits_.reset, .mark = *mark_});
  } catch (const python_ended& error) {
    throw environment_process_lost(error.what());
  }
}

void python_host::read_events(python_worker& worker, const json& events) {
  try {
    for (const auto& event : events) read_event(event);
  } catch (const std::exception& error) {
    worker.kill();
    throw environment_process_lost("the Python process of " + request_.id +
                                   " was ended, because its answer can't be read: " + error.what());
  }
}

void python_host::read_event(const json& event) {
  if (const auto notice = event.find("notice"); notice != event.end()) {
    tell_notices(request_, json::array({*notice}));
    return;
  }
  auto& row = rows_.at(event.at("row").get<std::size_t>());
  row.error = event.value("error", "");
  row.reset_error = event.value("reset_error", "");
  row.is_begun = !row.reset_error.empty();
  if (event.contains("info")) row.info = event.at("info").get<episode_info>();
  row.is_playing = false;
  if (row.is_retiring) return;
  ++ended_;
  memory_mb_ = std::max(memory_mb_, event.value("memory_mb", std::int64_t{0}));
}

void python_host::tell_begins_next(python_worker& worker, bool on) {
  call(worker, {{"do", "set_begins_next"}, {"on", on}}, limits_.step, "a command");
}

void python_host::tell_hosted(python_worker& worker, const std::vector<std::size_t>& rows) {
  call(worker, {{"do", "host"}, {"rows", rows}}, limits_.step, "handing environments over");
}

void python_host::tell_level(python_worker& worker) {
  call(worker, {{"do", "set_level"}, {"level", *level_}}, limits_.step, "setting a level");
}

void python_host::tell_options(python_worker& worker) {
  call(worker, {{"do", "set_options"}, {"options", options_}}, limits_.step, "setting options");
}

void python_host::tell_attr(python_worker& worker, const std::string& name, const json& value) {
  call(worker, {{"do", "set_attr"}, {"name", name}, {"value", value}}, limits_.step,
       "setting an attribute");
}

}  // namespace troupe::detail
