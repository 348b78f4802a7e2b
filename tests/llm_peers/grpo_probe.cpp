// The gradient of GRPO's loss on a given batch, for grpo_check.py to compare with TRL's:
//
//   grpo_probe MODEL OUT < batch.json
//
// The batch: {"loss": {"term": .., ...} as `troupe config grpo` has its trainer section,
// "length_max": .., "temperature": .., "groups": [{"prompt": [ids], "answers": [{"tokens": [ids],
// "read": [[begin, end], ..], "old": [..], "sampled": [..], "reference": [..], "advantage":
// ..}]}]}. "read" may be left out; the log-probabilities are those of the other tokens. Writes the
// gradient as if it were a model, and prints the loss.

#include "actors/torch/torch.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "actors/torch/torch_threads.hpp"
#include "algorithms/language_models/grpo/config.hpp"

namespace troupe {
namespace {

struct read_batch {
  std::vector<llm::token_group> groups;
  std::vector<std::int64_t> lengths;
  std::vector<float> old, sampled, reference, advantage;
};

void append(std::vector<float>& to, const nlohmann::json& numbers) {
  for (const auto& each : numbers) to.push_back(each.get<float>());
}

read_batch read(const nlohmann::json& groups) {
  read_batch batch;
  for (const auto& group : groups) {
    auto& made = batch.groups.emplace_back();
    made.prompt = group.at("prompt").get<std::vector<llm::token_id>>();
    for (const auto& answer : group.at("answers")) {
      made.answers.push_back(answer.at("tokens").get<std::vector<llm::token_id>>());
      auto& read = made.read.emplace_back();
      auto sampled = std::ssize(made.answers.back());
      for (const auto& range : answer.value("read", nlohmann::json::array())) {
        read.push_back({range.at(0), range.at(1)});
        sampled -= read.back().end - read.back().begin;
      }
      batch.lengths.push_back(sampled);
      append(batch.old, answer.at("old"));
      append(batch.sampled, answer.at("sampled"));
      append(batch.reference, answer.at("reference"));
      batch.advantage.push_back(answer.at("advantage").get<float>());
    }
  }
  return batch;
}

void run(const std::string& model, const std::string& out) {
  const auto asked = nlohmann::json::parse(std::cin);
  const auto options = parse_config<grpo_options>(asked.at("loss"));
  const auto batch = read(asked.at("groups"));
  const auto read_from = llm::read_model(model);
  auto trained = llm::train_weights(read_from.config,
                                    llm::flatten_weights(read_from.config, read_from.weights));
  const double temperature = asked.at("temperature").get<double>();
  const grpo_loss_inputs in{
      .rows = token_rows(batch.lengths),
      .log_prob = llm::answer_log_probs(read_from.config, trained.weights, batch.groups,
                                        {.log_probs = {.temperature = temperature}}),
      .behaviour = at::tensor(batch.sampled),
      .proximal = at::tensor(batch.old),
      .reference = at::tensor(batch.reference),
      .advantage = at::tensor(batch.advantage)};
  const auto result = grpo_loss(in, options.loss(),
                                {.tokens = in.rows.tokens(),
                                 .answers = in.rows.answers(),
                                 .length_max = asked.at("length_max").get<std::int64_t>()});
  result.loss.backward();
  llm::write_model(out, read_from.config, llm::weights_in(read_from.config, trained.gradient));
  std::cout << nlohmann::json{{"loss", result.metrics.loss},
                              {"clip_low", result.metrics.clip_low},
                              {"clip_high", result.metrics.clip_high}}
                   .dump()
            << '\n';
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: grpo_probe MODEL OUT < batch.json\n";
    return 2;
  }
  troupe::use_one_torch_thread();
  troupe::run(argv[1], argv[2]);
}
