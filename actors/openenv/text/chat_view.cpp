#include "actors/openenv/text/chat_view.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

#include "actors/openenv/protocol/worlds.hpp"
#include "actors/openenv/text/tool_text.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

constexpr const char* answer_in_tags = "Answer with <action>...</action>.";

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

template <class Observation>
Observation read(const result& from) {
  return from_json<Observation>(from.observation, "/data/observation");
}

json openspiel_action(const std::map<std::string, int>& actions, const text_action& what) {
  std::string names;
  for (const auto& [name, id] : actions) {
    if (upper(name) == upper(what.action)) return json{{"action_id", id}};
    names += (names.empty() ? "" : ", ") + name;
  }
  throw std::invalid_argument("expected an action of " + names);
}

// The parts of the tensor: the player to move, the end of the game and the totals come first. Then
// follow the dealer's first card, the player's cards and all visible cards of the dealer, 52
// numbers each.
constexpr std::size_t blackjack_size = 189, dealer_card = 33, own_cards = 85, dealer_cards = 137;

struct cards {
  std::string names;
  int total = 0;
};

cards cards_at(const std::vector<float>& info_state, std::size_t from) {
  static constexpr std::array suits{"clubs", "diamonds", "hearts", "spades"};
  static constexpr std::array ranks{"ace", "2", "3",  "4",    "5",     "6",   "7",
                                    "8",   "9", "10", "jack", "queen", "king"};
  cards found;
  bool ace = false;
  for (std::size_t card = 0; card < 52; ++card) {
    if (info_state[from + card] == 0) continue;
    const auto rank = card % 13;
    found.names +=
        (found.names.empty() ? "" : ", ") + std::string(ranks[rank]) + " of " + suits[card / 13];
    found.total += static_cast<int>(std::min<std::size_t>(rank + 1, 10));
    ace |= rank == 0;
  }
  if (ace && found.total <= 11) found.total += 10;
  return found;
}

/// The texts of a first observation, which may say what is to be done with the tools.
std::string first_words(const json& observation) {
  std::string words;
  for (const auto& [name, value] : observation.items()) {
    if (!value.is_string()) continue;
    words += (words.empty() ? "" : "\n") + value.get<std::string>();
  }
  return words;
}

}  // namespace

namespace {

class chat_environment final : public text_environment {
 public:
  chat_environment(chat_view view, std::unique_ptr<json_world> world)
      : view_(std::move(view)), world_(std::move(world)) {}

  task<text_step> reset(const text_reset& with) override {
    const auto item = json::parse(with.item);
    auto arguments = item.value("reset", json::object());
    if (!arguments.contains("seed")) arguments["seed"] = with.seed;
    const auto first = co_await world_->reset(std::move(arguments));
    co_return text_step{
        .system = view_.system_prompt, .shown = {view_.show(first)}, .ended = first.ended};
  }

  task<text_step> step(std::string reply) override {
    const auto action = view_.parse(reply);
    if (!action.well_formed()) co_return text_step{.refused = action.malformed};
    std::string refused;
    try {
      const auto next = co_await world_->step(view_.act(action));
      text_step made{
          .shown = {view_.show(next)}, .reward = next.reward.value_or(0), .ended = next.ended};
      if (next.ended && view_.success) made.info["success"] = view_.success(next) ? 1 : 0;
      co_return made;
    } catch (const std::invalid_argument& e) {
      refused = e.what();
    } catch (const error& e) {
      if (!keeps_session(e.reason())) throw;
      refused = e.what();
    }
    co_return text_step{.refused = std::move(refused)};
  }

  void end_episode() override { world_->end_episode(); }

 private:
  chat_view view_;
  std::unique_ptr<json_world> world_;
};

}  // namespace

text_environment_maker chat_environments(chat_view view, world_maker make) {
  return [view = std::move(view), make = std::move(make)] {
    return std::make_unique<chat_environment>(view, make());
  };
}

std::string blackjack_in_words(const std::vector<float>& info_state) {
  if (info_state.size() != blackjack_size)
    throw std::invalid_argument("blackjack: expected an info_state of 189 numbers, got " +
                                std::to_string(info_state.size()));
  const auto mine = cards_at(info_state, own_cards);
  const auto first = cards_at(info_state, dealer_card);
  const auto all_of_dealer = cards_at(info_state, dealer_cards);
  const auto& dealer = all_of_dealer.names.size() > first.names.size() ? all_of_dealer : first;
  return "Your cards: " + mine.names + " (" + std::to_string(mine.total) +
         "). The dealer shows: " + dealer.names + '.';
}

chat_view echo_chat_view() {
  return {.system_prompt = std::string("Whatever you say is echoed. ") + answer_in_tags,
          .act = [](const text_action& what) { return json{{"message", what.action}}; },
          .show = [](const result& from) { return read<echo::observation>(from).echoed_message; }};
}

chat_view coding_chat_view() {
  return {.system_prompt = std::string("Your action is run as Python. ") + answer_in_tags,
          .act = [](const text_action& what) { return json{{"code", what.action}}; },
          .show =
              [](const result& from) {
                const auto ran = read<coding::observation>(from);
                return "stdout:\n" + ran.stdout_text + "\nstderr:\n" + ran.stderr_text +
                       "\nexit code " + std::to_string(ran.exit_code);
              }};
}

chat_view textarena_chat_view() {
  return {.system_prompt = std::string("You play a game in words. ") + answer_in_tags,
          .act = [](const text_action& what) { return json{{"message", what.action}}; },
          .show =
              [](const result& from) {
                const auto said = read<textarena::observation>(from);
                std::string text = said.messages.empty() ? said.prompt : "";
                for (const auto& message : said.messages)
                  text += (text.empty() ? "" : "\n") + message.content;
                return text;
              },
          // TextArena pays 1 for a game that was won. Some games pay less for one that nearly was.
          .success = [](const result& from) { return from.reward.value_or(0) >= 1; }};
}

chat_view tools_chat_view(const json& tools) {
  return {.system_prompt = tools_in_words(tools),
          .parse = parse_tool_call,
          .act =
              [](const text_action& what) {
                return to_json_object(openenv::tools::call(what.action, what.arguments));
              },
          .show =
              [](const result& from) {
                const auto got = read<openenv::tools::observation>(from);
                if (!got.tool_name) return first_words(from.observation);
                if (got.error) return got.error->error_type + ": " + got.error->message;
                const auto data = got.result.is_object() && got.result.contains("data")
                                      ? got.result["data"]
                                      : got.result;
                return data.is_string() ? data.get<std::string>() : data.dump();
              }};
}

chat_view openspiel_chat_view(std::map<std::string, int> actions) {
  std::string names;
  for (const auto& [name, id] : actions) names += (names.empty() ? "" : ", ") + name;
  return {.system_prompt = "You play a game. Your actions: " + names + ". " + answer_in_tags,
          .act = [actions = std::move(actions)](
                     const text_action& what) { return openspiel_action(actions, what); },
          .show = [](const result& from) { return from.observation.dump(); }};
}

chat_view blackjack_chat_view() {
  auto world = openspiel_chat_view({{"HIT", 0}, {"STAND", 1}});
  world.show = [](const result& from) {
    return blackjack_in_words(read<openspiel::observation>(from).info_state);
  };
  return world;
}

}  // namespace troupe::openenv
