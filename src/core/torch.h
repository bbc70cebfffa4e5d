// The one place that includes LibTorch, and the precompiled header of every target that uses it. Every header here is
// paid for again in each file, precompiled or not (its inline functions are instantiated anew): torch::nn's layers
// alone would add a third, so model/layers.h has its own.
#pragma once

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/module.h>
#include <torch/types.h>
