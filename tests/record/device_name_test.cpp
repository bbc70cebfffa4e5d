#include "record/device_name.h"

#include "record/host.h"
#include "support/catch.h"

using namespace headprune;

TEST_CASE("a GPU has its own name, not that of the processor beside it", "[record]") {
  CHECK(device_name("cpu", FAKE_DRIVER) == host_info().cpu);
  CHECK(device_name("cuda", FAKE_DRIVER) == "GPU of handle 40");
  CHECK(device_name("cuda:0", FAKE_DRIVER) == "GPU of handle 40");
  CHECK(device_name("cuda:1", FAKE_DRIVER) == "GPU of handle 41");
  CHECK(device_name("cuda:2", FAKE_DRIVER) == "unknown");
  CHECK(device_name("cuda", "no-such-library.so") == "unknown");
}
