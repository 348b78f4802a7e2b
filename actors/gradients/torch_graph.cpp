#include "actors/torch/torch.hpp"

#include "actors/gradients/torch_graph.hpp"

#include <limits>
#include <numbers>
#include <utility>

#include "actors/gradients/choices.hpp"
#include "actors/gradients/size_checks.hpp"
#include "actors/gradients/torch_action_terms.hpp"
#include "actors/kernels/norm_kernels.hpp"
#include "actors/networks/feature_extractor.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/mlp_autograd.hpp"

namespace troupe {
namespace {

at::Tensor view_of(std::span<const float> numbers, at::IntArrayRef sizes) {
  return at::from_blob(const_cast<float*>(numbers.data()), sizes, at::kFloat);
}

at::Tensor view_of(std::span<const std::int64_t> numbers, at::IntArrayRef sizes) {
  return at::from_blob(const_cast<std::int64_t*>(numbers.data()), sizes, at::kLong);
}

bool is_same(const parameter_block& a, const parameter_block& b) {
  return a.values.data() == b.values.data() && a.gradient.data() == b.gradient.data();
}

}  // namespace

torch_graph::torch_graph(detail::device_link link, at::ScalarType type)
    : link_(std::move(link)), type_(type) {}

torch_graph::~torch_graph() = default;

void torch_graph::clear() {
  results_.clear();
  leaves_.clear();
  blocks_.clear();
  gradients_.clear();
  read_.clear();
}

variable torch_graph::keep(at::Tensor result) {
  const auto rows = static_cast<int>(result.size(0)), columns = static_cast<int>(result.size(1));
  results_.push_back(std::move(result));
  return {*this, results_.size() - 1, rows, columns};
}

at::Tensor torch_graph::there(std::span<const float> numbers, at::IntArrayRef sizes) const {
  const auto here = view_of(numbers, sizes);
  return link_.to_device(type_ == at::kFloat ? here : here.to(type_));
}

variable torch_graph::constant(std::span<const float> numbers, int columns) {
  return keep(there(numbers, {detail::whole_rows(numbers, columns), columns}));
}

const at::Tensor& torch_graph::copy_of(const parameter_block& block) {
  for (const auto& each : blocks_) {
    if (is_same(each.block, block)) return each.there;
  }
  blocks_.push_back({block, there(block.values, {std::ssize(block.values)})});
  return blocks_.back().there;
}

// Each part is a leaf of its own: the derivative of a narrow() would be a whole block for each.
at::Tensor torch_graph::part(const parameter_block& block, std::size_t first,
                             at::IntArrayRef sizes) {
  for (const auto& each : leaves_) {
    if (is_same(each.block, block) && each.first == first && each.part.sizes() == sizes) {
      return each.part;
    }
  }
  const auto count = c10::multiply_integers(sizes);
  detail::require_within(first, static_cast<int>(count / sizes.back()),
                         static_cast<int>(sizes.back()), block.values.size());
  at::Tensor part;
  if (type_ == at::kFloat && link_.is_host()) {
    part = view_of(block.values.subspan(first, static_cast<std::size_t>(count)), sizes);
  } else {
    part = copy_of(block).narrow(0, static_cast<std::int64_t>(first), count).view(sizes).detach();
  }
  gradients_.use(block);
  if (!block.gradient.empty()) part.requires_grad_();
  leaves_.push_back({block, first, part});
  return part;
}

variable torch_graph::parameter(const parameter_block& block, std::size_t first, int rows,
                                int columns) {
  return keep(part(block, first, {rows, columns}));
}

variable torch_graph::dense(variable x, const parameter_block& block,
                            const detail::dense_layer& layer, activation kind) {
  const at::AutoGradMode with_grad(true);
  const auto y = at::addmm(part(block, layer.bias, {layer.out}), at(x),
                           part(block, layer.weight, {layer.in, layer.out}));
  return keep(detail::activate(kind, y));
}

variable torch_graph::features(variable x, const parameter_block& block, std::size_t first,
                               const detail::feature_extractor& extractor) {
  const at::AutoGradMode with_grad(true);
  return keep(
      extractor.forward(extractor.parts(part(block, first, {extractor.parameter_count()})), at(x)));
}

variable torch_graph::element(element_operation operation, variable of, float a, float b) {
  const at::AutoGradMode with_grad(true);
  const auto& x = at(of);
  switch (operation) {
    case element_operation::scale:
      return keep(a * x);
    case element_operation::shift:
      return keep(x + a);
    case element_operation::exp:
      return keep(x.clamp(-80, 80).exp());
    case element_operation::unbounded_exp:
      return keep(x.exp());
    case element_operation::log:
      return keep(x.log());
    case element_operation::square:
      return keep(x.square());
    case element_operation::abs:
      return keep(x.abs());
    case element_operation::clamp:
      return keep(x.clamp(a, b));
    case element_operation::tanh:
      return keep(x.tanh());
    case element_operation::elu:
      return keep(at::elu(x));
    case element_operation::log_slope_of_tanh:
      return keep(2.0 * (std::numbers::ln2 - x - at::softplus(-2.0 * x)));
    case element_operation::huber:
      break;
  }
  return keep(at::smooth_l1_loss(x, at::zeros_like(x), at::Reduction::None, /*beta=*/1.0));
}

variable torch_graph::pair(pair_operation operation, variable first, variable second) {
  const at::AutoGradMode with_grad(true);
  const auto& x = at(first);
  const auto& y = at(second);
  switch (operation) {
    case pair_operation::add:
      return keep(x + y);
    case pair_operation::subtract:
      return keep(x - y);
    case pair_operation::multiply:
      return keep(x * y);
    case pair_operation::minimum:
      return keep(at::where(y < x, y, x));
    case pair_operation::maximum:
      return keep(at::where(y > x, y, x));
    case pair_operation::mask:
      break;
  }
  return keep(at::where(y > 0, x, at::full({}, -1e8, x.options())));
}

variable torch_graph::product(variable x, variable y) {
  const at::AutoGradMode with_grad(true);
  return keep(at::mm(at(x), at(y)));
}

variable torch_graph::row_dense(variable x, variable weight, variable bias) {
  const at::AutoGradMode with_grad(true);
  const auto of_rows = at(weight).view({x.rows(), x.columns(), bias.columns()});
  return keep(at::bmm(at(x).unsqueeze(1), of_rows).squeeze(1) + at(bias));
}

variable torch_graph::reduce_rows(row_operation operation, variable x) {
  const at::AutoGradMode with_grad(true);
  switch (operation) {
    case row_operation::sum:
      return keep(at(x).sum(1, true));
    case row_operation::mean:
      return keep(at(x).mean(1, true));
    case row_operation::min:
      return keep(std::get<0>(at(x).min(1, true)));
    case row_operation::max:
      break;
  }
  return keep(std::get<0>(at(x).max(1, true)));
}

variable torch_graph::log_softmax(variable x) {
  const at::AutoGradMode with_grad(true);
  return keep(at(x).log_softmax(1));
}

variable torch_graph::layer_norm(variable x, variable scale, variable shift, activation kind) {
  const at::AutoGradMode with_grad(true);
  const auto y = at::layer_norm(at(x), {x.columns()}, at(scale).view({-1}), at(shift).view({-1}),
                                detail::layer_norm_eps);
  return keep(detail::activate(kind, y));
}

variable torch_graph::slice(variable x, int first, int count) {
  const at::AutoGradMode with_grad(true);
  return keep(at(x).narrow(1, first, count));
}

variable torch_graph::reshape(variable x, int columns) {
  const at::AutoGradMode with_grad(true);
  return keep(at(x).reshape({-1, columns}));
}

variable torch_graph::concat(std::span<const variable> parts) {
  const at::AutoGradMode with_grad(true);
  std::vector<at::Tensor> tensors;
  for (const auto& part : parts) tensors.push_back(at(part));
  return keep(at::cat(tensors, 1));
}

variable torch_graph::gather(variable x, std::span<const std::int64_t> chosen) {
  const at::AutoGradMode with_grad(true);
  detail::require_choices(chosen, x.columns());
  return keep(at(x).gather(1, link_.to_device(view_of(chosen, {std::ssize(chosen), 1}))));
}

variable torch_graph::select_rows(variable x, std::span<const std::int64_t> chosen) {
  const at::AutoGradMode with_grad(true);
  detail::require_choices(chosen, x.rows());
  return keep(at::embedding(at(x), link_.to_device(view_of(chosen, {std::ssize(chosen)}))));
}

log_prob_and_entropy torch_graph::action_terms(const detail::action_head& head, variable outputs,
                                               variable log_std, const action_rows& actions) {
  const at::AutoGradMode with_grad(true);
  const auto rows = static_cast<std::size_t>(outputs.rows());
  const auto choices = head.choice_count(),
             floats = static_cast<std::size_t>(head.continuous_size());
  detail::action_tensors here;
  if (choices > 0) {
    const std::span chosen(actions.choice, rows * choices);
    here.choice =
        link_.to_device(view_of(chosen, {outputs.rows(), static_cast<std::int64_t>(choices)}));
  }
  if (floats > 0) {
    here.value = there({actions.value, rows * floats}, {outputs.rows(), head.continuous_size()});
  }
  auto terms =
      detail::action_terms(head, at(outputs), floats > 0 ? at(log_std) : at::Tensor(), here);
  const auto log_prob = keep(std::move(terms.log_prob));
  return {log_prob, keep(std::move(terms.entropy))};
}

std::span<const std::int64_t> torch_graph::argmax(variable x, std::span<const float> allowed) {
  detail::require_flags(x.rows(), x.columns(), allowed);
  auto values = at(x).detach();
  if (!allowed.empty()) {
    const auto forbidden = there(allowed, values.sizes()) <= 0;
    values = values.masked_fill(forbidden & ~forbidden.all(1, true),
                                -std::numeric_limits<double>::infinity());
  }
  read_.push_back(link_.to_host(values.argmax(1)).contiguous());
  return {read_.back().data_ptr<std::int64_t>(), static_cast<std::size_t>(read_.back().numel())};
}

variable torch_graph::stop_gradient(variable x) { return keep(at(x).detach()); }

variable torch_graph::mean(variable x, std::span<const float> weight) {
  const at::AutoGradMode with_grad(true);
  detail::require_column(x.rows(), x.columns(), weight);
  const auto& column = at(x);
  const auto weighted = weight.empty() ? column : column * there(weight, column.sizes());
  return keep(weighted.mean().view({1, 1}));
}

variable torch_graph::sum(variable x, std::span<const float> weight) {
  const at::AutoGradMode with_grad(true);
  detail::require_column(x.rows(), x.columns(), weight);
  const auto& column = at(x);
  const auto weighted = weight.empty() ? column : column * there(weight, column.sizes());
  return keep(weighted.sum().view({1, 1}));
}

void torch_graph::backward(variable loss) {
  std::vector<at::Tensor> trained;
  for (const auto& each : leaves_) {
    if (!each.block.gradient.empty()) trained.push_back(each.part);
  }
  if (at(loss).requires_grad()) {
    const auto found = torch::autograd::grad({at(loss)}, trained, {}, {}, false,
                                             /*allow_unused=*/true);
    auto derivative = found.begin();
    for (const auto& each : leaves_) {
      if (each.block.gradient.empty()) continue;
      const auto& d = *derivative++;
      if (d.defined()) write(each, link_.to_host(d).to(at::kFloat).contiguous());
    }
  }
  gradients_.finish();
}

void torch_graph::write(const leaf& of, const at::Tensor& derivative) {
  const auto count = static_cast<std::size_t>(derivative.numel());
  const float* from = derivative.data_ptr<float>();
  const auto [to, is_first] = gradients_.part(of.block, of.first, count);
  if (is_first) {
    std::copy_n(from, count, to);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
  }
}

std::span<const float> torch_graph::values(variable x) {
  read_.push_back(link_.to_host(at(x).detach()).to(at::kFloat).contiguous());
  return {read_.back().data_ptr<float>(), static_cast<std::size_t>(read_.back().numel())};
}

double torch_graph::number(variable x) { return link_.to_host(at(x).detach()).item<double>(); }

}  // namespace troupe
