#pragma once
// Includes all of libtorch. Only source files include it. Headers use at::Tensor and include
// <ATen/core/Tensor.h>, which is seven times cheaper to compile. clang in C++20 mode needs ivalue.h
// before torch.h with libtorch 1.13.
#include <ATen/core/ivalue.h>
// clang-format off
#include <torch/torch.h>
// clang-format on
