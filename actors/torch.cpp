#include "actors/torch.hpp"
