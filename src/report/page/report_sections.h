// The parts of a report, each a list of blocks; empty where the run has nothing for it. Internal to report.
#pragma once

#include <string>
#include <vector>

#include "report/page/report.h"

namespace headprune {

/// What was asked, what came out, how sure it is: three lines in plain words.
std::vector<std::string> summary_lines(const ReportInput& input);
/// What a reader must not overlook: PARTIAL, failed points, shared splits, mixed fingerprints, no test possible.
std::vector<DocBlock> alert_blocks(const ReportInput& input);
std::vector<DocBlock> baseline_section(const ReportInput& input);
std::vector<DocBlock> curve_section(const ReportInput& input);
std::vector<DocBlock> contest_section(const ReportInput& input);
std::vector<DocBlock> mask_section(const ReportInput& input);
std::vector<DocBlock> score_section(const ReportInput& input);
std::vector<DocBlock> role_section(const ReportInput& input);
std::vector<DocBlock> sensitivity_section(const ReportInput& input);
std::vector<DocBlock> agreement_section(const ReportInput& input);
std::vector<DocBlock> surgery_section(const ReportInput& input);
std::vector<DocBlock> training_section(const ReportInput& input);
std::vector<DocBlock> data_section(const ReportInput& input);
std::vector<DocBlock> warning_section(const ReportInput& input);
std::vector<DocBlock> origin_section(const ReportInput& input);

}  // namespace headprune
