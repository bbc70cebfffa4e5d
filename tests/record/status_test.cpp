#include "record/status.h"

#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files.h"
#include "record/journal.h"
#include "record/run_folder.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;

TEST_CASE("status.json has the fields of docs/formats.md section 7", "[record]") {
  const TestFolder folder;
  CHECK_FALSE(read_status(folder.path()));
  StatusFile file(folder.path(), 2);
  file.set_stage("prune");
  file.set_points({12, 3, 1, 0});
  file.set_eta(4.5);
  CHECK(read_status(folder.path())->stage.empty());  // within the interval nothing is written
  file.set_state(RunState::failed, "no space");
  const Json json = parse_json(read_file(folder.path() / kStatusJson), "status.json");
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"schema_version", "state", "stage", "attempt", "pid", "pid_start", "host",
                                         "boot_id", "started", "heartbeat", "heartbeat_s", "points", "eta_s",
                                         "reason"});
  const Status status = read_status(folder.path()).value();
  CHECK(status.state == RunState::failed);
  CHECK(status.stage == "prune");
  CHECK(status.attempt == 2);
  CHECK(status.points == PointCounts{12, 3, 1, 0});
  CHECK(status.eta_s.value() == 4.5);
  CHECK(status.reason == "no space");
  CHECK(status.process.pid == getpid());
}

TEST_CASE("a running state is stale once its heart is silent and its process gone", "[record]") {
  Status status;
  status.state = RunState::running;
  status.heartbeat = "2026-01-02T03:04:05.000Z";
  status.process = this_process();
  const double beat = unix_seconds(status.heartbeat);
  CHECK(shown_state(status, beat + 1000) == "running");  // this process lives
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  status.process.pid = child;
  CHECK(shown_state(status, beat + 25) == "running");
  CHECK(shown_state(status, beat + 25.5) == "stale");
  status.process = this_process();
  status.process.pid_start += "0";  // the number was given to another process
  CHECK(shown_state(status, beat + 26) == "stale");
  status.process = this_process();
  status.process.host = "elsewhere";
  CHECK(shown_state(status, beat + 24) == "running");
  CHECK(shown_state(status, beat + 26) == "stale");
  status.state = RunState::completed;
  CHECK(shown_state(status, beat + 1e9) == "completed");
  CHECK_THROWS_AS(parse_run_state("stale"), Error);
}

TEST_CASE("the tool, the host and the process are known", "[record]") {
  const ToolInfo tool = tool_info();
  CHECK_FALSE(tool.version.empty());
  CHECK_FALSE(tool.git.empty());
  CHECK_FALSE(tool.compiler.empty());
  const HostInfo host = host_info();
  CHECK_FALSE(host.name.empty());
  CHECK_FALSE(host.cpu.empty());
  CHECK(host.cores >= 1);
  CHECK(host.memory_bytes > (uint64_t{64} << 20));
  const ProcessId process = this_process();
  CHECK(process.pid == getpid());
  CHECK(process.boot_id.size() == 36);
  CHECK(process_alive(process));
}
