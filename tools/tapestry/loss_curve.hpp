// The losses of a run: a CSV file, appended to during training, and a picture of it.
#pragma once

#include <optional>
#include <string>

#include "tapestry/io/csv.hpp"
#include "train_run.hpp"

namespace tapestry::command {

// What a curve tells of.
struct Learning {
  std::string name;        // of the files: train_NAME_loss
  std::string what;        // "characters of book.txt", for the title
  std::string test_is;     // "held out"
  double blindly = 0;      // the loss of guessing blindly
  double best = 0;         // the best possible; 0: unknown
  Index steps_before = 0;  // of an earlier part of the run, whose rows are kept
};

Learning learning_of(const Run& run);

class LossCurve {
 public:
  // In the folder: train_NAME_loss.csv and the picture. Throws Error for what cannot be written.
  LossCurve(const Learning& learning, const PictureOptions& options);

  // `loss` of the batch of a step, before the step; `held_out` after it, where it was measured.
  void add(Index step, std::optional<double> loss, std::optional<double> held_out);

  void draw() const;

  static Path csv_of(const Learning& learning, const PictureOptions& options);
  const Path& csv() const { return csv_; }
  const Path& picture() const { return picture_; }

 private:
  Learning learning_;
  Path csv_, picture_;
  CsvLog log_;
};

}  // namespace tapestry::command
