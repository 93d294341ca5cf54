// A model that is being trained.
#pragma once

#include "train_run.hpp"

namespace tapestry::engine {

struct Learner {
  explicit Learner(const command::TrainOptions& options)
      : run(command::make_run(options)), test(run), tested(test()) {}
  Learner(const Learner&) = delete;  // the test refers to the run
  Learner& operator=(const Learner&) = delete;

  command::Run run;
  command::Test test;
  command::Test::Result tested;  // the last one
};

}  // namespace tapestry::engine
