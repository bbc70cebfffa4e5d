// The figures of a report, drawn from the record (docs/formats.md section 9: plots/).
#pragma once

#include <string>
#include <vector>

#include "record/journal.h"
#include "record/train_log.h"
#include "report/draw/svg.h"
#include "report/numbers/agreement_rows.h"

namespace headprune {

struct Figure {
  std::string file;         // "curve-accuracy.svg"
  std::vector<Svg> panels;  // a file stacks them; a page may set them side by side
  std::string alt;          // what it shows, for those who cannot see it
  std::string caption;

  /// The panels one above the other, as a document.
  std::string document() const;
};

/// One a metric: the metric over the part of heads removed, a panel a sweep, one line a method, the random control as a
/// band.
std::vector<Figure> curve_figures(const Record& record);
/// The headline metric of the same sweep at several training steps, one line a step; a panel of values and one of
/// shares of what each step's model is worth unpruned. None without a sweep that has at_step.
std::vector<Figure> step_figures(const Record& record);
/// The headline metric of all sweeps in one picture, with masks that were learnt or listed, and over the passes that it
/// took to choose the heads; none with fewer than two sweeps of one kind.
std::vector<Figure> contest_figures(const Record& record);
/// The headline metric over parameters, attention FLOPs and key/value cache, with the points that no smaller one is as
/// good as; none without models that were made smaller in another way than by removing heads.
std::vector<Figure> tradeoff_figures(const Record& record);
/// One a metric: leave_one_out as layers x heads.
std::vector<Figure> sensitivity_figures(const Record& record);
/// One for layer_curve and one for kind_curve: the headline metric over the part of a block or kind removed, one line a
/// block or kind, a panel a method and (layer_curve) kind.
std::vector<Figure> table_curve_figures(const Record& record);
/// One a score method that is no control: layers x heads, mean over seeds.
std::vector<Figure> score_figures(const Record& record);
/// One an analysis: each of its columns as layers x heads, of the first model that was analysed.
std::vector<Figure> analysis_figures(const Record& record);
/// Two for each analysis that measures pairs of heads: the tree of their clusters, and their distances in its order; of
/// the first model that was analysed.
std::vector<Figure> cluster_figures(const Record& record);
/// Heads with and without a role that the points of a sweep keep, one panel a method that is no control.
std::vector<Figure> role_figures(const Record& record);
/// Spearman's rho between methods, mean over seeds; none with fewer than two methods.
std::vector<Figure> agreement_figures(const std::vector<AgreementRow>& rows);
/// Median time of a forward pass by form and batch size.
std::vector<Figure> timing_figures(const Record& record);
/// Training loss over steps; open gates over steps, where gates are learnt.
std::vector<Figure> training_figures(const std::vector<TrainRow>& rows);

}  // namespace headprune
