#pragma once
// Episodes in words: a model writes and a world answers, until the world or a limit ends the
// episode.
//
//   auto game = openenv::chat_environments(openenv::blackjack_chat_view(),
//                                          openenv::worlds_on({.urls = {url}}))();
//   auto played = co_await play_text_episode(*game, item, write, limits);
//
// The function `write` asks the model, for example `[policy](conversation so_far) { return
// policy_writes(policy, std::move(so_far)); }`.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/text/conversation.hpp"
#include "actors/text/text_environment.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// One example of a dataset: how its episode begins, and the right answer.
struct text_task {
  conversation prompt;   ///< The messages after the world's system prompt; may be empty.
  nlohmann::json reset;  ///< The arguments of the world's reset, an object, or null.
  std::string world;     ///< The world's name, such as "echo", for mixed datasets.
  std::string expected;  ///< The right answer, or empty.
};

/// Reads a task from {"prompt": "text" or [{"role":..,"content":..}], "reset": {..}, "env_name":
/// "echo", "expected": ".."}. All keys are optional and unknown ones are ignored. Throws
/// std::invalid_argument.
text_task to_text_task(const nlohmann::json& object);
/// Reads the tasks of a JSON Lines file, one in each line. Throws jsonl_error.
std::vector<text_task> read_text_tasks(const std::filesystem::path& path);

/// The text that a model wrote in one turn.
struct written_text {
  std::string text;
  std::int64_t tokens = 0;   ///< The number of its tokens.
  std::int64_t version = 0;  ///< The version of the oldest weights that wrote part of it.
};
/// Asks the model to continue the conversation. The call may be slow; the world's connection stays
/// open meanwhile.
using text_writer = std::function<task<written_text>(conversation so_far)>;

/// The rule for a turn in which the model wrote no valid action, or one that the world refuses.
enum class malformed_rule {
  tell,  ///< The model is told the error and continues. The turn counts.
  end,   ///< The episode ends.
};

/// The limits of an episode.
struct text_limits {
  std::int64_t turns_max = 8;   ///< The largest number of the model's turns, at least 1.
  std::int64_t tokens_max = 0;  ///< The largest number of tokens in all turns; 0 means no limit.
  malformed_rule malformed = malformed_rule::tell;
  double malformed_reward = 0;  ///< The reward of a turn without a valid action.
};

/// The reason why an episode ended.
enum class text_end {
  world,      ///< The world ended it.
  turns,      ///< It reached turns_max.
  tokens,     ///< It reached tokens_max.
  malformed,  ///< An action was malformed, with malformed_rule::end.
};

/// One turn of the model.
struct text_turn {
  written_text written;
  std::string refused;  ///< Why the world refused it; empty if it did not.
  double reward = 0;
};

/// A complete episode.
struct text_episode {
  text_task task;
  conversation said;             ///< All messages, the system prompt first.
  std::vector<text_turn> turns;  ///< The model's turns, at least one.
  double world_return = 0;       ///< The sum of the turns' rewards.
  text_end end = text_end::world;
  std::int64_t version = 0;  ///< The version of the oldest weights that wrote part of it.

  /// Returns the model's last action (parse_action), or its whole last text if it has none.
  std::string answer() const;
};

/// Plays an episode with the seed of the item's "reset", else 0. Throws std::invalid_argument for
/// limits out of range, and the exceptions of the world and of `write`. `world` must outlive the
/// task.
task<text_episode> play_text_episode(text_environment& world, text_task item, text_writer write,
                                     text_limits limits = {});

}  // namespace troupe
