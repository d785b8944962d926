#include "run_reporter.hpp"

#include <utility>

namespace tbench::bench {

void RunReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const auto found = finished_.find(run.run_name.function_name);
    if (found == finished_.end()) continue;  // interrupted before it was done
    for (Record& record : found->second) {
      // On the disk before it is on the console: what a user has seen is never lost.
      if (writer_ != nullptr) writer_->add(record);
      progress_.clear();
      if (console_ != nullptr) console_->row(record);
      records_.push_back(std::move(record));
    }
    finished_.erase(found);
  }
}

}  // namespace tbench::bench
