#include "actors/torch.hpp"

#include "actors/llm/training/token_groups.hpp"

namespace troupe::llm {
namespace {

using index = std::int64_t;

void append(packed_tokens& to, const std::vector<token_id>& document, index parent) {
  to.ids.insert(to.ids.end(), document.begin(), document.end());
  to.lengths.push_back(index(document.size()));
  to.parents.push_back(parent);
}

[[noreturn]] void refuse(std::size_t group, const std::string& what) {
  throw std::invalid_argument("token group " + std::to_string(group) + ": expected " + what);
}

}  // namespace

packed_groups pack_groups(std::span<const token_group> groups) {
  packed_groups packed;
  auto& [tokens, targets] = packed;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    if (group.prompt.empty()) refuse(g, "a prompt of one token or more, got none");
    if (group.answers.empty()) refuse(g, "one answer or more, got none");
    const auto prompt = index(tokens.lengths.size());
    append(tokens, group.prompt, -1);
    const auto before = index(tokens.ids.size()) - 1;  // what each first token is predicted from
    for (std::size_t a = 0; a < group.answers.size(); ++a) {
      const auto& answer = group.answers[a];
      if (answer.empty()) refuse(g, "tokens in answer " + std::to_string(a) + ", got none");
      const auto begin = index(tokens.ids.size());
      append(tokens, answer, prompt);
      targets.ids.insert(targets.ids.end(), answer.begin(), answer.end());
      for (index i = 0; i < index(answer.size()); ++i)
        targets.rows.push_back(i == 0 ? before : begin + i - 1);
    }
  }
  return packed;
}

token_scores answer_scores(const model_config& config, const model_weights& weights,
                           std::span<const token_group> groups, const group_options& options) {
  const auto packed = pack_groups(groups);
  auto log_probs = options.log_probs;
  log_probs.compute = options.forward.compute;
  return token_log_probs(config, weights,
                         packed_hidden(config, weights, packed.tokens, options.forward),
                         packed.targets, log_probs);
}

at::Tensor answer_log_probs(const model_config& config, const model_weights& weights,
                            std::span<const token_group> groups, const group_options& options) {
  return answer_scores(config, weights, groups, options).log_probs;
}

}  // namespace troupe::llm
