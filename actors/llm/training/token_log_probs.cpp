#include "actors/torch/torch.hpp"

#include "actors/llm/training/token_log_probs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "actors/llm/model/forward_ops.hpp"

namespace troupe::llm {
namespace {

using at::Tensor;
using index = std::int64_t;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The targets, sorted by their row.
struct sorted_targets : torch::CustomClassHolder {
  Tensor rows;                     // long [R]: the rows that have targets, each once, ascending
  std::vector<index> row_of, ids;  // [N] row_of: places in `rows`, ascending
  Tensor places;                   // long [N]: the sorted place of each of the caller's targets
};

c10::intrusive_ptr<sorted_targets> sorted(const target_tokens& targets) {
  const auto count = targets.ids.size();
  std::vector<index> order(count), places(count), rows;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](index a, index b) {
    return targets.rows[std::size_t(a)] < targets.rows[std::size_t(b)];
  });
  auto out = c10::make_intrusive<sorted_targets>();
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = std::size_t(order[i]);
    if (rows.empty() || rows.back() != targets.rows[from]) rows.push_back(targets.rows[from]);
    out->row_of.push_back(index(rows.size()) - 1);
    out->ids.push_back(targets.ids[from]);
    places[from] = index(i);
  }
  out->rows = at::tensor(rows, at::kLong);
  out->places = at::tensor(places, at::kLong);
  return out;
}

/// A part of the rows, and the targets that are predicted from them.
struct chunk {
  index begin = 0, rows = 0;  // the range in sorted_targets::rows
  index first_target = 0, targets = 0;
  Tensor row_of, ids;  // long [targets]; row_of counts from the chunk's first row
};

std::vector<chunk> chunks_of(const sorted_targets& targets, index rows_at_once) {
  std::vector<chunk> chunks;
  const auto all_rows = targets.rows.size(0);
  std::size_t next = 0;
  for (index begin = 0; begin < all_rows; begin += rows_at_once) {
    chunk c{begin, std::min(rows_at_once, all_rows - begin), index(next), 0, {}, {}};
    std::vector<index> row_of, ids;
    for (; next < targets.ids.size() && targets.row_of[next] < begin + c.rows; ++next) {
      row_of.push_back(targets.row_of[next] - begin);
      ids.push_back(targets.ids[next]);
    }
    c.targets = index(ids.size());
    c.row_of = at::tensor(row_of, at::kLong);
    c.ids = at::tensor(ids, at::kLong);
    chunks.push_back(std::move(c));
  }
  return chunks;
}

struct row_logits {
  Tensor scaled;  // [rows, vocab]: logits / temperature
  Tensor norm;    // [rows, 1]: the logsumexp of each row
};

row_logits logits_of_rows(const Tensor& hidden, const Tensor& head, double temperature) {
  auto z = hidden.scalar_type() == at::kFloat ? products_of(hidden, head)
                                              : at::mm(hidden, head.t()).to(at::kFloat);
  if (temperature != 1.0) z.div_(temperature);
  auto norm = z.logsumexp(-1, true);
  return {std::move(z), std::move(norm)};
}

// Computes log-probabilities [N] and, if wanted, entropies [N] from hidden [R, hidden_size] and
// head [vocab, hidden_size], in the order of sorted_targets. Both inputs must be float or both
// bfloat16.
struct log_prob_function : torch::autograd::Function<log_prob_function> {
  static variable_list forward(AutogradContext* context, const Tensor& hidden, const Tensor& head,
                               c10::intrusive_ptr<sorted_targets> targets,
                               const log_prob_options& options) {
    const auto count = index(targets->ids.size());
    auto log_probs = at::empty({count});
    auto entropy = at::empty({options.entropy ? count : 0});
    for (const auto& c : chunks_of(*targets, options.rows_at_once)) {
      const auto [z, norm] =
          logits_of_rows(hidden.narrow(0, c.begin, c.rows), head, options.temperature);
      const auto norms = norm.squeeze(1).index_select(0, c.row_of);
      log_probs.narrow(0, c.first_target, c.targets).copy_(z.index({c.row_of, c.ids}) - norms);
      if (!options.entropy) continue;
      const auto of_rows = norm.squeeze(1) - ((z - norm).exp_() * z).sum(-1);
      entropy.narrow(0, c.first_target, c.targets).copy_(of_rows.index_select(0, c.row_of));
    }
    context->save_for_backward({hidden, head});
    context->saved_data["targets"] = c10::IValue::make_capsule(std::move(targets));
    context->saved_data["temperature"] = options.temperature;
    context->saved_data["rows_at_once"] = options.rows_at_once;
    context->saved_data["entropy"] = options.entropy;
    return {log_probs, entropy};
  }

  // With z = logits / T, p = softmax(z), H the entropy: d log p_id / dz = 1[id] - p, and
  // dH / dz = -p (log p + H).
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &hidden = saved[0], &head = saved[1];
    const auto targets = c10::static_intrusive_pointer_cast<sorted_targets>(
        context->saved_data["targets"].toCapsule());
    const auto temperature = context->saved_data["temperature"].toDouble();
    const bool with_entropy = context->saved_data["entropy"].toBool();
    auto d_hidden = at::empty_like(hidden);
    auto d_head = head.requires_grad() ? at::zeros(head.sizes()) : Tensor();
    for (const auto& c : chunks_of(*targets, context->saved_data["rows_at_once"].toInt())) {
      const auto rows = hidden.narrow(0, c.begin, c.rows);
      const auto [z, norm] = logits_of_rows(rows, head, temperature);
      const auto summed = [&](const Tensor& of_targets) {
        const auto mine = of_targets.narrow(0, c.first_target, c.targets);
        return at::zeros({c.rows}).index_add_(0, c.row_of, mine).unsqueeze(1);
      };
      Tensor d_z;
      if (with_entropy) {
        const auto log_p = z.sub_(norm);
        const auto p = log_p.exp();
        const auto negative_entropy = (p * log_p).sum(-1, true);
        d_z = p * (-summed(gradients[0]) - summed(gradients[1]) * (log_p - negative_entropy));
      } else {
        d_z = z.sub_(norm).exp_().mul_(-summed(gradients[0]));
      }
      d_z.index_put_({c.row_of, c.ids}, gradients[0].narrow(0, c.first_target, c.targets), true);
      if (temperature != 1.0) d_z.div_(temperature);
      d_z = d_z.to(hidden.scalar_type());
      d_hidden.narrow(0, c.begin, c.rows).copy_(at::mm(d_z, head));
      if (!d_head.defined()) continue;
      if (hidden.scalar_type() == at::kFloat)
        d_head.addmm_(d_z.t(), rows);
      else
        d_head.add_(at::mm(d_z.t(), rows));
    }
    if (d_head.defined()) d_head = d_head.to(head.scalar_type());
    return {d_hidden, d_head, {}, {}};
  }
};

void check(const model_config& config, const Tensor& hidden, const target_tokens& targets,
           const log_prob_options& options) {
  const auto refuse = [](const std::string& what, const auto& got) {
    throw std::invalid_argument("token_log_probs: expected " + what + ", got " + c10::str(got));
  };
  if (hidden.dim() != 2 || hidden.size(1) != config.hidden_size)
    refuse("hidden states [T, " + std::to_string(config.hidden_size) + ']', hidden.sizes());
  if (targets.rows.size() != targets.ids.size())
    refuse("rows of " + std::to_string(targets.ids.size()) + " targets", targets.rows.size());
  if (targets.ids.empty()) refuse("targets", "none");
  for (const auto row : targets.rows) {
    if (row < 0 || row >= hidden.size(0))
      refuse("rows from 0 to " + std::to_string(hidden.size(0) - 1), row);
  }
  for (const auto id : targets.ids) {
    if (id < 0 || id >= config.vocab_size)
      refuse("ids from 0 to " + std::to_string(config.vocab_size - 1), id);
  }
  if (!(options.temperature > 0.0) || !std::isfinite(options.temperature))
    refuse("a temperature above 0", options.temperature);
  if (options.rows_at_once < 1) refuse("rows_at_once of 1 or more", options.rows_at_once);
}

}  // namespace

token_scores token_log_probs(const model_config& config, const model_weights& weights,
                             const Tensor& hidden, const target_tokens& targets,
                             const log_prob_options& options) {
  check(config, hidden, targets, options);
  const auto in_order = sorted(targets);
  auto rows = hidden.index_select(0, in_order->rows);
  auto head = config.tied_embeddings ? weights.embedding : weights.head;
  if (options.compute == compute_type::bf16) {
    rows = rows.to(at::kBFloat16);
    head = head.to(at::kBFloat16);
  }
  const auto scores = log_prob_function::apply(rows, head, in_order, options);
  return {scores[0].index_select(0, in_order->places),
          options.entropy ? scores[1].index_select(0, in_order->places) : Tensor()};
}

}  // namespace troupe::llm
