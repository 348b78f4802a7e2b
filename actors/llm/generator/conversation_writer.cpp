#include "actors/torch/torch.hpp"

#include "actors/llm/generator/conversation_writer.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe::llm {
namespace {

constexpr std::int64_t part =
    256;  // the sequence grows by this many tokens, and reads as many at once

}  // namespace

conversation_writer::conversation_writer(std::shared_ptr<const packed_weights> weights,
                                         sampling_options sampling)
    : decoder_(std::move(weights)), sampling_(sampling), sequence_(decoder_.config(), 0) {
  check_sampling(sampling_);
}

void conversation_writer::read(std::span<const token_id> tokens) {
  const auto& c = decoder_.config();
  if (tokens.empty())
    throw std::invalid_argument("conversation: expected tokens to read, got none");
  for (const auto id : tokens) {
    if (id < 0 || id >= c.vocab_size)
      throw std::invalid_argument("conversation: expected ids from 0 to " +
                                  std::to_string(c.vocab_size - 1) + ", got " + std::to_string(id));
  }
  if (length() + std::ssize(tokens) >= c.max_positions)
    throw std::invalid_argument("conversation: expected fewer tokens than the context of " +
                                std::to_string(c.max_positions) + ", got " +
                                std::to_string(length() + std::ssize(tokens)));
  pending_.insert(pending_.end(), tokens.begin(), tokens.end());
  text_.insert(text_.end(), tokens.begin(), tokens.end());
}

void conversation_writer::forget() {
  sequence_ = kv_sequence(decoder_.config(), 0);
  text_.clear();
  pending_.clear();
}

token_id conversation_writer::write() {
  if (pending_.empty())
    throw std::invalid_argument("conversation: expected something to be read first");
  if (length() >= decoder_.config().max_positions)
    throw std::invalid_argument("conversation: the context of " +
                                std::to_string(decoder_.config().max_positions) + " is full");
  at::Tensor logits;
  for (std::span<const token_id> left(pending_); !left.empty();) {
    if (sequence_.room() == 0) sequence_ = sequence_.fork(part);
    const auto now =
        left.first(static_cast<std::size_t>(std::min(sequence_.room(), std::ssize(left))));
    const token_run run{&sequence_, now};
    logits = decoder_.forward({&run, 1});
    left = left.subspan(now.size());
  }
  const auto position = static_cast<std::uint64_t>(sequence_.length());
  const std::span row(logits.data_ptr<float>(), static_cast<std::size_t>(logits.numel()));
  const auto drawn =
      sampler_.draw(row, sampling_, uniform_of(sampling_.seed.value_or(0), position), {text_});
  pending_ = {drawn.id};
  text_.push_back(drawn.id);
  return drawn.id;
}

}  // namespace troupe::llm
