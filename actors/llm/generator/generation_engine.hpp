#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "actors/llm/generator/generation.hpp"
#include "actors/llm/generator/sampler.hpp"
#include "actors/llm/generator/token_texts.hpp"
#include "actors/llm/model/decoder.hpp"

namespace troupe::llm {

struct engine_options {
  /// Answers that grow at the same time, one token each a step. On a processor 32 have most of what
  /// more would give; each takes memory for its keys and values.
  std::int64_t slots = 32;
  /// Tokens of prompts that a step computes besides, at most: while a long prompt is read, answers
  /// go on.
  std::int64_t prefill_tokens = 256;
  std::int64_t max_queued = 1024;  ///< answers that wait for a slot
};

/// What an engine has done and does.
struct engine_counts {
  std::int64_t steps = 0;
  std::int64_t generated_tokens = 0;
  std::int64_t prefill_tokens = 0;  ///< of prompts, computed
  std::int64_t finished = 0;        ///< answers that came to their end
  std::int64_t busy = 0;            ///< slots
  std::int64_t queued = 0;          ///< answers without one
};

/// Writes answers to any number of requests together, step by step: each step computes the next
/// token of every answer that has a slot, and a part of the prompts that are still to be read. A
/// prompt is computed once for all answers to it. What an answer says depends on its request, its
/// seed and the weights, and not on what else is written beside it. Between two steps requests come
/// and go and weights change. Of one thread.
class generation_engine {
 public:
  using ticket = std::uint64_t;

  /// Throws std::invalid_argument for an option that isn't above 0.
  generation_engine(std::shared_ptr<const packed_weights> weights, std::int64_t version,
                    engine_options options, token_texts texts = {});
  ~generation_engine();

  /// Asks for `answers` answers to one prompt; each is drawn as by a request of its own with the
  /// seed that it tells: the first by the request's, the others by hashes of it. Throws
  /// std::invalid_argument naming what is wrong with the request, and std::length_error where too
  /// many wait.
  ticket submit(generation_request request, std::int64_t answers = 1);

  /// Computes a step; false if nothing is to be done.
  bool step();

  /// The next step computes with these. What is there of keys and values stays. Throws
  /// std::invalid_argument for weights of another shape.
  void set_weights(std::shared_ptr<const packed_weights> weights, std::int64_t version);
  std::int64_t version() const { return version_; }

  bool finished(ticket which) const;
  /// The tokens so far of an answer that is being written.
  std::span<const token_id> so_far(ticket which, std::size_t answer = 0) const;
  /// The answers of what is finished, and forgets it. Throws std::runtime_error where the model
  /// gave logits that aren't finite.
  std::vector<completion> take(ticket which);
  /// Forgets a request, whatever it is at; its slots are free.
  void cancel(ticket which);

  engine_counts counts() const;

 private:
  struct answer;
  struct job;

  void check(const generation_request& request, std::int64_t answers) const;
  job& job_of(ticket which) const;
  void admit();
  void begin(answer& from);
  void add_token(answer& to, std::span<const float> logits, std::int64_t version);
  void drop_finished();

  decoder decoder_;
  std::int64_t version_;
  engine_options options_;
  token_texts texts_;
  sampler sampler_;
  engine_counts counts_;
  ticket last_ = 0;
  std::map<ticket, std::unique_ptr<job>> jobs_;
  std::set<std::pair<std::int64_t, ticket>> queue_;  // -priority; with answers that have no slot
  std::vector<answer*> running_;                     // in the order of their beginning
};

}  // namespace troupe::llm
