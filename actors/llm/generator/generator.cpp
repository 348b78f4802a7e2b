#include "actors/torch/torch.hpp"

#include "actors/llm/generator/generator.hpp"

#include "actors/llm/model/flat_weights.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/actor/splitmix.hpp"
#include "runtime/base/error.hpp"
#include "runtime/service/call/next_turn.hpp"

namespace troupe::llm {

/// A request in the engine, which is cancelled when its caller no longer waits.
class generator::held_request {
 public:
  held_request(generator& of, generation_request request, std::int64_t answers)
      : of_(of), ticket_(of.engine_->submit(std::move(request), answers)) {}
  held_request(const held_request&) = delete;
  ~held_request() {
    of_.engine_->cancel(ticket_);
    of_.metrics_.changed(of_.engine_->counts());
  }

  bool finished() const { return of_.engine_->finished(ticket_); }
  std::vector<completion> take() { return of_.engine_->take(ticket_); }

 private:
  generator& of_;
  generation_engine::ticket ticket_;
};

/// The caller that computes the steps holds this object. When it leaves, also because it is
/// cancelled, the next caller takes over.
class generator::wheel {
 public:
  explicit wheel(generator& of) : of_(of) { of_.driven_ = true; }
  wheel(const wheel&) = delete;
  ~wheel() {
    of_.driven_ = false;
    of_.stepped_.notify_all();
  }

 private:
  generator& of_;
};

generator::generator(const replica_info& info, generator_options options,
                     service<weight_store> store, metrics_registry* metrics)
    : options_(std::move(options)),
      store_(std::move(store)),
      metrics_(metrics),
      seeds_(derived_seed(options_.seed, "generator", {info.index, info.generation})) {}

task<> generator::catch_up() {
  auto newest = co_await store_.route<&weight_store::latest>();
  update(std::move(newest));
}

void generator::update(weights fresh) {
  if (engine_ && fresh.version <= engine_->version()) return;
  auto packed = pack_weights(options_.config, weights_in(options_.config, fresh.parameters));
  if (engine_) {
    engine_->set_weights(std::move(packed), fresh.version);
  } else {
    engine_.emplace(std::move(packed), fresh.version, options_.engine, options_.texts);
  }
  metrics_.swapped();
}

std::int64_t generator::version() const { return engine_ ? engine_->version() : -1; }

engine_counts generator::counts() const { return engine_->counts(); }

task<completion> generator::generate(generation_request request) {
  auto one = co_await answers_to(std::move(request), 1);
  co_return std::move(one.front());
}

task<std::vector<completion>> generator::generate_group(generation_request request,
                                                        std::int64_t answers) {
  return answers_to(std::move(request), answers);
}

task<std::vector<completion>> generator::answers_to(generation_request request,
                                                    std::int64_t answers) {
  if (!request.sampling.seed) request.sampling.seed = detail::next_of(seeds_);
  held_request mine(*this, std::move(request), answers);
  while (!mine.finished()) {
    if (driven_) {
      co_await stepped_.wait();
      continue;
    }
    const wheel held(*this);
    while (!mine.finished()) {
      co_await next_turn();
      step();
    }
  }
  co_return mine.take();
}

void generator::step() {
  const auto finished_before = engine_->counts().finished;
  try {
    engine_->step();
  } catch (const std::exception& e) {  // some sequences may have grown and others not
    throw fatal(std::string("a generator's step threw: ") + e.what());
  }
  const auto now = engine_->counts();
  metrics_.changed(now);
  if (now.finished > finished_before) stepped_.notify_all();
}

}  // namespace troupe::llm
