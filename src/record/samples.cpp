#include "record/samples.h"

#include "core/files.h"
#include "core/hash.h"
#include "record/events.h"
#include "record/run_folder.h"

namespace headprune {

std::string write_samples(const std::filesystem::path& run_folder, const std::string& point,
                          const std::vector<Sample>& samples) {
  std::string text;
  for (const Sample& sample : samples) {
    Json json = {{"doc_id", sample.doc_id}, {"doc_hash", sample.doc_hash}};
    json["target"] = sample.target;
    json["pred"] = sample.pred;
    json["correct"] = sample.correct ? Json(*sample.correct) : Json();
    json["loss"] = sample.loss ? measurement_json(*sample.loss) : Json();
    json["logits"] = Json::array();
    for (double logit : sample.logits) json["logits"].push_back(measurement_json(logit));
    text += dump_json(json);
    text += '\n';
  }
  make_folder(run_folder / kSamples);
  write_file(run_folder / kSamples / (point + ".jsonl"), text);
  return sha256(text);
}

}  // namespace headprune
