#pragma once
// Episodes in words: a model writes, a world answers, until the world or a limit ends it.
//
//   auto game = games.open();  // an openenv::client's
//   auto played = co_await play_text_episode(game, blackjack_chat_view(), item, write, limits);
//
// where `write` asks the model, for example `[policy](conversation so_far) { return
// policy_writes(policy, std::move(so_far)); }`.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/openenv/client/client.hpp"
#include "actors/text/chat_view.hpp"
#include "actors/text/conversation.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// One example of a dataset: how its episode begins, and what is right.
struct text_task {
  conversation prompt;   ///< After the world's system prompt; may be empty.
  nlohmann::json reset;  ///< What the world's reset takes, an object; null: nothing.
  std::string world;     ///< Its name, "echo"; for datasets of several.
  std::string expected;  ///< The right answer, where there is one.
};

/// From {"prompt": "text" or [{"role":..,"content":..}], "reset": {..}, "env_name": "echo",
/// "expected": ".."}, all of them optional, unknown keys passed over. Throws std::invalid_argument.
text_task to_text_task(const nlohmann::json& object);
/// The tasks of a JSON Lines file, one a line. Throws jsonl_error.
std::vector<text_task> read_text_tasks(const std::filesystem::path& path);

/// What a model wrote.
struct written_text {
  std::string text;
  std::int64_t tokens = 0;   ///< Of the text.
  std::int64_t version = 0;  ///< The oldest weights that made any of it.
};
/// Asks the model to go on. It may be slow; the world's connection is kept meanwhile.
using text_writer = std::function<task<written_text>(conversation so_far)>;

/// What becomes of a turn in which the model wrote no action, or one that the world refuses.
enum class malformed_rule {
  tell,  ///< The model is told what is wrong, and goes on: a turn has passed.
  end,   ///< The episode is over.
};

struct text_limits {
  std::int64_t turns_max = 8;   ///< Of the model. At least 1.
  std::int64_t tokens_max = 0;  ///< That the model writes, all turns together; 0: no limit.
  malformed_rule malformed = malformed_rule::tell;
  double malformed_reward = 0;  ///< Of each such turn.
};

/// Why an episode ended.
enum class text_end {
  world,      ///< The world said so.
  turns,      ///< turns_max.
  tokens,     ///< tokens_max.
  malformed,  ///< malformed_rule::end.
};

/// One turn of the model.
struct text_turn {
  written_text written;
  text_action action;  ///< With what was wrong with it, the world's refusal included.
  double reward = 0;
};

struct text_episode {
  text_task task;
  conversation said;             ///< All of it, the system prompt first.
  std::vector<text_turn> turns;  ///< At least one.
  double world_return = 0;       ///< The sum of the turns' rewards.
  text_end end = text_end::world;
  std::int64_t version = 0;  ///< The oldest weights that made any turn.

  /// What the model did last: its action, or all it wrote where that is malformed.
  const std::string& answer() const;
};

/// Throws openenv::error where the world fails (an action that it refuses is no failure),
/// std::invalid_argument for limits out of range, and what `write` throws. `game` outlives it.
task<text_episode> play_text_episode(openenv::session& game, chat_view world, text_task item,
                                     text_writer write, text_limits limits = {});

}  // namespace troupe
