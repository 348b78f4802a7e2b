#include "actors/python/python_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/environments/canvas.hpp"
#include "actors/environments/space_json.hpp"
#include "actors/environments/vector_env.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/base/told_once.hpp"
#include "runtime/service/successor.hpp"

namespace troupe {
namespace {

using nlohmann::json;

// The bits of a row's flags, as hosting.py writes them.
constexpr std::uint8_t terminated = 1, truncated = 2, failed = 4, begun = 8;

/// True for a name of Python, or several joined by dots.
bool is_dotted_name(std::string_view text) {
  bool begins = true;
  for (const char c : text) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
    const bool digit = std::isdigit(static_cast<unsigned char>(c));
    if (c == '.' ? begins : !letter && (begins || !digit)) return false;
    begins = c == '.';
  }
  return !begins;
}

std::vector<std::uint8_t> bytes_of_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, bytes[i], 16);
  return bytes;
}

/// What a process has told about its environments.
struct python_facts {
  env_spec spec;  ///< Without wrappers.
  std::size_t obs_size = 0, integers = 0, floats = 0;
};

/// Completes the spec of an environment with several agents.
env_spec with_agents(env_spec spec, const json& several) {
  for (const auto& agent : several.at("agents"))
    spec.agents.push_back({.name = agent.at(0).get<std::string>(),
                           .observation_space = space_from_json(agent.at(1)),
                           .action_space = space_from_json(agent.at(2))});
  const auto& state = several.at("state_space");
  if (!state.is_null()) spec.state_space = space_from_json(state);
  spec.agents_vary = several.at("agents_vary").get<bool>();
  spec.action_masks = several.at("action_masks").get<bool>();
  return with_joint_spaces(std::move(spec));
}

python_facts facts_of(const environment_request& request, const json& told) {
  python_facts facts;
  facts.spec = {.id = request.id,
                .observation_space = space_from_json(told.at("observation_space")),
                .action_space = space_from_json(told.at("action_space"))};
  const auto& limit = told.at("max_episode_steps");
  if (limit.is_number_integer()) facts.spec.max_episode_steps = limit.get<std::int64_t>();
  facts.spec.render_fps = told.at("render_fps").get<double>();
  const auto& threshold = told.at("reward_threshold");
  if (threshold.is_number()) facts.spec.reward_threshold = threshold.get<double>();
  facts.spec.levels = told.at("levels").get<std::size_t>();
  const auto& several = told.at("several");
  if (!several.is_null()) facts.spec = with_agents(std::move(facts.spec), several);
  facts.obs_size = told.at("obs_size").get<std::size_t>();
  facts.integers = told.at("integers").get<std::size_t>();
  facts.floats = told.at("floats").get<std::size_t>();
  if (facts.obs_size != facts.spec.observation_space.flat_size())
    throw python_error(fmt::format("{}: expected observations of {} numbers, got {}", request.id,
                                   facts.spec.observation_space.flat_size(), facts.obs_size));
  return facts;
}

/// The facts about the environments that this program has made, so that a run does not start a
/// process each time that it needs a spec.
class known_facts {
 public:
  static known_facts& of_this_process() {
    static known_facts it;
    return it;
  }

  std::optional<python_facts> find(const environment_request& request) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(known_, request, &entry::first);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }
  /// `left_out`: the parts of observations that can't be used, which is logged once.
  void add(const environment_request& request, const python_facts& facts, const json& left_out) {
    constexpr std::size_t most = 64;
    const std::lock_guard lock(mutex_);
    const auto known = std::erase_if(known_, [&](const entry& of) { return of.first == request; });
    for (const auto& part : left_out) {
      if (known > 0) break;
      log::warn("a part of the observations is left out, for it is no kind of numbers",
                {{"env", request.id}, {"part", part.get<std::string>()}});
    }
    known_.emplace_back(request, facts);
    if (known_.size() > most) known_.pop_front();
  }

 private:
  using entry = std::pair<environment_request, python_facts>;
  std::mutex mutex_;
  std::deque<entry> known_;
};

/// Logs what a process tells of its environments, each sentence once.
void tell(const environment_request& request, const json& notices) {
  for (const auto& one : notices)
    if (log::is_new("environments\n" + request.id + '\n' + one.at("about").get<std::string>()))
      log::warn(one.at("text").get<std::string>(), {{"env", request.id}});
}

/// The environments of one Python process, and the last results of each.
class python_host {
 public:
  /// Starts the process only if the spaces are not known yet.
  python_host(environment_request request, std::size_t size)
      : request_(std::move(request)), limits_(request_.python), size_(size), rows_(size) {
    if (auto known = known_facts::of_this_process().find(request_)) {
      facts_ = *std::move(known);
      agents_ = agent_layout(facts_.spec);
    } else {
      start();
    }
  }

  ~python_host() {
    if (worker_ && !retiring_ && worker_->is_running() && has_successor()) {
      keep_for_successor(name_for_successor(), std::move(worker_));
    }
  }
  python_host(const python_host&) = delete;

  const environment_request& request() const { return request_; }
  const env_spec& spec() const { return facts_.spec; }

  /// Starts a process unless one is running. Throws environment_process_lost.
  void require_process() {
    if (worker_ && worker_->is_running()) return;
    try {
      start();
    } catch (const python_error& error) {
      throw environment_process_lost(error.what());
    }
  }

  void set_action(std::size_t row, action_view action) {
    const auto parts = action.parts();
    if (!parts.empty()) std::ranges::copy(parts, integers_ + row * facts_.integers);
    if (facts_.floats > 0) set_action(row, action.continuous());
  }
  void set_action(std::size_t row, std::span<const float> numbers) {
    std::ranges::copy(numbers, floats_ + row * facts_.floats);
  }
  /// Sets the actions of several agents. In the layout `given` each may have more numbers behind
  /// its action, which are messages to the others.
  void set_action(std::size_t row, action_view action, const agent_layout& given) {
    for (std::size_t i = 0; i < agents_.count(); ++i) {
      const auto& own = agents_[i];
      std::ranges::copy(given[i].integers.of(action.parts()).first(own.integers.size),
                        integers_ + row * facts_.integers + own.integers.begin);
      std::ranges::copy(given[i].floats.of(action.floats()).first(own.floats.size),
                        floats_ + row * facts_.floats + own.floats.begin);
    }
  }

  /// Takes a step of all environments with the actions that were set. Returns why the process is
  /// replaced from now on, if that begins with this step.
  std::optional<std::string> step() {
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

  /// Resets environments. Their errors are thrown by `show_begun`.
  void reset(const std::vector<std::size_t>& rows,
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
    tell(request_, answer.at("notices"));
    const auto& errors = answer.at("errors");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto& row = rows_.at(rows[i]);
      row = {.is_begun = true, .is_retiring = row.is_retiring};
      if (errors.at(i).is_string()) row.reset_error = errors.at(i).get<std::string>();
    }
  }
  void replace(std::size_t row) {
    call(worker_of(row), {{"do", "replace"}, {"row", row}}, limits_.start,
         "making an environment anew");
    rows_[row] = {.is_retiring = rows_[row].is_retiring};
  }

  void set_options(const std::string& text) {
    options_ = json::parse(text);
    for (auto* worker : running()) tell_options(*worker);
  }
  void set_attr(const std::string& name, const std::string& text) {
    attrs_[name] = json::parse(text);
    for (auto* worker : running()) tell_attr(*worker, name, attrs_[name]);
  }
  /// Sets the level of the episodes that begin from now on.
  void set_level(std::size_t level) {
    if (level_ == level) return;
    level_ = level;
    for (auto* worker : running()) tell_level(*worker);
  }

  /// Whether a step that ends an episode begins the next one at once. Otherwise its last picture
  /// can still be drawn.
  void set_begins_next(bool on) {
    begins_next_ = on;
    if (worker_ && worker_->is_running()) tell_begins_next(*worker_, on);
  }
  /// Draws an environment as it is now.
  bool render(std::size_t i, canvas& on) {
    if (!request_.python.render || !worker_) return false;
    const auto picture =
        call(worker_of(i), {{"do", "render"}, {"row", i}}, limits_.step, "a picture");
    if (picture.empty()) return false;
    const auto bytes = bytes_of_hex(picture.at("rgb").get_ref<const std::string&>());
    on.pixels(picture.at("width").get<int>(), picture.at("height").get<int>(), bytes);
    return true;
  }

  /// Writes the result of the last step of an environment. Throws the error of Python.
  step_result show_step(std::size_t i, std::span<float> obs) const {
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
  /// True if the next episode of the environment has already begun, or failed to.
  bool has_begun(std::size_t i) const { return rows_[i].is_begun || (flags_ && flags_[i] & begun); }
  /// Writes the first observation of an episode that has begun. Throws the error of its reset.
  void show_begun(std::size_t i, std::span<float> obs) {
    auto& row = rows_[i];
    row.is_begun = false;
    flags_[i] = 0;
    const auto error = std::exchange(row.reset_error, {});
    if (!error.empty()) throw std::runtime_error(error);
    std::copy(obs_ + i * facts_.obs_size, obs_ + (i + 1) * facts_.obs_size, obs.begin());
  }
  const episode_info& info(std::size_t i) const { return rows_[i].info; }
  /// Writes what the last step of an environment did to its agents, [N].
  void show_agents(std::size_t i, std::span<agent_step> to) const {
    for (std::size_t a = 0; a < to.size(); ++a) {
      const auto place = i * to.size() + a;
      to[a].reward = agent_reward_[place];
      to[a].ended = agent_ended_[place] == 1   ? episode_end::terminated
                    : agent_ended_[place] == 2 ? episode_end::truncated
                                               : episode_end::none;
    }
  }

 private:
  struct row {
    bool is_begun = false;
    bool is_playing = false;   ///< Its episode has begun, and has not ended as far as Python knows.
    bool is_retiring = false;  ///< Its episode is in the process that is being replaced.
    bool is_new = false;       ///< Its first episode in a new process has not begun.
    std::string error, reset_error;
    episode_info info;
  };

  std::string name_for_successor() const {
    return fmt::format("{} x {}", detail::request_json(request_).dump(), size_);
  }

  /// Returns the process of the role that was here before, which has forgotten its environments, or
  /// a new process.
  std::shared_ptr<python_worker> new_worker() const {
    const auto kept =
        std::static_pointer_cast<python_worker>(take_from_predecessor(name_for_successor()));
    try {
      if (kept) {
        // What the environments do at their end takes no longer than starting another process.
        constexpr double seconds_max = 5;
        call_limit limit{seconds_max};
        if (limits_.start.seconds < seconds_max) limit = limits_.start;
        kept->call({{"do", "renew"}}, limit, "beginning anew");
        return kept;
      }
    } catch (const std::exception& error) {
      log::info("a Python process can't begin anew, so another one is started",
                {{"env", request_.id}, {"reason", error.what()}});
    }
    return std::make_shared<python_worker>(request_.python, request_.id);
  }

  void start() {
    retiring_.reset();
    auto worker = new_worker();
    make_environments(*worker, [&](std::size_t bytes) { base_ = worker->share(bytes).data(); });
    worker_ = std::move(worker);
    ended_ = postponed_until_ = memory_mb_ = 0;
    for (auto& row : rows_) row = {};
  }

  /// Has a process make its environments, and tells it all that was set. `share` makes the shared
  /// memory, if that is not there yet.
  void make_environments(python_worker& worker,
                         const std::function<void(std::size_t bytes)>& share) {
    const auto& python = request_.python;
    const auto told = call(worker, {{"do", "make"}, {"request", detail::request_json(request_)}},
                           limits_.start, "making its environments");
    for (std::size_t i = 1; i < size_; ++i)
      call(worker, {{"do", "make_another"}}, limits_.start, "making another environment");
    auto facts = readable_facts(told);
    if (facts_.obs_size > 0 && facts.spec != facts_.spec)
      throw python_error(
          request_.id + ": expected the spaces that it had before, but its new process has others");
    facts_ = std::move(facts);
    agents_ = agent_layout(facts_.spec);
    lay_out(worker, share);
    if (!options_.is_null()) tell_options(worker);
    if (level_) tell_level(worker);
    if (!begins_next_) tell_begins_next(worker, false);
    for (const auto& [name, value] : attrs_) tell_attr(worker, name, value);
    known_facts::of_this_process().add(request_, facts_, told.at("left_out"));
    tell(request_, told.at("notices"));
  }

  // ---- replacing the process between episodes

  python_worker& worker_of(std::size_t row) {
    return rows_[row].is_retiring ? *retiring_ : *worker_;
  }
  std::vector<python_worker*> running() {
    std::vector<python_worker*> all;
    for (auto* worker : {worker_.get(), retiring_.get()})
      if (worker && worker->is_running()) all.push_back(worker);
    return all;
  }

  /// Says whether and why the process is due.
  std::optional<std::string> reason_to_replace() {
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

  /// Starts the process that takes the environments over. Returns false if it can't be started;
  /// then the present one goes on.
  bool begin_replacement(const std::string& why) {
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
      log::warn(
          "a Python process can't be replaced, so it goes on",
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

  /// Notes that the episodes of these environments are over. Python does not know of those that a
  /// time limit of this program has ended.
  void note_resets(const std::vector<std::size_t>& rows) {
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

  /// Gives environments to the new process, and ends the old one with the last of them.
  void hand_over(const std::vector<std::size_t>& rows) {
    if (rows.empty()) return;
    for (const auto i : rows) rows_[i] = {.is_new = true};
    std::vector<std::size_t> old_rows, new_rows;
    for (std::size_t i = 0; i < size_; ++i)
      (rows_[i].is_retiring ? old_rows : new_rows).push_back(i);
    tell_hosted(*worker_, new_rows, false);
    if (!old_rows.empty()) {
      tell_hosted(*retiring_, old_rows, true);
      return;
    }
    try {
      tell_hosted(*retiring_, {}, true);
    } catch (const std::exception& error) {
      log::warn("a Python process that was replaced did not close its environments",
                {{"env", request_.id}, {"reason", error.what()}});
    }
    retiring_.reset();
  }

  /// Returns the seed of an environment's first reset in a process that has replaced another one,
  /// which follows from that of all environments.
  std::optional<std::uint64_t> first_seed(std::size_t row) {
    if (!std::exchange(rows_[row].is_new, false) || !seed_) return std::nullopt;
    return environment_seed(*seed_, "replaced process", {replacements_, row});
  }

  python_facts readable_facts(const json& told) const {
    try {
      return facts_of(request_, told);
    } catch (const python_error&) {
      throw;
    } catch (const std::exception& error) {
      throw python_error(request_.id + ": expected spaces that can be used: " + error.what());
    }
  }

  /// Lays out the arrays in the memory that is shared with the process, and tells it where they
  /// are.
  void lay_out(python_worker& worker, const std::function<void(std::size_t bytes)>& share) {
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

  /// Sends a command. Throws environment_process_lost.
  static json call(python_worker& worker, const json& command, const call_limit& limit,
                   const char* action) {
    try {
      return worker.call(command, limit, action);
    } catch (const python_ended& error) {
      throw environment_process_lost(error.what());
    }
  }
  /// Has a process take a step, and returns the events. Throws environment_process_lost.
  json take_step(python_worker& worker) {
    try {
      return worker.step({.step = limits_.step, .reset = limits_.reset, .mark = *mark_});
    } catch (const python_ended& error) {
      throw environment_process_lost(error.what());
    }
  }

  void read_events(python_worker& worker, const json& events) {
    try {
      for (const auto& event : events) read_event(event);
    } catch (const std::exception& error) {
      worker.kill();
      throw environment_process_lost(
          "the Python process of " + request_.id +
          " was ended, because its answer can't be read: " + error.what());
    }
  }
  void read_event(const json& event) {
    if (const auto notice = event.find("notice"); notice != event.end()) {
      tell(request_, json::array({*notice}));
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

  void tell_begins_next(python_worker& worker, bool on) {
    call(worker, {{"do", "set_begins_next"}, {"on", on}}, limits_.step, "a command");
  }
  /// `closes`: whether the process no longer needs the other environments.
  void tell_hosted(python_worker& worker, const std::vector<std::size_t>& rows, bool closes) {
    call(worker, {{"do", "host"}, {"rows", rows}, {"closes", closes}}, limits_.step,
         "handing environments over");
  }
  void tell_level(python_worker& worker) {
    call(worker, {{"do", "set_level"}, {"level", *level_}}, limits_.step, "setting a level");
  }
  void tell_options(python_worker& worker) {
    call(worker, {{"do", "set_options"}, {"options", options_}}, limits_.step, "setting options");
  }
  void tell_attr(python_worker& worker, const std::string& name, const json& value) {
    call(worker, {{"do", "set_attr"}, {"name", name}, {"value", value}}, limits_.step,
         "setting an attribute");
  }

  const environment_request request_;
  const environment_limits limits_;
  const std::size_t size_;
  python_facts facts_;
  agent_layout agents_;  ///< Of facts_.spec.
  std::shared_ptr<python_worker> worker_;
  /// The process that worker_ replaces, until the last of its episodes has ended. Both have the
  /// same shared memory.
  std::shared_ptr<python_worker> retiring_;
  std::byte* base_ = nullptr;         ///< The shared memory.
  std::int64_t ended_ = 0;            ///< The episodes that have ended in worker_.
  std::int64_t postponed_until_ = 0;  ///< No replacement is tried before so many.
  std::int64_t memory_mb_ = 0;        ///< The most that was told of worker_.
  std::uint64_t replacements_ = 0;
  bool told_too_large_ = false;
  std::optional<std::uint64_t> seed_;  ///< That of the first environment at the last full reset.
  std::optional<std::size_t> level_;   ///< Of the next episodes; nullopt means the last one.
  bool begins_next_ = true;
  json options_;  ///< The options of resets; null means none.
  std::map<std::string, json> attrs_;
  std::vector<row> rows_;
  std::int64_t* integers_ = nullptr;  ///< [B, P] actions
  float* floats_ = nullptr;           ///< [B, A] actions
  float* obs_ = nullptr;              ///< [B, D] present observations
  float* final_ = nullptr;            ///< [B, D] the last observations of ended episodes
  double* agent_reward_ = nullptr;    ///< [B, N]
  /// [B, N] The numbers of an episode_end, as agents.py writes them.
  std::uint8_t* agent_ended_ = nullptr;
  double* reward_ = nullptr;       ///< [B]
  std::uint8_t* flags_ = nullptr;  ///< [B]
  std::int64_t* mark_ = nullptr;   ///< See step_limits.
};

/// One environment of a process. Its `step` shows the result of a step that the process has taken.
class python_row final : public environment {
 public:
  python_row(python_host& host, std::size_t index)
      : host_(host), index_(index), agents_(host.spec().agents.size()) {}

  env_spec spec() const override { return host_.spec(); }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    // A reset of all environments with seeds has come before, and a step begins the next episodes.
    // What is left are environments that were made anew. Some take only seeds of 31 bits.
    if (!host_.has_begun(index_)) {
      if (seed) *seed &= 0x7fffffff;
      host_.reset({index_}, {seed});
    }
    host_.show_begun(index_, obs);
  }
  void set_level(std::size_t level) override { host_.set_level(level); }
  step_result step(action_view, std::span<float> obs) override {
    const auto result = host_.show_step(index_, obs);
    host_.show_agents(index_, agents_);
    return result;
  }
  std::span<const agent_step> agent_steps() const override { return agents_; }
  episode_info info() const override { return host_.info(index_); }
  bool render(canvas& on) const override { return host_.render(index_, on); }

 private:
  python_host& host_;
  std::size_t index_;
  std::vector<agent_step> agents_;  // [N]
};

/// Refuses wrappers that need a saved state, and with several agents those for the observations and
/// actions of one. Throws std::invalid_argument.
void require_fitting_wrappers(const environment_request& request, const env_spec& spec) {
  if (request.wrappers.difference_rewards)
    throw std::invalid_argument(
        request.id +
        ": env.difference_rewards: expected an environment that can be saved, got one in Python");
  if (spec.agents.empty()) return;
  const auto refuse = [&](const char* option, const std::string& expected, const std::string& got) {
    throw std::invalid_argument(
        fmt::format("{}: {}: expected {}, for it has {} agents, whose observations and actions "
                    "are joined, got {}",
                    request.id, option, expected, spec.agents.size(), got));
  };
  if (request.wrappers.frames != 1)
    refuse("env.frame_stack", "1", fmt::format("{}", request.wrappers.frames));
  if (request.wrappers.rescale_actions) refuse("env.rescale_action", "false", "true");
}

/// The wrappers of a row. Actions are scaled before they are sent, and Gymnasium applies the time
/// limit of its environments.
wrapper_options wrappers_of_row(const environment_request& request) {
  auto wrappers = request.wrappers;
  wrappers.rescale_actions = false;
  return wrappers;
}

env_spec spec_of(const python_host& host, const environment& row) {
  auto spec = row.spec();
  return host.request().wrappers.rescale_actions ? action_scaling::scaled(spec) : spec;
}

std::optional<action_scaling> scaling_of(const python_host& host) {
  return host.request().wrappers.rescale_actions ? std::optional<action_scaling>(host.spec())
                                                 : std::nullopt;
}

class python_environments final : public detail::vector_env_base {
 public:
  python_environments(std::shared_ptr<python_host> host,
                      std::vector<std::unique_ptr<environment>> rows)
      : vector_env_base(rows.size(), spec_of(*host, *rows.front())),
        host_(std::move(host)),
        rows_(std::move(rows)),
        scaling_(scaling_of(*host_)),
        scaled_(scaling_ ? scaling_->size() : 0),
        agents_(rows_.front()->spec()) {}

  env_reset reset(std::optional<std::uint64_t> seed) override {
    host_->require_process();
    std::vector<std::size_t> rows(size());
    std::vector<std::optional<std::uint64_t>> seeds(size());
    for (std::size_t i = 0; i < size(); ++i) {
      rows[i] = i;
      if (seed) seeds[i] = *seed + i;
    }
    host_->reset(rows, seeds);
    return vector_env_base::reset(seed);
  }

  void step_into(env_actions& actions, env_step& out) override {
    auto batch = begin_step(actions, out);
    for (std::size_t i = 0; i < size(); ++i) {
      if (scaling_) {
        scaling_->write(action(batch, i).continuous(), scaled_);
        host_->set_action(i, scaled_);
      } else if (agents_.count() > 0) {
        host_->set_action(i, action(batch, i), agents_);
      } else {
        host_->set_action(i, action(batch, i));
      }
    }
    out.process_replaced = host_->step();
    for (std::size_t i = 0; i < size(); ++i) {
      step_result result;
      try {
        result = rows_[i]->step(action(batch, i), batch.rows.row(i));
      } catch (...) {
        drop_thrown(batch, i);
        continue;
      }
      settle(batch, i, result);
    }
    end_step(batch);
  }

  /// A step begins the next episodes, so their level is told before it.
  void set_level(std::size_t level) override {
    vector_env_base::set_level(level);
    host_->set_level(level);
  }
  void set_options(const std::string& json) override { host_->set_options(json); }
  void set_attr(const std::string& name, const std::string& json) override {
    host_->set_attr(name, json);
  }
  void set_final_canvas(canvas* on) override {
    host_->set_begins_next(on == nullptr);
    vector_env_base::set_final_canvas(on);
  }

 private:
  environment& at(std::size_t i) override { return *rows_[i]; }
  void replace(std::size_t i) override { host_->replace(i); }

  std::shared_ptr<python_host> host_;
  std::vector<std::unique_ptr<environment>> rows_;
  std::optional<action_scaling> scaling_;
  std::vector<float> scaled_;  // [A]
  agent_layout agents_;        // with the wrappers
};

/// An environment that is alone in its process.
class single_python_environment final : public environment {
 public:
  explicit single_python_environment(std::shared_ptr<python_host> host)
      : host_(std::move(host)), row_(*host_, 0) {}

  env_spec spec() const override { return host_->spec(); }
  void set_level(std::size_t level) override { host_->set_level(level); }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    host_->require_process();
    host_->reset({0}, {seed});
    row_.reset(seed, obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    host_->set_action(0, action);
    host_->step();
    return row_.step(action, obs);
  }
  std::span<const agent_step> agent_steps() const override { return row_.agent_steps(); }
  episode_info info() const override { return row_.info(); }
  bool render(canvas& on) const override { return row_.render(on); }
  void set_options(const std::string& json) override { host_->set_options(json); }
  void set_attr(const std::string& name, const std::string& json) override {
    host_->set_attr(name, json);
  }

 private:
  std::shared_ptr<python_host> host_;
  python_row row_;
};

}  // namespace

nlohmann::json detail::request_json(const environment_request& of) {
  const auto& limit = of.wrappers.max_episode_steps;
  return {{"id", of.id},
          {"options", json::parse(of.options)},
          {"reset_options", json::parse(of.reset_options)},
          {"wrappers", of.python.wrappers},
          {"info", of.python.info},
          {"tells_memory", of.python.replace_above_mb > 0},
          {"max_episode_steps", limit ? json(*limit) : json()},
          {"render", of.python.render}};
}

bool names_python(std::string_view id) {
  if (id.starts_with("gymnasium:") || id.starts_with("pettingzoo:")) return true;
  const auto colon = id.find(':');
  return colon != id.npos && is_dotted_name(id.substr(0, colon)) &&
         is_dotted_name(id.substr(colon + 1));
}

std::unique_ptr<vector_environment> make_python_environments(const environment_request& request,
                                                             std::size_t size) {
  if (size == 0)
    throw std::invalid_argument(request.id + ": expected a batch of at least 1 environment, got 0");
  const auto host = std::make_shared<python_host>(request, size);
  require_fitting_wrappers(request, host->spec());
  std::vector<std::unique_ptr<environment>> rows;
  for (std::size_t i = 0; i < size; ++i)
    rows.push_back(wrapped(std::make_unique<python_row>(*host, i), wrappers_of_row(request)));
  return std::make_unique<python_environments>(host, std::move(rows));
}

std::unique_ptr<environment> make_python_environment(const environment_request& request) {
  auto host = std::make_shared<python_host>(request, std::size_t{1});
  require_fitting_wrappers(request, host->spec());
  return wrapped(std::make_unique<single_python_environment>(std::move(host)), request.wrappers);
}

}  // namespace troupe
