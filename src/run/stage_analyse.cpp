#include "core/random.h"
#include "run/plan.h"
#include "run/stages.h"

namespace headprune {

namespace {

std::vector<double> numbers(const torch::Tensor& values) {
  const torch::Tensor wide = values.contiguous();
  const double* const data = wide.const_data_ptr<double>();
  return {data, data + wide.numel()};
}

AnalysisBlock recorded_block(const AnalysisResult& result, const AnalysisKey& key, const Blocks& blocks, size_t b) {
  AnalysisBlock row{
      .seed = key.seed, .analysis = key.analysis, .block = blocks[b].id, .heads = blocks[b].heads, .columns = {}};
  for (const HeadColumn& column : result.columns) {
    if (!column.values[b].defined()) continue;
    AnalysisColumn one{.name = column.name, .values = numbers(column.values[b]), .stderrs = {}, .baseline = {}};
    if (column.stderr_[b].defined()) one.stderrs = numbers(column.stderr_[b]);
    one.baseline = column.baseline[b];
    one.n = column.n[b];
    one.examples = column.examples[b];
    one.difference = column.difference;
    row.columns.push_back(std::move(one));
  }
  return row;
}

void record_analysis(Workspace& workspace, const AnalysisKey& key, const AnalysisResult& result, const Blocks& blocks) {
  for (size_t b = 0; b < blocks.size(); ++b) workspace.journal.analysis(recorded_block(result, key, blocks, b));
  for (const HeadMatrix& matrix : result.matrices)
    for (const std::vector<double>& row : matrix.rows)
      workspace.journal.analysis_row({.seed = key.seed,
                                      .analysis = key.analysis,
                                      .matrix = matrix.name,
                                      .similarity = matrix.similarity,
                                      .cut = matrix.cut,
                                      .values = row});
  AnalysisDone done{.seed = key.seed,
                    .analysis = key.analysis,
                    .roles = {},
                    .strengths = result.strengths,
                    .tables = result.tables,
                    .notes = result.notes};
  for (const HeadRole& role : result.roles)
    done.roles.push_back({.head = {blocks[role.block].id, blocks[role.block].heads[static_cast<size_t>(role.position)]},
                          .role = role.role,
                          .detail = role.detail,
                          .column = role.column,
                          .evidence = role.evidence});
  done.examples = result.examples;
  done.forward = result.forward;
  done.dur_s = result.dur_s;
  workspace.journal.analysis_done(done);
}

}  // namespace

Passes analyse_stage(SeedRun& run) {
  Workspace& workspace = run.workspace;
  std::vector<std::shared_ptr<const Analysis>> missing;
  std::vector<AnalysisKey> keys;
  for (const NamedAnalysis& named : workspace.analyses) {
    if (workspace.journal.record().analysed({run.seed, named.label})) continue;
    missing.push_back(named.analysis);
    keys.push_back({run.seed, named.label});
  }
  if (missing.empty()) return {};
  size_t batches = 0;
  const auto batch_done = [&] {
    workspace.progress.say(fmt::format("[analyse] seed {}: batch {}", run.seed, ++batches));
    workspace.advance(Work::analysed_batch, 1);
  };
  const std::vector<AnalysisResult> results =
      analyse(missing, {.model = run.model(),
                        .dataset = workspace.dataset,
                        .split = analysed_split(workspace.experiment, workspace.dataset),
                        .batches = workspace.analysis_batches,
                        .seed = stream_seed(static_cast<uint64_t>(run.seed), "analyse"),
                        .on_batch = batch_done});
  for (size_t i = 0; i < keys.size(); ++i) record_analysis(workspace, keys[i], results[i], run.blocks);
  workspace.status.heartbeat();
  return {.forward = static_cast<int64_t>(batches), .backward = 0};
}

}  // namespace headprune
