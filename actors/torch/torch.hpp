#pragma once
// Includes libtorch's tensors, operators and automatic differentiation. Only source files include
// it. Headers use at::Tensor and include <ATen/core/Tensor.h>, which is seven times cheaper to
// compile. <torch/torch.h>, which adds modules, optimisers and data loaders, would cost every
// source file three CPU seconds more; a file that needs such a part includes that part's own
// header. clang in C++20 mode needs ivalue.h before the others with libtorch 1.13.
#include <ATen/core/ivalue.h>
// clang-format off
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>
// clang-format on
