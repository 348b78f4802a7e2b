#include "actors/torch/torch.hpp"

#include "actors/llm/scorer/scorer.hpp"

#include "actors/llm/model/flat_weights.hpp"

namespace troupe::llm {

scorer::scorer(model_config config, service<weight_store> store)
    : config_(std::move(config)), store_(std::move(store)) {}

task<> scorer::catch_up() {
  auto newest = co_await store_.route<&weight_store::latest>();
  update(std::move(newest));
}

void scorer::update(weights fresh) {
  if (fresh.version <= version_) return;
  auto packed = pack_weights(config_, weights_in(config_, fresh.parameters));
  if (scorer_) {
    scorer_->set_weights(std::move(packed));
  } else {
    scorer_.emplace(std::move(packed));
  }
  version_ = fresh.version;
}

batch<scored_tokens> scorer::score(batch<score_request> requests) {
  std::vector<score_request> good;
  std::vector<std::exception_ptr> refused(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    try {
      scorer_->check(requests[i]);
      good.push_back(std::move(requests[i]));
    } catch (...) {
      refused[i] = std::current_exception();
    }
  }
  auto scores = scorer_->score(good);
  batch<scored_tokens> answer;
  auto next = scores.begin();
  for (const auto& error : refused) {
    if (error)
      answer.push_error(error);
    else
      answer.push_back({std::move(*next++), version_});
  }
  return answer;
}

}  // namespace troupe::llm
