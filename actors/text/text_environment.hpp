#pragma once
// The contract of text worlds: environments that a language model plays in words.
//
//   /// A number from 1 to 100 that is to be guessed in seven turns.
//   class guess_number final : public text_environment {
//    public:
//     task<text_step> reset(const text_reset& with) override {
//       secret_ = action_random(with.seed).below(100) + 1;
//       co_return text_step{.shown = {"Guess my number from 1 to 100."}};
//     }
//     task<text_step> step(std::string reply) override {
//       const auto guess = last_number(reply);
//       if (!guess) co_return text_step{.refused = "expected a number"};
//       if (*guess == secret_) co_return text_step{.shown = {"Right!"}, .reward = 1, .ended =
//       true}; co_return text_step{.shown = {*guess < secret_ ? "It is higher." : "It is lower."}};
//     }
//    private:
//     double secret_ = 0;
//   };

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/random/action_random.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// The same text in two forms.
struct wording {
  std::string words = {};    ///< for models that read English
  std::string letters = {};  ///< for the letters model (actors/llm/tasks/letters_model.hpp)

  bool operator==(const wording&) const = default;
};

/// How an episode begins.
struct text_reset {
  std::uint64_t seed = 0;
  /// The line of a dataset that the episode is about, a JSON object. "{}" means none.
  std::string item = "{}";
  /// The number of the episode among those with this seed and item that are played at the same
  /// time. Worlds begin alike for each; a recording tells them apart by it.
  std::uint64_t episode = 0;
};

/// The world's answer to a reset or to a reply of the model.
struct text_step {
  std::string system = {};  ///< After a reset: the system message. Empty means none.
  wording shown = {};       ///< The text that the model is shown next.
  double reward = 0;        ///< The reward of the last reply; finite.
  bool ended = false;       ///< True if the episode has ended.
  /// Why the last reply was no action, in words for the model. The world has not changed. Empty
  /// means that it was one.
  std::string refused = {};
  std::map<std::string, double> info = {};  ///< Numbers of the episode, such as "success".
};

/// A world, for one episode at a time. An exception ends the episode; the next one begins with a
/// reset.
class text_environment {
 public:
  virtual ~text_environment() = default;
  /// Begins an episode. The same argument must give the same first step.
  virtual task<text_step> reset(const text_reset& with) = 0;
  /// Takes the whole text that the model has written in its turn; text_action.hpp finds actions in
  /// it.
  virtual task<text_step> step(std::string reply) = 0;
  /// Is called when the caller ends an episode that has not ended, such as at its limit of turns.
  /// What only an episode needs may then be given up, such as a slot of a server; the next call is
  /// a reset. It may also be called between episodes. Does nothing by default.
  virtual void end_episode() {}
};

using text_environment_maker = std::function<std::unique_ptr<text_environment>()>;

/// One turn of a made-up conversation: the text shown to the player, and the player's answer.
struct dialogue_turn {
  wording shown, said;
};

/// A kind of text world, and how a run has to treat it.
struct text_environment_spec {
  std::string name;       ///< such as "blackjack"
  std::string what = {};  ///< a description in a few words
  text_environment_maker make = {};
  int turns = 8;             ///< the default limit of the player's turns
  bool has_letters = false;  ///< true if the letters model can play it
  /// True if a reply that is no action ends the episode by default. Otherwise the model is told and
  /// goes on.
  bool refusal_ends = false;
  bool blocks = false;  ///< true if its calls block a thread, so that its replicas have one each
  /// Why the same seed need not give the same episodes, such as "a server plays it"; empty if it
  /// does.
  std::string not_deterministic = {};
  /// Returns a made-up conversation of legal replies, good and bad ones alike. It teaches how
  /// replies are written and not which are good. Empty if there is none.
  std::function<std::vector<dialogue_turn>(action_random& random)> practise = {};
};

/// Registers a text world of the program's own, which the option task.world then finds by its name.
/// Throws std::invalid_argument if the name is empty or taken. Any thread may call this function
/// and those below.
void register_text_environment(text_environment_spec spec);
/// The registered text world of this name, or null.
const text_environment_spec* find_text_environment(std::string_view name);
/// The names of all registered text worlds, sorted.
std::vector<std::string> text_environment_names();

}  // namespace troupe
