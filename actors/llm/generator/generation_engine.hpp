#pragma once
// Text generation with continuous batching, without actors. generator.hpp makes a role of it.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "actors/llm/generator/generation.hpp"
#include "actors/llm/generator/prefix_cache.hpp"
#include "actors/llm/generator/sampler.hpp"
#include "actors/llm/generator/token_texts.hpp"
#include "actors/llm/model/decoder.hpp"

namespace troupe::llm {

struct engine_options {
  /// The number of answers that are written at the same time, one token each per step. More than 32
  /// gain little on a CPU, and each takes memory for its keys and values.
  std::int64_t slots = 32;
  /// The most prompt tokens that one step computes besides, so that answers grow while a long
  /// prompt is read.
  std::int64_t prefill_tokens = 256;
  std::int64_t max_queued = 1024;  ///< the most answers that may wait for a slot
  /// The memory for keys and values of finished answers. A prompt that begins with such an answer
  /// and its own prompt, as the next turn of a conversation does, computes only what follows. 0
  /// means none.
  std::int64_t cache_bytes = 0;
};

/// The totals of an engine since its start, and its present load.
struct engine_counts {
  std::int64_t steps = 0;
  std::int64_t generated_tokens = 0;
  std::int64_t prefill_tokens = 0;  ///< prompt tokens that were computed
  std::int64_t finished = 0;        ///< answers that are complete
  std::int64_t busy = 0;            ///< slots in use now
  std::int64_t queued = 0;          ///< answers that wait for a slot now
};

/// Writes answers to any number of requests together. Each step computes the next token of every
/// answer that has a slot, and a part of the prompts that are not read yet. A prompt is computed
/// once for all answers to it. An answer depends on its request, its seed and the weights only, and
/// not on other answers or on what is cached. Requests and weights may change between two steps.
/// Only one thread may use an engine.
class generation_engine {
 public:
  using ticket = std::uint64_t;

  /// Throws std::invalid_argument for an option that is not above 0.
  generation_engine(std::shared_ptr<const packed_weights> weights, std::int64_t version,
                    engine_options options, token_texts texts = {});
  ~generation_engine();

  /// Asks for `answers` answers to one prompt. The first has the request's seed, and the others
  /// have hashes of it. Each answer is the same as that of a single request with the seed in its
  /// `completion`. Throws std::invalid_argument that says what is wrong with the request, and
  /// std::length_error if more than max_queued answers would wait.
  ticket submit(generation_request request, std::int64_t answers = 1);

  /// Computes one step. Returns false if there is nothing to do.
  bool step();

  /// Replaces the weights from the next step on. Unfinished answers keep their keys and values, and
  /// the cache of finished ones is emptied. Throws std::invalid_argument for weights of another
  /// shape.
  void set_weights(std::shared_ptr<const packed_weights> weights, std::int64_t version);
  std::int64_t version() const { return version_; }

  bool finished(ticket which) const;
  /// The tokens so far of an unfinished answer.
  std::span<const token_id> so_far(ticket which, std::size_t answer = 0) const;
  /// Returns the answers of a finished request and removes it. Throws std::runtime_error if the
  /// model's logits were not finite.
  std::vector<completion> take(ticket which);
  /// Removes a request in any state and frees its slots.
  void cancel(ticket which);

  engine_counts counts() const;

 private:
  struct answer;
  struct job;

  void check(const generation_request& request, std::int64_t answers) const;
  job& job_of(ticket which) const;
  void admit();
  void read_from_cache(job& next);
  void keep(answer& finished);
  void begin(answer& from);
  void add_token(answer& to, std::span<const float> logits, std::int64_t version);
  void drop_finished();

  decoder decoder_;
  std::int64_t version_;
  engine_options options_;
  token_texts texts_;
  sampler sampler_;
  prefix_cache cache_;
  engine_counts counts_;
  ticket last_ = 0;
  std::map<ticket, std::unique_ptr<job>> jobs_;
  std::set<std::pair<std::int64_t, ticket>> queue_;  // -priority and request, if answers wait
  std::vector<answer*> running_;                     // the answers with a slot, the oldest first
};

}  // namespace troupe::llm
