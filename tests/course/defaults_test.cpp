// What a lesson gets that names no setting: what the comments, the lessons' texts and their numbers
// go by.
#include "catch.hpp"
#include "course/apart.hpp"
#include "course/brackets.hpp"
#include "course/dialects.hpp"
#include "course/entropy_runs.hpp"
#include "course/grammar.hpp"
#include "course/head_counts.hpp"
#include "course/inside.hpp"
#include "course/judgement.hpp"
#include "course/laboratory.hpp"
#include "course/left_out.hpp"
#include "course/low_rank_change.hpp"
#include "course/lstm_translator.hpp"
#include "course/one_text.hpp"
#include "course/sentence_forms.hpp"
#include "course/tasks.hpp"
#include "course/translation.hpp"

using namespace tapestry;

TEST_CASE("tasks have the sizes that the lessons tell when none are named", "[course][defaults]") {
  const BracketSize brackets;
  CHECK(std::vector{brackets.kinds, brackets.fewest, brackets.most, brackets.depth} ==
        std::vector<Index>{3, 4, 8, 4});
  const TaskSize letters;
  CHECK(std::vector{letters.letters, letters.shortest, letters.longest} ==
        std::vector<Index>{16, 4, 8});
  CHECK(std::vector{few_letters.letters, few_letters.shortest, few_letters.longest} ==
        std::vector<Index>{4, 5, 9});
  const TranslationSize phrases;
  CHECK(std::vector{phrases.fewest, phrases.most} == std::vector<Index>{2, 5});
  CHECK(sentence_forms == static_cast<Index>(SentenceForm::verb_first) + 1);
}

TEST_CASE("training runs have the settings that the lessons tell when none are named",
          "[course][defaults]") {
  const SortingRecipe sorting;
  CHECK(std::vector{sorting.layers, sorting.steps, sorting.warmup_steps, sorting.batches} ==
        std::vector<Index>{4, 200, 20, 0});
  CHECK(sorting.learning_rate == 1e-2);
  CHECK(sorting.falls);
  CHECK(sorting.dropout == 0);
  const Parts all;
  CHECK((all.attention && all.divided && all.feed_forward && all.activation));
  CHECK((all.residual && all.norm && all.positions && !all.post_norm));
  const DialectRun dialect;
  CHECK(!dialect.both);
  CHECK(std::vector{dialect.rank, dialect.steps, dialect.every} == std::vector<Index>{0, 400, 25});
  CHECK(dialect.rate == 3e-3);
  CHECK(dialect.seed == 1);
  CHECK((!dialect.maps_only && !dialect.rest));
  const LstmTranslatorOptions lstm;
  CHECK(lstm.visibility == Visibility::all_states);
  CHECK(lstm.hidden == 48);
  CHECK((!lstm.is_additive && !lstm.both_directions && !lstm.words_only));
  CHECK(entropy_every == 5);
}

TEST_CASE("the laboratory has the sizes that its help tells when none are named",
          "[course][defaults]") {
  const LaboratorySizes sizes;
  CHECK(std::vector{sizes.batch, sizes.num_heads, sizes.length, sizes.width, sizes.window,
                    sizes.stride, sizes.block, sizes.global,
                    sizes.chunk} == std::vector<Index>{1, 4, 256, 32, 32, 32, 64, 4, 64});
  CHECK(!sizes.is_causal);
  const LaboratoryOptions options;
  CHECK(options.seconds == 5);
  CHECK(options.repeats == 5);
  CHECK(options.least_time == 0.002);
  CHECK(options.compared_pairs == 1 << 24);
  const Timing none;
  CHECK(std::vector{none.seconds, none.bytes, none.error} == std::vector<double>{0, 0, 0});
}

TEST_CASE("results that nothing was written into say so", "[course][defaults]") {
  const DialectPoint point;
  CHECK(point.step == 0);
  CHECK(std::vector{point.loss_of_new, point.loss_of_old} == std::vector<double>{0, 0});
  const LayerCrossing crossing;
  CHECK(crossing.step == 0);
  CHECK(crossing.heads == 0);
  const StepsToLearn learning{.milliseconds = 1};
  CHECK(learning.steps == 0);
  CHECK(!learning.done);
  const Judgement judgement;
  CHECK(judgement.verdict == Judgement::right);
  CHECK(judgement.mistake == 0);
  CHECK(!judgement.is_always_the_same);
  CHECK(judgement.run.signal == 0);
}

TEST_CASE("functions take the value that their comments tell when none is given",
          "[course][defaults]") {
  CHECK(Grammar().entropy() == Grammar().entropy(6));
  CHECK(Grammar().entropy(5) < Grammar().entropy(6));
  const TinyTask task(TaskKind::copy);
  const auto example = [&](auto... seed) { return example_of(task, 6, 6, seed...).words; };
  CHECK(example() == example(std::uint64_t{6}));
  CHECK(example() != example(std::uint64_t{5}));
  CHECK(example() != example(std::uint64_t{7}));
  Random random(1);
  TransformerOptions options;
  options.vocab_size = 5;
  options.max_length = 3;
  options.d_model = 8;
  const Transformer model(options, random);
  const double share = share_of_random(model, 2);
  CHECK(share == share_of_random(model, 2, 5));
  CHECK(share != share_of_random(model, 2, 4));
  CHECK(share != share_of_random(model, 2, 6));
  CHECK(all_heads == std::vector<Index>{0, 1, 2, 3});
}
