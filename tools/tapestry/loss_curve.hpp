// The losses of a run: a CSV file, appended to during training, and a picture of it.
#pragma once

#include <optional>

#include "tapestry/io/csv.hpp"
#include "train_run.hpp"

namespace tapestry::command {

class LossCurve {
 public:
  // In the folder: train_NAME_loss.csv and the picture, where NAME is that of the checkpoint. The
  // rows of an earlier part of the run are kept. Throws Error for what cannot be written.
  LossCurve(const Run& run, const PictureOptions& options);

  // `loss` of the batch of a step, before the step; `held_out` after it, where it was measured.
  void add(Index step, std::optional<double> loss, std::optional<double> held_out);

  void draw(const Run& run) const;

  static Path csv_of(const Run& run, const PictureOptions& options);
  const Path& csv() const { return csv_; }
  const Path& picture() const { return picture_; }

 private:
  Path csv_, picture_;
  CsvLog log_;
};

}  // namespace tapestry::command
