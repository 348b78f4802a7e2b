#include "actors/torch/torch.hpp"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim.h>

#include "algorithms/language_models/sft/sft_learner.hpp"

#include <limits>

#include "actors/checkpoint/state.hpp"
#include "actors/llm/model/packed_forward.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "algorithms/learner/trainer.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/llm/small_models.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

const std::vector<sft_example> examples{
    {{1, 2, 3}, {4, 5, 0}}, {{6}, {7, 0}}, {{8, 9}, {10, 11, 12, 13, 0}}, {{1, 2, 3}, {0}}};

llm::model_config config() { return llm::small_model(llm::model_family::llama); }
at::Tensor start() { return llm::lively_weights(config()); }

// Each example by itself, by libtorch's cross-entropy of all its logits.
at::Tensor cross_entropy(const llm::model_weights& weights) {
  at::Tensor sum = at::zeros({});
  double tokens = 0;
  for (const auto& [prompt, answer] : examples) {
    auto ids = prompt;
    ids.insert(ids.end(), answer.begin(), answer.end());
    const auto hidden = llm::packed_hidden(config(), weights, {ids, {std::int64_t(ids.size())}});
    const auto logits = llm::logits_of(config(), weights, hidden);
    const auto before =
        logits.narrow(0, std::int64_t(prompt.size()) - 1, std::int64_t(answer.size()));
    sum = sum + at::cross_entropy_loss(before, at::tensor(answer, at::kInt).to(at::kLong), {},
                                       at::Reduction::Sum);
    tokens += double(answer.size());
  }
  return sum / tokens;
}

TEST_CASE("sft: an update is AdamW's step on the mean cross-entropy of the answers' tokens") {
  auto expected = llm::train_weights(config(), start());
  const auto loss = cross_entropy(expected.weights);
  loss.backward();
  const auto norm = expected.gradient.norm().item<double>();
  torch::optim::AdamW rule({expected.parameters.set_requires_grad(true)},
                           torch::optim::AdamWOptions(1e-3).weight_decay(0.1));
  const auto clipped = expected.gradient * (0.5 / (norm + 1e-6));
  expected.parameters.mutable_grad() = clipped;
  rule.step();

  sft_options options{.lr = 1e-3};
  options.max_grad_norm = 0.5;
  options.weight_decay = 0.1;
  sft_learner learner(config(), options, start());
  CHECK(learner.loss_of(examples) == Approx(loss.item<double>()).epsilon(1e-5));
  const auto report = learner.update(examples);
  CHECK(norm > 0.5);  // it was clipped
  CHECK(report["train/loss"] == Approx(loss.item<double>()).epsilon(1e-5));
  CHECK(report["train/grad_norm"] == Approx(norm).epsilon(1e-4));
  CHECK(report["train/prompt_tokens"] == 9);
  CHECK(report["train/trained_tokens"] == 11);
  CHECK(report.skipped_steps == 0);
  // AdamW's first step is lr * sign where the gradient isn't tiny, so these are compared there.
  const auto clear = clipped.abs() > 1e-5;
  CHECK(clear.sum().item<double>() > 1000);
  const auto apart = (learner.parameters() - expected.parameters.detach()).masked_select(clear);
  CHECK(apart.abs().max().item<double>() < 1e-5);
  CHECK(learner.loss_of(examples) < report["train/loss"]);
}

TEST_CASE("sft: micro-batches and recomputed layers change loss and gradient by rounding alone") {
  std::vector<std::size_t> passes;
  std::vector<double> losses, norms;
  for (const std::int64_t micro_tokens : {1, 10, 4096}) {
    for (const bool twice : {false, true}) {
      const sft_options options{.micro_tokens = micro_tokens, .recompute_layers = twice};
      sft_learner learner(config(), options, start());
      const auto& report = learner.update(examples);
      passes.push_back(micro_batches(examples, options).size());
      losses.push_back(report["train/loss"]);
      norms.push_back(report["train/grad_norm"]);
    }
  }
  CHECK(passes == std::vector<std::size_t>{4, 4, 3, 3, 1, 1});
  for (std::size_t i = 1; i < losses.size(); ++i) {
    CHECK(losses[i] == Approx(losses[0]).epsilon(1e-6));
    CHECK(norms[i] == Approx(norms[0]).epsilon(1e-5));
  }
}

TEST_CASE("sft: the learning rate rises, stays, and falls as half a cosine or a line") {
  const auto learning_rate = [](const sft_options& of, std::int64_t update) {
    return of.lr_of_updates().at(update);
  };
  const sft_options constant{.lr = 0.1, .warmup_updates = 4};
  CHECK(learning_rate(constant, 0) == Approx(0.025));
  CHECK(learning_rate(constant, 3) == Approx(0.1));
  CHECK(learning_rate(constant, 1000) == Approx(0.1));
  const sft_options cosine{.lr = 0.1,
                           .schedule = lr_decay::cosine,
                           .warmup_updates = 2,
                           .total_updates = 10,
                           .final_share = 0.2};
  CHECK(learning_rate(cosine, 1) == Approx(0.1));
  CHECK(learning_rate(cosine, 2) == Approx(0.1));
  CHECK(learning_rate(cosine, 6) == Approx(0.1 * 0.6));  // halfway
  CHECK(learning_rate(cosine, 10) == Approx(0.02));
  CHECK(learning_rate(cosine, 99) == Approx(0.02));
  auto linear = cosine;
  linear.schedule = lr_decay::linear;
  CHECK(learning_rate(linear, 2) == Approx(0.1));
  CHECK(learning_rate(linear, 4) == Approx(0.1 * 0.8));
  CHECK(learning_rate(linear, 6) == Approx(0.1 * 0.6));
  CHECK(learning_rate(linear, 10) == Approx(0.02));
  CHECK(learning_rate(linear, 99) == Approx(0.02));
}

TEST_CASE("sft: a restored learner goes on bit for bit") {
  const sft_options options{.lr = 1e-3, .warmup_updates = 3};
  sft_learner one(config(), options, start());
  one.update(examples);
  one.update({examples[1]});
  sft_learner other(config(), options, start());
  other.start_from(one.acting(), {});
  other.restore(one.save());
  CHECK(one.update(examples).learning_rate == other.update(examples).learning_rate);
  CHECK(at::equal(one.parameters(), other.parameters()));
  sft_learner fresh(config(), options, start());
  fresh.start_from(one.acting(), {});
  fresh.update(examples), one.update(examples);
  CHECK(!at::equal(one.parameters(), fresh.parameters()));  // the moments matter
  CHECK_THROWS_AS(other.restore("nonsense"), state_error);
}

task<> train_by_role(system& sys) {
  const sft_options options{.lr = 1e-3};
  const trainer<sft_learner>::maker make = [=] {
    return std::make_unique<sft_learner>(config(), options, start());
  };
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  auto role = co_await sys.serve<trainer<sft_learner>>({.name = "trainer"}, make, store);
  const auto first = co_await store.route<&weight_store::latest>();
  CHECK(at::equal(first.parameters, start()));

  const auto plain = make();
  const auto report = co_await role.route<&trainer<sft_learner>::train_step>(examples, 1.0, 5e-4);
  CHECK(report.learning_rate == 5e-4);
  CHECK(report["train/loss"] == plain->update(examples, 1.0, 5e-4)["train/loss"]);
  const auto saved = co_await role.route<&trainer<sft_learner>::save>();
  CHECK(saved == plain->save());
}

TEST_CASE("sft: the trainer role takes the learner as it takes the others") {
  troupe::system sys({.deterministic = true, .seed = 1});
  sys.run(train_by_role(sys));
}

TEST_CASE("sft: with adapters the weights stay, and the merged model has learned the same") {
  const auto base = start();
  const auto before = base.clone();
  const llm::lora_options lora{.targets = {llm::projection::q, llm::projection::down}, .rank = 4};
  sft_learner learner(config(), {.lr = 1e-2}, base, lora, 3);
  CHECK(learner.parameters().numel() == llm::adapter_count(config(), lora));
  CHECK(at::equal(learner.model_parameters(), before));
  const double first = learner.update(examples)["train/loss"];
  for (int i = 0; i < 20; ++i) learner.update(examples);
  CHECK(learner.loss_of(examples) < 0.5 * first);
  CHECK(at::equal(base, before));
  const sft_learner merged(config(), {}, learner.model_parameters());
  CHECK(merged.loss_of(examples) == Approx(learner.loss_of(examples)).epsilon(1e-5));
}

TEST_CASE("sft: a step that isn't finite changes nothing, and several in a row end training") {
  auto weights = start();
  weights[7] = std::numeric_limits<float>::quiet_NaN();  // of token 0, which all answers end with
  sft_options impatient;
  impatient.max_skipped_steps = 2;
  sft_learner learner(config(), impatient, weights);
  CHECK(learner.update(examples).skipped_steps == 1);
  CHECK(at::equal(learner.parameters().narrow(0, 8, 1000), weights.narrow(0, 8, 1000)));
  CHECK_THROWS_AS(learner.update(examples), non_finite_training);
}

TEST_CASE("sft: a chosen step size replaces the schedule's, which goes on beside it") {
  const sft_options options{.lr = 1e-3, .warmup_updates = 4};
  sft_learner learner(config(), options, start());
  CHECK(learner.update(examples, 1.0, 5e-4).learning_rate == 5e-4);
  CHECK(learner.update(examples).learning_rate == Approx(5e-4));
  CHECK(learner.update(examples).learning_rate == Approx(7.5e-4));
}

TEST_CASE("sft: what can't be trained on is refused by name") {
  sft_learner learner(config(), {}, start());
  CHECK_THROWS_WITH(learner.update(std::vector<sft_example>{}),
                    Contains("expected a batch of examples"));
  CHECK_THROWS_WITH(learner.update({sft_example{{1}, {}}}), Contains("got 1 and 0 tokens"));
  CHECK_THROWS_WITH(learner.update({sft_example{{1}, {2}}, sft_example{{1}, {50}}}),
                    Contains("got 50"));
  CHECK_THROWS_WITH(learner.start_from(std::vector<float>(3), {}),
                    Contains("sft: expected a model of"));
  CHECK_THROWS_WITH(sft_learner(config(), {.lr = -1.0}, start()), Contains("lr"));
  CHECK_THROWS_WITH(sft_learner(config(), {.schedule = lr_decay::cosine}, start()),
                    Contains("total_updates"));
}

}  // namespace
}  // namespace troupe
