#include "actors/torch/torch.hpp"

#include "actors/llm/generator/generation_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "actors/llm/tokenizer/utf8_stream.hpp"
#include "actors/random/derived_seed.hpp"

namespace troupe::llm {
namespace {

// The memory of an answer's keys and values grows by parts, each as long as all parts before. These
// are the lengths of the first and the longest part, in tokens.
constexpr std::int64_t first_part = 64, longest_part = 512;
constexpr std::size_t stop_texts_max = 16, stop_text_bytes_max = 256;

/// The position of the first wanted text that ends after `from`.
std::size_t find_first(const std::string& text, std::size_t from,
                       const std::vector<std::string>& wanted) {
  auto first = std::string::npos;
  for (const auto& one : wanted) {
    first = std::min(first, text.find(one, from < one.size() ? 0 : from - one.size() + 1));
  }
  return first;
}

std::string well_formed(std::string_view bytes) {
  utf8_stream stream;
  auto text = stream.add(bytes);
  return text += stream.end();
}

}  // namespace

/// One answer of a job.
struct generation_engine::answer {
  job* of = nullptr;
  std::optional<kv_sequence> sequence;  // without the last token; none before the first is drawn
  std::string bytes;                    // the text of its tokens
  completion out;
  bool finished = false;
};

/// A request and its answers.
struct generation_engine::job {
  generation_request request;
  std::optional<kv_sequence> prompt;  // kept until all answers have forked it
  std::size_t computed = 0;           // the number of prompt tokens that are computed
  std::vector<float> logits;          // the logits after the prompt
  std::int64_t version = 0;           // the version of the weights of these logits
  std::int64_t first_version = 0;     // that of the weights that began to read the prompt
  std::vector<answer> answers;
  std::size_t begun = 0;   // the number of answers that have or had a slot
  std::size_t forked = 0;  // the number of answers with a sequence of their own
  std::size_t finished = 0;
  std::exception_ptr error;  // the model's error, after which there are no answers

  bool is_read() const { return computed == request.prompt.size(); }
};

generation_engine::generation_engine(std::shared_ptr<const packed_weights> weights,
                                     std::int64_t version, engine_options options,
                                     token_texts texts)
    : decoder_(std::move(weights)),
      version_(version),
      options_(options),
      texts_(std::move(texts)),
      cache_(options.cache_bytes) {
  const auto expect_some = [](const char* name, std::int64_t value) {
    if (value < 1)
      throw std::invalid_argument(
          fmt::format("generation_engine: {}: expected a number > 0, got {}", name, value));
  };
  expect_some("slots", options_.slots);
  expect_some("prefill_tokens", options_.prefill_tokens);
  expect_some("max_queued", options_.max_queued);
}

generation_engine::~generation_engine() = default;

void generation_engine::check(const generation_request& r, std::int64_t answers) const {
  const auto& c = decoder_.config();
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("generation: " + what);
  };
  const auto check_id = [&](const char* where, token_id id) {
    if (id < 0 || id >= c.vocab_size)
      refuse(fmt::format("{}: expected ids from 0 to {}, got {}", where, c.vocab_size - 1, id));
  };
  if (r.prompt.empty()) refuse("prompt: expected at least one token, got none");
  if (static_cast<std::int64_t>(r.prompt.size()) >= c.max_positions)
    refuse(fmt::format("prompt: expected fewer tokens than the context of {}, got {}",
                       c.max_positions, r.prompt.size()));
  for (const auto id : r.prompt) check_id("prompt", id);
  for (const auto id : r.stop_ids) check_id("stop_ids", id);
  if (r.max_tokens < 1)
    refuse(fmt::format("max_tokens: expected a number > 0, got {}", r.max_tokens));
  if (answers < 1 || answers > options_.max_queued)
    refuse(fmt::format("answers: expected 1 to {}, got {}", options_.max_queued, answers));
  if (r.stop_texts.size() > stop_texts_max)
    refuse(fmt::format("stop_texts: expected at most {}, got {}", stop_texts_max,
                       r.stop_texts.size()));
  if (!r.stop_texts.empty() && texts_.bytes.empty())
    refuse("stop_texts: expected none, as the generator knows no token's text, got \"" +
           r.stop_texts.front() + '"');
  for (const auto& text : r.stop_texts) {
    if (text.empty() || text.size() > stop_text_bytes_max)
      refuse(fmt::format("stop_texts: expected texts of 1 to {} bytes, got one of {}",
                         stop_text_bytes_max, text.size()));
  }
  check_sampling(r.sampling);
}

generation_engine::ticket generation_engine::submit(generation_request request,
                                                    std::int64_t answers) {
  check(request, answers);
  if (counts().queued + answers > options_.max_queued)
    throw std::length_error(
        fmt::format("generation: expected at most {} answers to wait, got {} beside {} that do",
                    options_.max_queued, answers, counts_.queued));
  auto made = std::make_unique<job>();
  const auto seed = request.sampling.seed.value_or(0);
  for (std::int64_t i = 0; i < answers; ++i) {
    auto& one = made->answers.emplace_back();
    one.of = made.get();
    one.out.seed = i == 0 ? seed : derived_seed(seed, "answer", {static_cast<std::uint64_t>(i)});
    one.out.prompt_tokens = static_cast<std::int64_t>(request.prompt.size());
  }
  made->request = std::move(request);
  queue_.emplace(-std::int64_t{made->request.priority}, ++last_);
  counts_.queued += answers;
  jobs_.emplace(last_, std::move(made));
  return last_;
}

/// Gives free slots to waiting answers.
void generation_engine::admit() {
  while (!queue_.empty() && static_cast<std::int64_t>(running_.size()) < options_.slots) {
    auto& next = *jobs_.at(queue_.begin()->second);
    if (!next.prompt && !next.is_read()) read_from_cache(next);
    auto& one = next.answers[next.begun++];
    if (next.begun == next.answers.size()) queue_.erase(queue_.begin());
    --counts_.queued;
    running_.push_back(&one);
    if (next.is_read()) begin(one);
  }
}

/// Begins to read a prompt, after the part of it that is cached.
void generation_engine::read_from_cache(job& next) {
  next.first_version = version_;
  const auto tokens = std::ssize(next.request.prompt);
  const auto cached = cache_.take(next.request.prompt);
  if (!cached) {
    next.prompt.emplace(decoder_.config(), tokens);
    return;
  }
  next.prompt = cached->fork(tokens - cached->length());
  next.computed = static_cast<std::size_t>(cached->length());
}

/// Puts the keys and values of a finished answer into the cache, unless some are of other weights.
void generation_engine::keep(answer& finished) {
  auto& sequence = finished.sequence;
  if (options_.cache_bytes == 0 || !sequence || finished.of->first_version != version_) return;
  auto tokens = finished.of->request.prompt;
  tokens.insert(tokens.end(), finished.out.tokens.begin(), finished.out.tokens.end());
  tokens.resize(static_cast<std::size_t>(sequence->length()));
  cache_.put(std::move(tokens), *std::move(sequence));
}

/// Draws the first token of an answer whose prompt has been read.
void generation_engine::begin(answer& one) {
  auto& from = *one.of;
  one.sequence = from.prompt->fork(std::min(first_part, from.request.max_tokens));
  add_token(one, from.logits, from.version);
  if (++from.forked < from.answers.size()) return;
  from.prompt.reset();  // the forks hold the shared memory
  from.logits = {};
}

void generation_engine::add_token(answer& to, std::span<const float> logits, std::int64_t version) {
  auto& from = *to.of;
  const auto& request = from.request;
  auto& out = to.out;
  try {
    const auto drawn =
        sampler_.draw(logits, request.sampling, uniform_of(out.seed, out.tokens.size()),
                      {request.prompt, out.tokens});
    out.tokens.push_back(drawn.id);
    out.log_probs.push_back(drawn.log_prob);
    out.versions.push_back(version);
  } catch (const std::runtime_error&) {
    from.error = std::current_exception();
    to.finished = true;
    return;
  }
  ++counts_.generated_tokens;
  const auto id = out.tokens.back();
  const auto& c = decoder_.config();
  const auto finish = [&](finish_reason reason) {
    out.finish = reason;
    to.finished = true;
  };
  const auto length = static_cast<std::int64_t>(request.prompt.size() + out.tokens.size());
  if (static_cast<std::int64_t>(out.tokens.size()) == request.max_tokens ||
      length == c.max_positions)
    finish(finish_reason::length);
  const auto is_among = [&](const auto& ids) { return std::ranges::find(ids, id) != ids.end(); };
  if (is_among(request.stop_ids) || (request.stop_at_eos && is_among(c.eos_tokens)))
    finish(finish_reason::stop_id);
  const auto before = to.bytes.size();
  if (static_cast<std::size_t>(id) < texts_.bytes.size())
    to.bytes += texts_.bytes[static_cast<std::size_t>(id)];
  if (const auto stop = find_first(to.bytes, before, request.stop_texts);
      stop != std::string::npos) {
    to.bytes.resize(stop);
    finish(finish_reason::stop_text);
  }
}

bool generation_engine::step() {
  admit();
  if (running_.empty()) return false;
  ++counts_.steps;
  std::vector<token_run> runs;
  std::vector<job*> reading;     // the jobs whose prompts are in the first runs
  std::vector<answer*> writing;  // the answers in the other runs
  runs.reserve(running_.size());
  writing.reserve(running_.size());
  auto left = static_cast<std::size_t>(options_.prefill_tokens);
  for (auto* one : running_) {
    auto& from = *one->of;
    if (from.is_read() || left == 0 || std::ranges::find(reading, &from) != reading.end()) continue;
    const auto count = std::min(left, from.request.prompt.size() - from.computed);
    const bool all = from.computed + count == from.request.prompt.size();
    runs.push_back({&*from.prompt, std::span(from.request.prompt).subspan(from.computed, count),
                    all ? wanted_logits::last : wanted_logits::none});
    reading.push_back(&from);
    left -= count;
  }
  for (auto* one : running_) {
    if (!one->sequence || one->finished) continue;
    if (one->sequence->room() == 0) {
      const auto written = std::ssize(one->out.tokens);
      one->sequence =
          one->sequence->fork(std::min(std::clamp(written - 1, first_part, longest_part),
                                       one->of->request.max_tokens - written));
    }
    runs.push_back({&*one->sequence, std::span(one->out.tokens).last(1)});
    writing.push_back(one);
  }
  if (runs.empty()) {  // each had its only token from the logits after its prompt
    drop_finished();
    return true;
  }
  const auto logits = decoder_.forward(runs);
  const auto width = static_cast<std::size_t>(decoder_.config().vocab_size);
  const float* row = logits.data_ptr<float>();
  for (std::size_t i = 0; i < reading.size(); ++i) {
    auto& from = *reading[i];
    from.computed += runs[i].tokens.size();
    counts_.prefill_tokens += std::ssize(runs[i].tokens);
    from.answers.front().out.prompt_tokens_computed += std::ssize(runs[i].tokens);
    if (!from.is_read()) continue;
    from.logits.assign(row, row + width);
    from.version = version_;
    row += width;
    for (auto* one : running_) {
      if (one->of == &from) begin(*one);
    }
  }
  for (auto* one : writing) {
    add_token(*one, {row, width}, version_);
    row += width;
  }
  drop_finished();
  return true;
}

/// Frees the slots of finished answers.
void generation_engine::drop_finished() {
  std::erase_if(running_, [&](answer* one) {
    if (!one->finished) return false;
    ++counts_.finished;
    ++one->of->finished;
    keep(*one);
    one->sequence.reset();
    one->out.text = well_formed(one->bytes);
    return true;
  });
}

void generation_engine::set_weights(std::shared_ptr<const packed_weights> weights,
                                    std::int64_t version) {
  decoder_.set_weights(std::move(weights));
  cache_.clear();
  version_ = version;
}

generation_engine::job& generation_engine::job_of(ticket which) const {
  const auto place = jobs_.find(which);
  if (place == jobs_.end())
    throw std::invalid_argument(
        fmt::format("generation: expected the ticket of a request that is here, got {}", which));
  return *place->second;
}

bool generation_engine::finished(ticket which) const {
  const auto& asked = job_of(which);
  return asked.error || asked.finished == asked.answers.size();
}

std::span<const token_id> generation_engine::so_far(ticket which, std::size_t answer) const {
  return job_of(which).answers.at(answer).out.tokens;
}

std::vector<completion> generation_engine::take(ticket which) {
  if (!finished(which))
    throw std::invalid_argument(fmt::format("generation: {} is not finished", which));
  auto& asked = job_of(which);
  const auto error = asked.error;
  std::vector<completion> answers;
  for (auto& one : asked.answers) answers.push_back(std::move(one.out));
  cancel(which);
  if (error) std::rethrow_exception(error);
  return answers;
}

void generation_engine::cancel(ticket which) {
  const auto place = jobs_.find(which);
  if (place == jobs_.end()) return;
  const auto& gone = *place->second;
  std::erase_if(running_, [&](const answer* one) { return one->of == &gone; });
  if (queue_.erase({-std::int64_t{gone.request.priority}, which}) > 0)
    counts_.queued -= std::ssize(gone.answers) - static_cast<std::int64_t>(gone.begun);
  jobs_.erase(place);
}

engine_counts generation_engine::counts() const {
  auto now = counts_;
  now.busy = std::ssize(running_);
  return now;
}

}  // namespace troupe::llm
