#include "run/run.h"

#include <algorithm>

#include "config/dump.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/stop.h"
#include "core/text.h"
#include "report/views.h"
#include "run/check.h"
#include "run/expected_work.h"
#include "run/facts.h"
#include "run/fingerprint.h"
#include "run/plan.h"
#include "run/stages.h"

namespace headprune {

namespace {

Json input_list(const std::vector<InputFile>& inputs) {
  Json list = Json::array();
  for (const InputFile& input : inputs)
    list.push_back({{"role", input.role},
                    {"path", fs::absolute(input.path).string()},
                    {"bytes", fs::file_size(input.path)},
                    {"sha256", sha256_file(input.path)}});
  return list;
}

Json environment(const LoadRecord& loaded) {
  Json env = Json::object();
  for (const auto& [name, value] : loaded.environment) env[name] = value;
  for (const char* name : {"OMP_NUM_THREADS", "ATEN_CPU_CAPABILITY", "CI", "NO_COLOR", "SLURM_JOB_ID"})
    if (const char* value = std::getenv(name)) env[name] = value;
  return env;
}

/// A folder of this experiment: opened, and on the first attempt described by run.json and the two configurations.
struct Prepared {
  OpenedFolder folder;
  std::string run_sha256;
  std::string config_yaml;
};

Prepared prepare_folder(const Loaded<Experiment>& loaded, const RunOptions& options, RunContext context) {
  const Experiment& experiment = loaded.value;
  const std::string yaml = config_yaml(experiment, {.extras = &loaded.extras});
  Prepared prepared{open_run_folder({.dir = experiment.output.dir,
                                     .name = experiment.name,
                                     .out = options.out,
                                     .fresh = options.fresh,
                                     .experiment_id = context.experiment_id,
                                     .config_yaml = yaml,
                                     .inputs = context.inputs}),
                    "", yaml};
  const fs::path& folder = prepared.folder.path;
  log_to_file(folder / kLogText);
  if (prepared.folder.continued) {
    const RunContext stored = read_run_context(folder);
    const std::vector<std::string> changed = fingerprint_diff(stored.fingerprint, context.fingerprint);
    if (!changed.empty() && !options.accept_fingerprint)
      fail(ExitCode::incomparable,
           "{} was begun under other circumstances ({}): its numbers would not be comparable; use --new to start "
           "afresh, or --accept-fingerprint to continue and mark the results as mixed",
           folder.string(), join(changed, "; "));
    prepared.run_sha256 = sha256_file(folder / kRunJson);
    log_info("[run] continuing {}", folder.string());
  } else {
    if (!prepared.folder.other.empty())
      log_info("[run] {} holds another experiment ({}); this one goes to {}", prepared.folder.other.string(),
               join(prepared.folder.changed, "; "), folder.string());
    const std::string source = loaded.files.empty() ? "" : loaded.files.front().text;
    write_file(folder / kConfigSource, source);
    write_file(folder / kConfig, yaml);
    prepared.run_sha256 = write_run_context(folder, context);
    log_info("[run] results go to {}", folder.string());
  }
  return prepared;
}

/// The number of draws is no part of the experiment, whose values do not depend on it, but intervals and p do. Refuses
/// to mix them, or says how they are to be marked as mixed; nothing where they are not.
std::optional<Warning> check_draws(const Record& before, int64_t draws, const RunOptions& options) {
  if (!before.facts || before.points.empty() || before.facts->bootstrap_iters == draws) return std::nullopt;
  const std::string what =
      fmt::format("report.bootstrap_iters was {} and is now {}", before.facts->bootstrap_iters, draws);
  if (!options.accept_fingerprint)
    fail(ExitCode::incomparable,
         "{}: bootstrap intervals and p of what is recorded and of what is to come would not be comparable; set it "
         "back, "
         "use --new to start afresh, or --accept-fingerprint to continue and mark the results as mixed",
         what);
  return Warning{"mixed_draws", what + ": bootstrap intervals and p of one table may come from either"};
}

RunContext make_context(const Loaded<Experiment>& loaded, const RunOptions& options, torch::Device device,
                        const std::vector<InputFile>& inputs) {
  RunContext context;
  context.name = loaded.value.name;
  context.inputs = input_list(inputs);
  context.experiment_id = experiment_id(loaded.value, context.inputs);
  if (options.smoke) context.experiment_id = sha256("smoke " + context.experiment_id);
  context.created = utc_now();
  context.tool = tool_info().to_json();
  context.argv = options.argv;
  context.overrides = options.overrides;
  for (const ConfigFile& file : loaded.files)
    context.config_files.push_back({{"path", file.path.string()}, {"sha256", file.sha256}, {"text", file.text}});
  context.env = environment(loaded);
  context.host = host_info().to_json();
  context.fingerprint = fingerprint(loaded.value, device);
  const YamlStyle with_origins{.help = false, .defaults = true, .origins = &loaded.origins, .extras = &loaded.extras};
  context.config_origins = config_yaml(loaded.value, with_origins);
  return context;
}

void make_all_batches(Workspace& workspace) {
  const BatchPlan plan{.examples = workspace.experiment.score.batch_size};
  workspace.score_batches = make_batches(*workspace.dataset.score, plan, workspace.device, ChoiceUse::right);
  workspace.select_batches = make_batches(*workspace.dataset.select, plan, workspace.device);
  workspace.report_batches = make_batches(*workspace.dataset.report, plan, workspace.device);
  if (!workspace.analyses.empty())
    workspace.analysis_batches = make_batches(analysed_split(workspace.experiment, workspace.dataset), kAnalysisPlan,
                                              workspace.device, ChoiceUse::right);
  for (const Example& example : workspace.dataset.report->examples) {
    workspace.report_length = std::max(workspace.report_length, std::ssize(example.tokens));
    workspace.report_target_length = std::max(workspace.report_target_length, std::ssize(example.decoder_tokens));
  }
}

/// Says in the journal what this attempt was asked to do again.
void mark_again(const Workspace& workspace) {
  if (workspace.options.retry_failed) workspace.journal.retry_failed();
  if (!workspace.options.from) return;
  workspace.journal.start_from(*workspace.options.from);
  if (*workspace.options.from > Stage::model) return;
  for (const int64_t seed : workspace.experiment.seeds) fs::remove_all(workspace.folder / train_folder(seed));
}

/// What earlier attempts did that this one will not do again.
PointCounts points_so_far(const Workspace& workspace, int64_t total) {
  const Record& record = workspace.journal.record();
  PointCounts counts{.total = total};
  for (const auto& [id, point] : record.points) counts.done += record.settled(id) ? 1 : 0;
  for (const auto& [id, failure] : record.failed) counts.failed += record.settled(id) ? 1 : 0;
  return counts;
}

/// All stages of one seed, as far as --until lets them.
void run_seed(Workspace& workspace, int64_t seed) {
  SeedRun run{.workspace = workspace, .seed = seed};
  IntactScores scores;
  const auto until = workspace.options.until.value_or(Stage::results);
  const auto stage = [&](Stage which, auto work) {
    if (which > until) return;
    check_stop();
    run_stage(workspace, which, seed, work);
  };
  stage(Stage::model, [&] { return model_stage(run); });
  stage(Stage::evaluate, [&] { return evaluate_stage(run); });
  stage(Stage::score, [&] { return score_stage(run, scores); });
  stage(Stage::analyse, [&] { return analyse_stage(run); });
  stage(Stage::prune, [&] { return prune_stage(run, scores); });
  stage(Stage::sensitivity, [&] { return sensitivity_stage(run, scores); });
  stage(Stage::surgery, [&] { return surgery_stage(run); });
}

void run_stages(Workspace& workspace, Dataset dataset) {
  run_stage(workspace, Stage::data, std::nullopt, [&] {
    workspace.dataset = std::move(dataset);
    for (const std::string& line : data_lines(workspace.dataset)) log_info("[data] {}", line);
    for (const std::string& warning : workspace.dataset.warnings) workspace.journal.warn({"data", warning});
    for (const auto& [first, second] : workspace.dataset.shared_splits())
      workspace.journal.warn({"shared_splits", fmt::format("{} and {} use the same data: what is chosen on one is not "
                                                           "independent of what is measured on the other",
                                                           first, second)});
    for (const auto& [metric, reason] : workspace.task->unavailable())
      workspace.journal.warn({"metric", fmt::format("task.metrics: {} is left out: {}", metric, reason)});
    make_all_batches(workspace);
    expect_work(workspace, workspace.experiment.family()->blocks());
    return Passes();
  });
  for (const int64_t seed : workspace.experiment.seeds)
    if (workspace.options.until.value_or(Stage::results) > Stage::data) run_seed(workspace, seed);
}

void write_all_views(Workspace& workspace) {
  workspace.progress.say("[results] writing tables and views");
  const Record record = workspace.journal.finished_record();
  const ReportInput input = read_report_input(workspace.folder, record);
  if (workspace.tensorboard) workspace.tensorboard->finish(input);
  write_views(input, workspace.folder);
}

/// What stands in the journal, the status and the views when the stages ended by themselves.
ExitCode finish(Workspace& workspace, double seconds) {
  const RunOptions& options = workspace.options;
  if (options.until && *options.until < Stage::results) {
    workspace.status.set_state(RunState::interrupted, fmt::format("--until {}", to_string(*options.until)));
    write_all_views(workspace);
    return ExitCode::ok;
  }
  const bool all_done = workspace.points.failed == 0;
  workspace.journal.run_done({all_done ? "completed" : "partial", workspace.points, seconds});
  run_stage(workspace, Stage::results, std::nullopt, [&] {
    write_all_views(workspace);
    return Passes();
  });
  workspace.status.set_state(all_done ? RunState::completed : RunState::partial);
  return all_done ? ExitCode::ok : ExitCode::points_failed;
}

/// After a signal or an error: say so where a later look finds it. A full disk may refuse even that.
void leave_word(Workspace& workspace, const Error& error) {
  try {
    const auto* interrupted = dynamic_cast<const Interrupted*>(&error);
    const std::string stage = workspace.status.status().stage;
    if (interrupted)
      workspace.journal.interrupted({std::string("SIG") + signal_name(interrupted->signal()), stage});
    else
      workspace.journal.run_done({"failed", workspace.points, 0});
    workspace.status.set_state(interrupted ? RunState::interrupted : RunState::failed, error.what());
    write_all_views(workspace);
  } catch (const std::exception& second) {  // a full disk, or no memory left for that either
    log_warn("[run] could not record why the run ended: {}", second.what());
  }
}

}  // namespace

RunOutcome run_experiment(const Loaded<Experiment>& loaded, const RunOptions& options) {
  const double start = monotonic_seconds();
  const Experiment& experiment = loaded.value;
  install_signal_handlers(experiment.runtime.signals);
  auto [device, inputs, dataset, plan] =
      check_experiment(experiment, options.out.empty() ? experiment.output.dir : options.out);
  RunContext context = make_context(loaded, options, device, inputs);

  const Prepared prepared = prepare_folder(loaded, options, context);
  const fs::path& folder = prepared.folder.path;
  remove_temporaries(folder);
  Journal journal(folder);
  const std::optional<Warning> mixed_draws = check_draws(journal.record(), experiment.report.bootstrap_iters, options);
  journal.run_start(context.experiment_id, prepared.run_sha256);
  journal.env(context.fingerprint);
  journal.config(sha256_file(folder / kConfig));
  RunFacts facts = run_facts(experiment, dataset);
  facts.model_sha256 = loaded_model_sha256(context.inputs);
  journal.facts(facts);
  if (mixed_draws) journal.warn(*mixed_draws);
  StatusFile status(folder, journal.attempt());
  TrainLog train_log(folder, journal.attempt());
  std::optional<LiveTensorBoard> tensorboard;
  const std::vector<ReportFormat>& formats = experiment.report.formats;
  if (std::find(formats.begin(), formats.end(), ReportFormat::tensorboard) != formats.end())
    tensorboard.emplace(folder, experiment.seeds.size() > 1, journal.attempt());

  RunProgress progress;
  Workspace workspace{.experiment = experiment,
                      .options = options,
                      .experiment_id = context.experiment_id,
                      .folder = folder,
                      .config_yaml = prepared.config_yaml,
                      .journal = journal,
                      .status = status,
                      .train_log = train_log,
                      .tensorboard = tensorboard,
                      .progress = progress};
  workspace.task = prepared_task(experiment, dataset);
  for (const auto& item : experiment.score.methods) workspace.methods.push_back({item.label, item.make()});
  for (const auto& item : experiment.analyses.methods) workspace.analyses.push_back({item.label, item.make()});
  workspace.device = device;
  mark_again(workspace);
  workspace.points = points_so_far(workspace, plan.points);
  status.set_points(workspace.points);
  for (const std::string& message : plan.messages) log_info("[plan] {}", message);
  MemoryReserve reserve;
  try {
    run_stages(workspace, std::move(dataset));
    return {finish(workspace, monotonic_seconds() - start), folder};
  } catch (const Error& error) {
    leave_word(workspace, error);
    throw;
  } catch (const std::exception& error) {  // LibTorch's, the allocator's
    reserve.give_up();
    if (const std::optional<Error> problem = system_problem(error)) {
      // 2 would mean that nothing was started.
      const Error failure(problem->code() == ExitCode::usage ? ExitCode::io : problem->code(), problem->what());
      leave_word(workspace, failure);
      throw failure;
    }
    if (is_out_of_memory(error)) {
      const Error failure(ExitCode::run_failed,
                          out_of_memory_text(experiment, workspace.dataset, workspace.status.status().stage));
      leave_word(workspace, failure);
      throw failure;
    }
    leave_word(workspace, Error(ExitCode::unexpected, error.what()));
    throw;
  }
}

}  // namespace headprune
