#include "actors/text/recorded_episodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "actors/data/jsonl.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace troupe {
namespace {

using nlohmann::json;

json to_json(const text_step& step) {
  json made = json::object();
  if (!step.system.empty()) made["system"] = step.system;
  if (!step.shown.words.empty()) made["shown"] = step.shown.words;
  if (!step.shown.letters.empty()) made["letters"] = step.shown.letters;
  if (step.reward != 0) made["reward"] = step.reward;
  if (step.ended) made["ended"] = true;
  if (!step.refused.empty()) made["refused"] = step.refused;
  if (!step.info.empty()) made["info"] = step.info;
  return made;
}

/// JSON has null for NaN and infinities.
double reward_in(const json& step) {
  const auto found = step.find("reward");
  if (found == step.end()) return 0;
  return found->is_null() ? std::numeric_limits<double>::quiet_NaN() : found->get<double>();
}

text_step step_of(const json& from) {
  return {.system = from.value("system", ""),
          .shown = {from.value("shown", ""), from.value("letters", "")},
          .reward = reward_in(from),
          .ended = from.value("ended", false),
          .refused = from.value("refused", ""),
          .info = from.value("info", std::map<std::string, double>())};
}

/// What a world has said to a reply, or to the reset.
struct heard {
  std::string reply;
  text_step step;
  std::string failed;  ///< Why the world has failed; empty if it has not.
};

heard heard_in(const json& line) {
  heard made{.reply = line.value("reply", ""), .step = {}, .failed = line.value("failed", "")};
  if (made.failed.empty()) made.step = step_of(line.at("step"));
  return made;
}

using episode_key = std::tuple<std::uint64_t, std::string, std::uint64_t>;

episode_key key_of(const text_reset& with) {
  return {with.seed, json::parse(with.item).dump(), with.episode};
}

struct episode {
  text_reset with;
  std::vector<heard> said;  ///< The first one is the answer to the reset.
};

/// Models may write bytes that are no UTF-8, which then stand in the file, and in the comparison,
/// as U+FFFD.
std::string dumped(const json& line) {
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string text_in_file(const std::string& text) {
  return json::parse(dumped(text)).get<std::string>();
}

/// The episodes of a file, whose lines come one by one.
class episode_reader {
 public:
  void take(const json& line) {
    const auto id = line.at("id").get<std::int64_t>();
    auto said = heard_in(line);
    if (line.contains("seed")) {
      const auto [place, is_new] = episodes_.try_emplace(id);
      if (!is_new) throw std::invalid_argument("id: expected one that no episode before has");
      place->second.with = {.seed = line.at("seed").get<std::uint64_t>(),
                            .item = line.at("item").dump(),
                            .episode = line.at("episode").get<std::uint64_t>()};
    }
    const auto place = episodes_.find(id);
    if (place == episodes_.end())
      throw std::invalid_argument("id: expected that of an episode whose reset came before");
    place->second.said.push_back(std::move(said));
  }
  std::vector<episode> all() && {
    std::vector<episode> made;
    for (auto& [id, each] : episodes_) made.push_back(std::move(each));
    return made;
  }

 private:
  std::map<std::int64_t, episode> episodes_;
};

class recorded_world final : public text_environment {
 public:
  recorded_world(std::unique_ptr<text_environment> world, std::shared_ptr<recording_file> recording)
      : world_(std::move(world)), recording_(std::move(recording)) {}

  task<text_step> reset(const text_reset& with) override {
    id_ = recording_->next_id();
    json line{{"id", id_},
              {"seed", with.seed},
              {"item", json::parse(with.item)},
              {"episode", with.episode}};
    co_return co_await told(std::move(line), world_->reset(with));
  }
  task<text_step> step(std::string reply) override {
    json line{{"id", id_}, {"reply", reply}};
    co_return co_await told(std::move(line), world_->step(std::move(reply)));
  }
  void end_episode() override { world_->end_episode(); }

 private:
  task<text_step> told(json line, task<text_step> answer) {
    std::exception_ptr error;
    text_step said;
    try {
      said = co_await std::move(answer);
      line["step"] = to_json(said);
    } catch (...) {
      error = std::current_exception();
      line["failed"] = describe(error);
    }
    try {
      recording_->append(dumped(line) + '\n');
    } catch (const std::exception& e) {
      log::error("an episode was not recorded; training goes on", {{"error", e.what()}});
    }
    if (error) std::rethrow_exception(error);
    co_return said;
  }

  std::unique_ptr<text_environment> world_;
  std::shared_ptr<recording_file> recording_;
  std::int64_t id_ = 0;
};

}  // namespace

class recorded_episodes {
 public:
  struct played {
    episode recorded;
    std::int64_t times = 0;  ///< How often it was played.
  };

  recorded_episodes(std::filesystem::path path, std::vector<episode> episodes)
      : path_(std::move(path)) {
    for (auto& each : episodes) {
      const auto key = key_of(each.with);
      by_key_[key].push_back({std::move(each)});
    }
  }

  /// The episodes with this beginning, those that were played least first.
  std::vector<played*> begin(const text_reset& with) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_key_.find(key_of(with));
    if (found == by_key_.end()) return {};
    std::vector<played*> fitting;
    for (auto& each : found->second) fitting.push_back(&each);
    std::ranges::stable_sort(fitting, {}, &played::times);
    return fitting;
  }
  void count(played& of) {
    const std::scoped_lock lock(mutex_);
    ++of.times;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::mutex mutex_;
  std::map<episode_key, std::vector<played>> by_key_;
};

namespace {

class replayed_world final : public text_environment {
 public:
  explicit replayed_world(std::shared_ptr<recorded_episodes> episodes)
      : episodes_(std::move(episodes)) {}
  ~replayed_world() override { finish(); }

  task<text_step> reset(const text_reset& with) override {
    finish();
    fitting_ = episodes_->begin(with);
    turn_ = 0;
    if (fitting_.empty())
      throw std::runtime_error(fmt::format(
          "{}: expected an episode with the seed {}, the item {} and the number {}, got none: the "
          "options of the run must be those of the recording, and the file must be whole",
          episodes_->path().string(), with.seed, with.item, with.episode));
    co_return answer();
  }

  task<text_step> step(std::string reply) override {
    ++turn_;
    const auto written = text_in_file(reply);
    const auto differs = [&](const recorded_episodes::played* each) {
      const auto& said = each->recorded.said;
      return turn_ >= said.size() || said[turn_].reply != written;
    };
    const auto with = fitting_.empty() ? text_reset{} : fitting_.front()->recorded.with;
    std::erase_if(fitting_, differs);
    if (fitting_.empty())
      throw std::runtime_error(fmt::format(
          "{}: expected an episode with the seed {} in which the model says {} in turn {}, got "
          "none: the options of the run must be those of the recording, and the file must be whole",
          episodes_->path().string(), with.seed, dumped(reply), turn_));
    co_return answer();
  }

 private:
  text_step answer() {
    const auto said = fitting_.front()->recorded.said[turn_];
    if (!said.failed.empty()) throw std::runtime_error(said.failed);
    if (said.step.ended) finish();
    return said.step;
  }

  void finish() {
    if (!fitting_.empty()) episodes_->count(*fitting_.front());
    fitting_.clear();
  }

  std::shared_ptr<recorded_episodes> episodes_;
  std::vector<recorded_episodes::played*> fitting_;
  std::size_t turn_ = 0;
};

}  // namespace

text_environment_maker recorded(text_environment_maker make,
                                std::shared_ptr<recording_file> recording) {
  return [make = std::move(make), recording = std::move(recording)] {
    return std::make_unique<recorded_world>(make(), recording);
  };
}

std::shared_ptr<recorded_episodes> read_episodes(const std::filesystem::path& path) {
  episode_reader reader;
  for_each_jsonl(
      path, [&](const json& line) { reader.take(line); },
      {.file_bytes_max = std::uint64_t{1} << 40, .line_bytes_max = std::size_t{1} << 30});
  return std::make_shared<recorded_episodes>(path, std::move(reader).all());
}

text_environment_maker replayed(std::shared_ptr<recorded_episodes> episodes) {
  return [episodes = std::move(episodes)] { return std::make_unique<replayed_world>(episodes); };
}

}  // namespace troupe
