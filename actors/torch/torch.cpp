#include "actors/torch/torch.hpp"
