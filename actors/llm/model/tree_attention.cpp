#include "actors/torch/torch.hpp"

#include "actors/llm/model/tree_attention.hpp"

#include <cmath>

#include "actors/llm/model/document_attention.hpp"

namespace troupe::llm {
namespace {

using at::Tensor;
using index = std::int64_t;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using documents_ptr = std::shared_ptr<const std::vector<document_place>>;

/// The documents, which the autograd context keeps besides the tensors.
struct kept_documents : torch::CustomClassHolder {
  explicit kept_documents(documents_ptr of) : documents(std::move(of)) {}
  documents_ptr documents;
};

Tensor rows(const Tensor& x, const token_span& span) { return x.narrow(0, span.begin, span.count); }

/// The inputs of one document, with the heads as the first dimension.
struct document_inputs {
  Tensor q;     // [kv_heads, group * n, head_dim]: the query heads are grouped by key head
  Tensor k, v;  // [kv_heads, m, head_dim]: the tokens seen, the document's own n tokens last
};

// Reorders x [n, heads, head_dim] to [kv_heads, group * n, head_dim].
Tensor grouped(const Tensor& x, index kv_heads) {
  const auto n = x.size(0), group = x.size(1) / kv_heads;
  return x.view({n, kv_heads, group, x.size(2)})
      .permute({1, 2, 0, 3})
      .reshape({kv_heads, group * n, x.size(2)});
}

// The inverse of `grouped`.
Tensor ungrouped(const Tensor& x, index n) {
  const auto kv_heads = x.size(0), group = x.size(1) / n;
  return x.view({kv_heads, group, n, x.size(2)})
      .permute({2, 0, 1, 3})
      .reshape({n, kv_heads * group, x.size(2)});
}

Tensor seen_by(const Tensor& x, const document_place& document) {
  if (document.seen.empty()) return rows(x, document.own).transpose(0, 1);
  std::vector<Tensor> parts;
  for (const auto& span : document.seen) parts.push_back(rows(x, span));
  parts.push_back(rows(x, document.own));
  return at::cat(parts).transpose(0, 1);
}

document_inputs inputs_of(const Tensor& q, const Tensor& k, const Tensor& v,
                          const document_place& document) {
  return {grouped(rows(q, document.own), k.size(1)), seen_by(k, document), seen_by(v, document)};
}

double scale_of(const Tensor& q) { return 1.0 / std::sqrt(static_cast<double>(q.size(-1))); }

// Causal attention weights softmax(q k^T / sqrt(head_dim)), [kv_heads, group * n, m].
Tensor attention_weights(const document_inputs& in, index n) {
  auto scores = at::matmul(in.q, in.k.transpose(1, 2)).mul_(scale_of(in.q));
  const auto m = in.k.size(1);
  if (n > 1) {
    const auto later = at::ones({n, n}, at::kBool).triu_(1);
    scores.view({in.k.size(0), -1, n, m}).narrow(3, m - n, n).masked_fill_(later, -INFINITY);
  }
  return scores.softmax(-1);
}

// Adds a gradient [kv_heads, m, head_dim] to that of the tokens that the document attended to.
void give_back(const Tensor& gradient, const document_place& document, Tensor& to) {
  const auto by_token = gradient.transpose(0, 1);
  index begin = 0;
  for (const auto& span : document.seen) {
    rows(to, span).add_(by_token.narrow(0, begin, span.count));
    begin += span.count;
  }
  rows(to, document.own).add_(by_token.narrow(0, begin, document.own.count));
}

struct tree_attention_function : torch::autograd::Function<tree_attention_function> {
  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& k, const Tensor& v,
                        documents_ptr documents) {
    auto out = at::empty_like(q);
    document_attention(
        {.heads = q.size(1), .kv_heads = k.size(1), .head_dim = q.size(2)}, *documents,
        {q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), out.data_ptr<float>()});
    context->save_for_backward({q, k, v});
    context->saved_data["documents"] =
        c10::IValue::make_capsule(c10::make_intrusive<kept_documents>(std::move(documents)));
    return out.view({q.size(0), -1});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &q = saved[0], &k = saved[1], &v = saved[2];
    const auto kept = c10::static_intrusive_pointer_cast<kept_documents>(
        context->saved_data["documents"].toCapsule());
    const auto d_out = gradients[0].view(q.sizes());
    auto d_q = at::empty_like(q), d_k = at::zeros_like(k), d_v = at::zeros_like(v);
    for (const auto& document : *kept->documents) {
      const auto n = document.own.count;
      const auto in = inputs_of(q, k, v, document);
      const auto p = attention_weights(in, n);
      const auto d_o = grouped(rows(d_out, document.own), k.size(1));
      give_back(at::matmul(p.transpose(1, 2), d_o), document, d_v);
      const auto d_p = at::matmul(d_o, in.v.transpose(1, 2));
      const auto d_scores =
          at::_softmax_backward_data(d_p, p, -1, p.scalar_type()).mul_(scale_of(q));
      rows(d_q, document.own).copy_(ungrouped(at::matmul(d_scores, in.k), n));
      give_back(at::matmul(d_scores.transpose(1, 2), in.q), document, d_k);
    }
    return {d_q, d_k, d_v, {}};
  }
};

}  // namespace

Tensor tree_attention(const Tensor& q, const Tensor& k, const Tensor& v, documents_ptr documents) {
  return tree_attention_function::apply(q.contiguous(), k.contiguous(), v.contiguous(),
                                        std::move(documents));
}

}  // namespace troupe::llm
