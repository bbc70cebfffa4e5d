// Torch and Catch2 both define CHECK; whoever comes last wins silently. Only this header includes both.
#pragma once
#include "core/torch.h"
#undef CHECK
#undef CHECK_EQ
#undef CHECK_NE
#undef CHECK_LT
#undef CHECK_LE
#undef CHECK_GT
#undef CHECK_GE
#undef CHECK_NOTNULL
#include "support/catch.h"
