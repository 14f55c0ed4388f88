// Headers of other libraries that unit tests of the runtime side include.
#include "runtime_pch.h"

#include "gtest/gtest.h"
