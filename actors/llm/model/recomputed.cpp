#include "actors/torch/torch.hpp"

#include "actors/llm/model/recomputed.hpp"

namespace troupe::llm {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using computation = std::function<Tensor(const std::vector<Tensor>&)>;

struct kept_computation : torch::CustomClassHolder {
  explicit kept_computation(computation of) : compute(std::move(of)) {}
  computation compute;
};

struct recomputed_function : torch::autograd::Function<recomputed_function> {
  static Tensor forward(AutogradContext* context, at::TensorList inputs, computation compute) {
    auto out = compute(inputs.vec());
    context->save_for_backward(inputs.vec());
    context->saved_data["compute"] =
        c10::IValue::make_capsule(c10::make_intrusive<kept_computation>(std::move(compute)));
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto kept = c10::static_intrusive_pointer_cast<kept_computation>(
        context->saved_data["compute"].toCapsule());
    std::vector<Tensor> inputs, wanted;
    for (const auto& saved : context->get_saved_variables()) {
      inputs.push_back(saved.detach().requires_grad_(saved.requires_grad()));
      if (saved.requires_grad()) wanted.push_back(inputs.back());
    }
    Tensor out;
    {
      const at::AutoGradMode on(true);
      out = kept->compute(inputs);
    }
    const auto found = torch::autograd::grad({out}, wanted, {gradients[0]});
    variable_list all;
    std::size_t next = 0;
    for (const auto& input : inputs)
      all.push_back(input.requires_grad() ? found[next++] : Tensor());
    all.emplace_back();  // the function `compute` has no gradient
    return all;
  }
};

}  // namespace

Tensor recomputed(computation compute, const std::vector<Tensor>& inputs) {
  return recomputed_function::apply(at::TensorList(inputs), std::move(compute));
}

}  // namespace troupe::llm
