#include "actors/torch/torch.hpp"

#include "actors/llm/model/forward_ops.hpp"

#include "actors/llm/model/decode_kernels.hpp"
#include "actors/llm/model/gradient_kernels.hpp"
#include "actors/llm/model/packed_matrix.hpp"

namespace troupe::llm {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const float* floats(const Tensor& x) { return x.data_ptr<float>(); }

struct rms_norm_function : torch::autograd::Function<rms_norm_function> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        double eps) {
    auto y = at::empty_like(x);
    const auto size = x.size(-1);
    rms_norm_rows(floats(x), x.numel() / size, size, floats(weight), float(eps),
                  y.data_ptr<float>());
    context->save_for_backward({x, weight});
    context->saved_data["eps"] = eps;
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1];
    const auto d_y = gradients[0].contiguous();
    auto d_x = at::empty_like(x), d_weight = at::zeros_like(weight);
    const auto size = x.size(-1);
    rms_norm_gradient(floats(x), floats(d_y), x.numel() / size, size, floats(weight),
                      float(context->saved_data["eps"].toDouble()), d_x.data_ptr<float>(),
                      d_weight.data_ptr<float>());
    return {d_x, d_weight, {}};
  }
};

void rotate(Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const auto heads = x.size(1), half = x.size(2) / 2;
  for (std::int64_t t = 0; t < x.size(0); ++t)
    rotate_heads(x.data_ptr<float>() + t * heads * 2 * half, heads, half, floats(cosine) + t * half,
                 floats(sine) + t * half);
}

struct rotated_function : torch::autograd::Function<rotated_function> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& cosine,
                        const Tensor& sine) {
    auto y = x.clone();
    rotate(y, cosine, sine);
    context->save_for_backward({cosine, sine});
    return y;
  }

  // Rotation is linear, and the gradient is multiplied by its transpose. With an attention_factor
  // cosine and sine also scale, so that the transpose is not the inverse.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    auto d_x = gradients[0].clone(at::MemoryFormat::Contiguous);
    rotate(d_x, saved[0], -saved[1]);
    return {d_x, {}, {}};
  }
};

struct row_products_function : torch::autograd::Function<row_products_function> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight) {
    context->save_for_backward({x, weight});
    return products_of(x, weight);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &d_y = gradients[0];
    return {context->needs_input_grad(0) ? at::mm(d_y, weight) : Tensor(),
            context->needs_input_grad(1) ? at::mm(d_y.t(), x) : Tensor()};
  }
};

struct gated_function : torch::autograd::Function<gated_function> {
  static Tensor forward(AutogradContext* context, const Tensor& gate, const Tensor& up) {
    auto y = at::empty_like(gate);
    gate_values(floats(gate), floats(up), gate.numel(), y.data_ptr<float>());
    context->save_for_backward({gate, up});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &gate = saved[0], &up = saved[1];
    const auto d_y = gradients[0].contiguous();
    auto d_gate = at::empty_like(gate), d_up = at::empty_like(up);
    gate_gradient(floats(gate), floats(up), floats(d_y), gate.numel(), d_gate.data_ptr<float>(),
                  d_up.data_ptr<float>());
    return {d_gate, d_up};
  }
};

}  // namespace

// An output sums over the inputs in the same order, whether x or the weight is packed.
Tensor products_of(const Tensor& x, const Tensor& weight) {
  const auto tokens = x.size(0), outputs = weight.size(0);
  const bool few_tokens = tokens <= outputs;
  const auto &packed = few_tokens ? x : weight, &read = few_tokens ? weight : x;
  const weight_rows all{floats(packed), packed.size(0)};
  auto y = at::empty({read.size(0), packed.size(0)});
  packed_matrix({&all, 1}, x.size(1)).multiply(floats(read), read.size(0), y.data_ptr<float>());
  return few_tokens ? y.t().contiguous() : y;
}

Tensor row_products(const Tensor& x, const Tensor& weight) {
  return row_products_function::apply(x.contiguous(), weight.contiguous());
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  return rms_norm_function::apply(x.contiguous(), weight.contiguous(), eps);
}

Tensor rotated(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  return rotated_function::apply(x.contiguous(), cosine.contiguous(), sine.contiguous());
}

Tensor gated(const Tensor& gate, const Tensor& up) {
  return gated_function::apply(gate.contiguous(), up.contiguous());
}

}  // namespace troupe::llm
