#include "actors/torch/torch.hpp"

#include "actors/llm/scorer/token_scorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "actors/llm/model/softmax_row.hpp"

namespace troupe::llm {
namespace {

constexpr std::size_t prompt_tokens_at_once = 256;
constexpr std::size_t rows_at_once = 128;  // the rows of logits in memory at the same time

}  // namespace

/// A sequence and the tokens that it has still to read.
struct token_scorer::text {
  kv_sequence sequence;
  std::span<const token_id> left;  // the array has one more token after these
  double temperature = 1;
  std::vector<double>* scores = nullptr;  // null if its logits are not needed
};

token_scorer::token_scorer(std::shared_ptr<const packed_weights> weights)
    : decoder_(std::move(weights)) {}

void token_scorer::set_weights(std::shared_ptr<const packed_weights> weights) {
  decoder_.set_weights(std::move(weights));
}

void token_scorer::check(const score_request& r) const {
  const auto& c = decoder_.config();
  const auto count = std::ssize(r.tokens);
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("score: " + what);
  };
  if (count < 2) refuse(fmt::format("tokens: expected at least 2, got {}", count));
  if (count > c.max_positions)
    refuse(
        fmt::format("tokens: expected at most the context of {}, got {}", c.max_positions, count));
  for (const auto id : r.tokens) {
    if (id < 0 || id >= c.vocab_size)
      refuse(fmt::format("tokens: expected ids from 0 to {}, got {}", c.vocab_size - 1, id));
  }
  if (r.given < 1 || r.given >= count)
    refuse(fmt::format("given: expected 1 to {} of {} tokens, got {}", count - 1, count, r.given));
  if (!(r.temperature >= 0.001 && r.temperature <= 1000))
    refuse(fmt::format("temperature: expected a number from 0.001 to 1000, got {}", r.temperature));
}

/// Lets all texts read their remaining tokens, at most `at_once` at a time.
void token_scorer::read(std::vector<text>& texts, std::size_t at_once) {
  for (;;) {
    std::vector<token_run> runs;
    std::vector<text*> readers;
    auto room = at_once;
    for (auto& one : texts) {
      const auto count = std::min(room, one.left.size());
      if (count == 0) continue;
      const auto wanted = one.scores ? wanted_logits::all : wanted_logits::none;
      runs.push_back({&one.sequence, one.left.first(count), wanted});
      readers.push_back(&one);
      room -= count;
    }
    if (runs.empty()) return;
    const auto logits = decoder_.forward(runs);
    computed_ += static_cast<std::int64_t>(at_once - room);
    const auto width = static_cast<std::size_t>(logits.size(1));
    weights_.resize(width);
    const float* row = logits.data_ptr<float>();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      auto& [sequence, left, temperature, scores] = *readers[i];
      const auto count = runs[i].tokens.size();
      for (std::size_t k = 0; scores && k < count; ++k, row += width) {
        const auto next = static_cast<std::size_t>(left.data()[k + 1]);
        scores->push_back(softmax_of({row, width}, temperature, weights_).log_prob(row[next]));
      }
      left = left.subspan(count);
    }
  }
}

std::vector<std::vector<double>> token_scorer::score(std::span<const score_request> requests) {
  // These are the given tokens without the last, whose logits are needed. Equal ones are read once.
  std::map<std::vector<token_id>, std::size_t> place_of;
  std::vector<std::size_t> places;
  std::vector<text> prompts;
  for (const auto& r : requests) {
    check(r);
    const auto prompt = std::span(r.tokens).first(static_cast<std::size_t>(r.given - 1));
    const auto [known, is_new] =
        place_of.try_emplace({prompt.begin(), prompt.end()}, prompts.size());
    if (is_new) prompts.push_back({kv_sequence(decoder_.config(), std::ssize(prompt)), prompt});
    places.push_back(known->second);
  }
  read(prompts, prompt_tokens_at_once);

  std::vector<std::vector<double>> scores(requests.size());
  std::vector<text> answers;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto& r = requests[i];
    const auto rest = std::span(r.tokens).subspan(static_cast<std::size_t>(r.given - 1));
    answers.push_back({prompts[places[i]].sequence.fork(std::ssize(rest) - 1),
                       rest.first(rest.size() - 1), r.temperature, &scores[i]});
  }
  read(answers, rows_at_once);
  return scores;
}

}  // namespace troupe::llm
