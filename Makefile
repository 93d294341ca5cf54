# Tapestry's build. `make help` lists what it does; `make V=1` shows the commands; CXX=clang++,
# CXXFLAGS=-g, WERROR=1, PREFIX=~/.local and the like work as usual; SETUP=ask asks before anything
# is installed, SETUP=never installs nothing; MPI=1 links Open MPI, for ranks that are processes.
# Needs GNU make 4.3 or newer.
# Each mode (release, f64, clang, asan, tsan, neon, fuzz, mutants, engine) builds in a folder of its
# own, build/<mode>/.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:
.SUFFIXES:
# $(live) shows output as it comes, as + does; but + would run the line even with make -n, -q and
# -t.
letters := $(firstword -$(MAKEFLAGS))
dry := $(findstring n,$(letters))$(findstring q,$(letters))$(findstring t,$(letters))
live := $(if $(dry),,+)
MAKEFLAGS += --no-builtin-rules --no-print-directory --output-sync=target
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)  # all cores, unless told otherwise
MAKEFLAGS += -j$(shell nproc)
endif

MODE := release
PREFIX ?= /usr/local
LIBDIR ?= lib
FONTS ?= /usr/share/fonts/truetype/dejavu
CLANG_FORMAT ?= clang-format-19
VERSION := $(shell awk '/define TAPESTRY_VERSION_/ { text = text dot $$3; dot = "." } \
  END { print text }' include/tapestry/version.hpp)
build := build/$(MODE)

# ---- Flags. No -march=native: the library runs on any CPU. No -ffast-math: it breaks NaN and -inf.
# Kernels, the compression of pictures, lessons that time loops of their own, and the learner's
# capstone get -O3 as well. All else takes a quarter of the time of all lessons, and is built faster
# so. Lessons and tests get -Og, which compiles faster still; lessons run as long. (With the library
# compiled so, tokenizing took 1.6 times as long.)
mode_release := -O1
mode_f64 := -O1 -DTAPESTRY_F64
mode_asan := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all \
  -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
mode_clang := -O1
mode_tsan := -O1 -g1 -fsanitize=thread
mode_fuzz := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
  -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
mode_neon := -O3 -static -isystem build/neon/include
# The explorer's engine: WebAssembly with the kernels of SSE2, one thread, without plot/.
mode_engine := -O3 -fwasm-exceptions -msimd128 -msse2 -DEIGEN_DONT_VECTORIZE \
  -isystem build/engine/include -include tools/explorer/engine/portability.hpp
mode_mutants := -O1  # of the sources that tools/mutants has written
src := $(if $(filter mutants,$(MODE)),build/mutants/src,src)
warnings := $(if $(filter mutants,$(MODE)),-w,-Wall -Wextra -Wpedantic -Wshadow)
ifndef mode_$(MODE)
$(error MODE=$(MODE) is unknown: there are release, f64, clang, asan, tsan, neon, fuzz, mutants, \
  engine)
endif
flags = -std=c++20 $(mode_$(MODE)) $(fast) -ffp-contract=off $(if $(filter engine,$(MODE)),,-pthread) $(warnings) \
  -Iinclude $(include_paths) $(false_alarms) $(CPPFLAGS) $(CXXFLAGS)
fast_objects := $(build)/capstone/%.o $(addprefix $(build)/obj/,$(src)/kernels/% $(src)/plot/png.o \
  $(patsubst %.cpp,%.o,$(shell grep -l 'course/timing.hpp' -r tutorials --include='*.cpp' \
  --exclude=check.cpp)))
$(build)/obj/tutorials/% $(build)/learn/%.o $(build)/lesson.hpp.gch: private mode_release := -Og
$(fast_objects): private fast = $(if $(filter release clang,$(MODE)),-O3)
# Private headers are for the library, its tests and some tools; lessons, tutorials/course and the
# command use only installed headers.
include_paths = -I$(src)
$(build)/obj/tests/% $(build)/obj/tools/%: private include_paths = -I$(src) -Itutorials
$(build)/obj/tutorials/% $(build)/obj/tools/tapestry/%: private include_paths = -Itutorials
$(build)/obj/tools/explorer/%: private include_paths = -Itutorials -Itools/tapestry
$(build)/obj/tests/tools/%: private include_paths = -I$(src) -Itutorials -Itools/tapestry \
  -Itools/explorer/engine -I$(build)/explorer
# Evaluated when needed, not now: on a bare machine make installs the compiler first. The result is
# kept, since every file needs it.
asked = answer$(subst =,,$(1))
ask = $(if $($(asked)),,$(eval $(asked) := $$(shell $(CXX) $(1) 2>/dev/null)))$($(asked))
# What g++ 12 warns about wrongly: strings (its bug 105329), AVX-512 headers (its bug 105593), and
# much else under a sanitizer.
g++ = $(if $(findstring clang,$(call ask,--version)),,$(1))
false_alarms = $(call g++,-Wno-restrict $(if $(findstring san,$(MODE)),-Wno-maybe-uninitialized))
on_x86 = $(findstring x86_64,$(call ask,-dumpmachine))
avx2 = $(if $(on_x86),-mavx2 -mfma)
avx512 = $(if $(on_x86),-mavx2 -mfma -mavx512f -mavx512cd -mavx512dq -mavx512bw -mavx512vl \
  -mprefer-vector-width=512 $(call g++,-Wno-uninitialized -Wno-maybe-uninitialized))
# What the library needs. There is none of it for AArch64, whose tests draw and measure no text.
needed = $(if $(filter neon engine,$(MODE)),,-lgif -lutf8proc -lz)
catch2 = $(if $(findstring /,$(call ask,-print-file-name=libCatch2.a)),-lCatch2)

# ---- Files
find = $(shell find $(1) -name '$(2)' 2>/dev/null | sort)
objects = $(if $(reused),$(foreach name,$(basename $(1)),$(or $(filter \
  build/release/obj/$(name).o,$(reused)),$(build)/obj/$(name).o)),$(patsubst \
  %,$(build)/obj/%.o,$(basename $(1))))
# What tools/mutants takes from the release build.
reused := $(if $(filter mutants,$(MODE)),$(file <build/mutants/reused))
library := $(build)/libtapestry.a
library_objects := $(call objects,$(filter-out %/distributed/mpi_ranks.cpp,$(call \
  find,$(src),*.cpp)) $(wildcard $(src)/plot/font.S))
# What replaces without_mpi.o of the library where it is linked before it: MPI=1, and test-mpi.
mpi_objects := $(call objects,src/distributed/mpi_ranks.cpp)
mpi_flags = $(patsubst -I%,-isystem %,$(shell mpicxx --showme:compile 2>/dev/null))
mpi_libraries = $(shell mpicxx --showme:link 2>/dev/null)
# Shared by lessons and the command, outside the library. Mutants of it are built into the library.
course := $(build)/libcourse.a
course_objects := $(if $(filter mutants,$(MODE)),,$(call objects,$(wildcard tutorials/course/*.cpp)))
# The lower layers, which the first steps need, so that they run while the rest is compiled.
lower_layers := $(build)/liblower_layers.a
lower_objects := $(filter $(addprefix $(build)/obj/$(src)/,base/% kernels/% tensor/% tape/% ops/% \
  attention/mask% plot/% pictures/%),$(library_objects))
# ROOMS takes those of some folders only, with what others share of them.
rooms := $(if $(filter neon,$(MODE)),kernels ops,$(ROOMS))
$(foreach room,$(rooms),$(if $(wildcard tests/$(room)/*_test.cpp),,\
  $(error ROOMS: there are no tests in tests/$(room))))
test_folders := $(if $(rooms),$(addprefix tests/,$(rooms)),tests)
test_objects := $(call objects,tests/main.cpp $(call find,$(test_folders),*_test.cpp) \
  $(if $(filter neon,$(MODE)),,$(filter-out %_test.cpp,$(wildcard tests/plot/*.cpp))))
gradient_objects := $(call objects,tests/main.cpp $(call find,$(addprefix tests/,tensor tape ops \
  attention nn training distributed),*_test.cpp) $(wildcard tests/*_test.cpp \
  $(addprefix tests/models/,gpt_test.cpp llama_test.cpp bert_test.cpp stablelm_test.cpp)))
tutorial_sources := $(shell tools/run_tutorials --order)
tutorials := $(addprefix $(build)/tutorials/,$(basename $(notdir $(tutorial_sources))))
experiment_sources := $(wildcard tutorials/phase*/experiments/*.cpp)
experiments := $(addprefix $(build)/experiments/,$(basename $(notdir $(experiment_sources))))
first_tutorials := $(wordlist 1,2,$(tutorials))
# Exercises: a folder each; the learner's copies of their tasks stand in out/learn/.
exercise_folders := $(patsubst %/check.cpp,%,$(wildcard tutorials/phase*/exercises/*/check.cpp))
exercises := $(addprefix $(build)/exercises/,$(notdir $(exercise_folders)))
exercise_sources := $(foreach file,task solution check,$(exercise_folders:%=%/$(file).cpp))
tool_sources := $(wildcard tools/*.cpp)
tools := $(addprefix $(build)/,$(basename $(tool_sources))) $(build)/tools/tapestry \
  $(build)/tools/mutants
tapestry_objects := $(call objects,$(wildcard tools/tapestry/*.cpp) tools/tapestry/page.S)
mutants_objects := $(call objects,$(wildcard tools/mutants/*.cpp) src/training/progress.cpp \
  src/base/format.cpp src/base/unicode.cpp)
# The explorer's engine is the library without pictures, and the part of the command that it asks.
engine_parts := $(addprefix tools/tapestry/,changes detectors hand_model material measures model model_file \
  recorded_run recording screen slow_progress snapshots subject token_text train_run train_settings writer)
engine_objects := $(call objects,$(filter-out src/plot/% src/pictures/% src/kernels/avx% \
  src/kernels/neon% $(addprefix src/distributed/,banner% board% mpi% process% start%),\
  $(call find,src,*.cpp)) $(wildcard tools/explorer/engine/*.cpp) \
  $(addsuffix .cpp,$(engine_parts) $(addprefix tutorials/course/,brackets grammar tape_programs tasks)))
bench_objects := $(call objects,$(wildcard tools/bench/*.cpp))
fuzz_targets := $(patsubst tests/fuzz/%.cpp,$(build)/targets/%,$(wildcard tests/fuzz/*.cpp))
formatted = $(foreach end,cpp hpp,$(call find,include src tests tools tutorials,*.$(end)))

## all            the library, the tutorials and the tools (what plain `make` does)
all: $(library) $(tutorials) $(tools)
everything: all $(build)/tests $(exercises) ; @:
programs: $(tutorials) ; @:

# ---- Rules. Missing packages are installed, or named, before the first file is compiled.
setup = CXX='$(CXX)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' FONTS='$(FONTS)' \
  CLANG_FORMAT='$(CLANG_FORMAT)' tools/setup
build/setup/%: tools/setup
	$(live)@$(setup) $*
	@mkdir -p $(@D) && touch $@

# These files are written only if their content changes; then their dependents are rebuilt. (GNU
# make 4.3 may leave the last newline of a file, which strip takes.)
same = $(and $(findstring |$(1)|,|$(2)|),$(findstring |$(2)|,|$(1)|))
force_if_changed = $(if $(call same,$(strip $(1)),$(if $(wildcard $@),$(strip $(file <$@)))),,FORCE)
write_text = @mkdir -p $(@D) && echo '$(strip $(1))' >$@
flags_text = $(call ask,--version) $(call ask,-dumpmachine) $(flags) $(avx2) $(avx512) $(FONTS)
$(build)/flags: $$(call force_if_changed,$$(flags_text)) | build/setup/build
	$(live)@$(setup) build
	$(call write_text,$(flags_text))
$(build)/library.files: $$(call force_if_changed,$(library_objects)) | build/setup/build
	$(call write_text,$(library_objects))
# On whether MPI is linked the command depends, and nothing that is compiled.
$(build)/mpi.asked: $$(call force_if_changed,MPI=$$(MPI)) | build/setup/build
	$(call write_text,MPI=$(MPI))
$(build)/tests.files: $$(call force_if_changed,$(test_objects)) | build/setup/build
	$(call write_text,$(test_objects))

# On a terminal each compiled file is counted, with the time left: `made` of the `left` that this
# make began with. FILES_IN_ALL also counts those of makes before it.
self := $(MAKE)
made :=
begun :=
begin = $(eval begun := $(shell date +%s)) \
  $(eval left := $(shell MAKEFLAGS='n -- $(MAKEOVERRIDES)' $(self) $(MAKECMDGOALS) 2>&1 | \
  sort -u | grep -c "^echo '  c++")) \
  $(if $(FILES_IN_ALL),,$(eval export FILES_IN_ALL := $(left)))
count = $(if $(begun),,$(begin))$(eval made += x)$(words $(made)) $(left) $(FILES_IN_ALL) $(begun)
counted = $(if $(MAKE_TERMOUT),$(if $(dry),,[$$(tools/count $(count))] ))
# Warnings are kept in a .log beside each object, so that `make check` also sees those of before.
quiet := $(if $(V),,@)
mark := $(if $(filter-out release,$(MODE)), [$(MODE)])
define compile
@echo '  c++  '"$(counted)"'$<$(mark)'
@mkdir -p $(@D)
$(quiet)code=0; $(CXX) $(flags) $(if $(WERROR),-Werror) $(extra) -MMD -MP -MF $(basename $@).d \
  -MT $@ $(1) -o $@ $< 2>$(basename $@).log || code=$$?; cat $(basename $@).log >&2; exit $$code
endef
# Constants that a mutant changes are set when a program starts: before those of the tests.
first_mutants = -Wl,--whole-archive $(filter %.a,$^) -Wl,--no-whole-archive
# Headers that many sources include are compiled once: the standard ones; for lessons, and what they
# share, all of Tapestry. `make clang` does without: it sees where a source does not include what it
# uses. What has other flags does without, too, and tests and exercises see below.
precompiles := $(filter release f64 asan tsan mutants,$(MODE))
standard := $(if $(precompiles),$(build)/standard.hpp)
lesson := $(if $(precompiles),$(build)/lesson.hpp)
included = $(standard)
$(build)/obj/tutorials/%: private included = $(lesson)
$(fast_objects) $(build)/obj/tests/%: private included =
$(build)/standard.hpp: src/base/standard.hpp
	@mkdir -p $(@D) && grep -v '#pragma once' $< >$@
$(build)/lesson.hpp: | build/setup/build
	@mkdir -p $(@D) && printf '#include "%s"\n' course/exercise.hpp tapestry/tapestry.hpp >$@
$(build)/lesson.hpp.gch: private include_paths = -Itutorials
$(build)/%.hpp.gch: $(build)/%.hpp $(build)/flags Makefile
	$(call compile,-x c++-header)
define link
@echo '  link $@'
@mkdir -p $(@D)
$(quiet)$(CXX) $(flags) $(LDFLAGS) -o $@ $(first_$(MODE)) $(filter %.o,$^) \
  $(filter %.a,$^) $(needed) $(1) $(LDLIBS)
endef
$(build)/obj/%.o: %.cpp $(build)/flags Makefile $(standard:%=%.gch)
	$(call compile,-c $(included:%=-include %))
$(build)/obj/%.o: %.S $(build)/flags Makefile
	$(call compile,-c -DFONT_SANS='"$(FONTS)/DejaVuSans.ttf"' \
	  -DFONT_BOLD='"$(FONTS)/DejaVuSans-Bold.ttf"' -DEXPLORER_PAGE='"$(explorer_page)"' \
	  -DLIVE_PAGE='"$(live_page)"')
$(library): $(library_objects)
$(lower_layers): $(lower_objects)
$(library) $(lower_layers): $(build)/library.files
	@echo '  lib  $@'
	$(quiet)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
$(course): $(course_objects)
	@echo '  lib  $@'
	$(quiet)rm -f $@ && $(AR) rcs $@ $^
of_kernels = $(build)/obj/$(src)/kernels/$(1).o $(build)/lines/src/kernels/$(1)
$(call of_kernels,avx2): private extra = $(avx2)
$(call of_kernels,avx512): private extra = $(avx512)

# Tests share one precompiled Catch2, and are optimised little, under a sanitizer not at all:
# building them takes longer than running them. main.cpp holds the rest of Catch2 2 and does
# without. They drop what they call only to see it refused.
$(build)/catch2.hpp: tests/catch.hpp | build/setup/build
	@mkdir -p $(@D) && printf '#include "%s"\n' catch.hpp base/standard.hpp >$@
$(build)/catch2.hpp.gch: private extra = $(tests_optimised) -Itests
# What the tests themselves do is watched by the address sanitizer only: a third less to
# compile.
tests_optimised := $(if $(findstring san,$(MODE)),-O0 -fno-sanitize=undefined,-Og)
$(build)/obj/tests/main.o: private extra = -O0 -fno-sanitize=all -Itests
$(build)/obj/tests/%.o: private extra = $(tests_optimised) -Wno-unused-result -Itests \
  -include $(build)/catch2.hpp
$(filter-out %/main.o,$(filter $(build)/%,$(test_objects))): $(build)/catch2.hpp.gch
# With the explorer's engine but its program, and the parts of the command that it asks.
tested_engine := $(if $(filter neon,$(MODE)),,$(filter-out %/main.o %/utf8proc.o,$(call objects,\
  $(wildcard tools/explorer/engine/*.cpp))) $(build)/libcommand.a)
$(build)/tests: $(test_objects) $(tested_engine) $(course) $(library) $(build)/tests.files
	$(call link,$(catch2))
# Those that `make test` also runs in double. They draw nothing.
$(build)/gradient_tests: $(gradient_objects) $(filter-out $(build)/obj/$(src)/plot/% \
  $(build)/obj/$(src)/pictures/%,$(library_objects)) $(build)/tests.files
	$(call link,$(catch2))

# The pages of `tapestry explore`, put together from tools/explorer/ and embedded in the command:
# one that shows a recording, and with the engine, where it was built, one that computes.
explorer_page := $(build)/explorer/page.html
live_page := $(build)/explorer/live.html
engine := $(wildcard build/engine/engine.js build/engine/engine.wasm)
$(explorer_page): $(wildcard tools/explorer/*)
	@mkdir -p $(@D)
	$(quiet)tools/explorer/assemble $@
$(live_page): $(wildcard tools/explorer/* tools/explorer/engine/worker.js) $(engine)
	@mkdir -p $(@D)
	$(quiet)$(if $(engine),tools/explorer/assemble $@ build/engine,: >$@)
$(build)/obj/tools/tapestry/page.o: $(explorer_page) $(live_page)

# The engine's tables of characters, for the test that compares them with utf8proc.
$(build)/explorer/unicode_tables.inc: tools/unicode_tables.cpp | $(build)/tools/unicode_tables
	@mkdir -p $(@D)
	$(quiet)$(build)/tools/unicode_tables $@
$(build)/obj/tests/tools/engine_unicode_test.o: $(build)/explorer/unicode_tables.inc

# The engine: a script and its code, which `make explorer` builds.
$(build)/engine.js: $(engine_objects)
	@echo '  link $@'
	@mkdir -p $(@D)
	$(quiet)NODE_PATH=$${NODE_PATH:-/usr/share/nodejs} $(CXX) $(flags) -o $@ $(filter %.o,$^) \
	  $(engine_link)
engine_link := -s MODULARIZE=1 -s EXPORT_NAME=makeEngine -s ENVIRONMENT=worker -s FILESYSTEM=1 \
  -s ALLOW_MEMORY_GROWTH=1 -s MAXIMUM_MEMORY=2GB -s INITIAL_MEMORY=33554432 \
  -s EXPORTED_FUNCTIONS=_tapestry_call,_tapestry_block_count,_tapestry_block,_tapestry_block_size,_malloc,_free \
  -s EXPORTED_RUNTIME_METHODS=FS,UTF8ToString,stringToUTF8,lengthBytesUTF8,HEAPU8 --no-entry

# The command, which its tests run as a process.
$(build)/tools/tapestry: $(tapestry_objects) $(if $(MPI),$(mpi_objects)) $(course) $(library) \
  $(build)/mpi.asked
	$(call link,$(if $(MPI),$(mpi_libraries)))
ifeq ($(filter f64 neon,$(MODE)),)  # of these, `make test` and check-neon run other tests only
$(build)/tests: | $(build)/tools/tapestry
endif

# Lists of the lines of the kernels that are compiled here: others are for other processors. Each
# source with #if, in it or in its headers, has its list.
compiled_lines := $(addprefix $(build)/lines/,$(basename $(sort $(wildcard src/kernels/*.cpp) \
  $(wildcard src/distributed/*.cpp) \
  $(shell grep -lE '^\#if' -r src --include='*.cpp'))))
$(build)/lines/%: %.cpp $(build)/flags FORCE
	@mkdir -p $(@D)
	$(quiet)$(CXX) $(flags) $(extra) -E $< | awk '/^# [0-9]+ "/ { line = $$2; file = $$3; gsub(/"/, "", file); next } \
	  file ~ /^src\// && NF { print file ":" line } { ++line }' >$@
# What only `make test-mpi` can test has no mutants.
$(addprefix $(build)/lines/src/distributed/,mpi_ranks start_ranks):
	@mkdir -p $(@D) && : >$@
# Fuzz targets: each is one file, linked with the library and the command's objects. One that
# defines a sub-command itself gets its own.
$(build)/libcommand.a: $(filter-out %/main.o,$(tapestry_objects))
	@echo '  lib  $@'
	$(quiet)rm -f $@ && $(AR) rcs $@ $^
$(build)/obj/tests/fuzz/%.o: private extra = -Itests -Itools
$(build)/targets/%: $(build)/obj/tests/fuzz/%.o $(build)/libcommand.a $(course) $(library)
	$(call link,-fsanitize=fuzzer)

# MPI's own object, and the programs that `make test-mpi` runs.
$(mpi_objects): private extra = $(mpi_flags)
$(mpi_objects): | build/setup/mpi
$(build)/mpi/tapestry: $(tapestry_objects) $(mpi_objects) $(course) $(library)
	$(call link,$(mpi_libraries))
$(build)/mpi/%: $(build)/obj/tests/mpi/%.o $(mpi_objects) $(library)
	$(call link,$(mpi_libraries))
$(build)/obj/tests/mpi/%.o: private extra = -Itests
$(build)/mpi/84_cost_model: $(call objects,$(wildcard tutorials/phase8*/84_cost_model.cpp)) \
  $(mpi_objects) $(course) $(library)
	$(call link,$(mpi_libraries))
bench_ranks := $(call objects,tools/bench/ranks/ranks.cpp)
$(bench_ranks): private extra = $(mpi_flags)
$(bench_ranks): | build/setup/mpi
$(build)/mpi/bench_ranks: $(bench_ranks) $(mpi_objects) $(course) $(library)
	$(call link,$(mpi_libraries))

define program
$(build)/$(1): $(call objects,$(2)) \
  $(if $(filter $(build)/$(1),$(first_tutorials)),$(lower_layers),$(course) $(library))
	$$(call link)
endef
$(foreach source,$(tutorial_sources),\
  $(eval $(call program,tutorials/$(basename $(notdir $(source))),$(source))))
$(foreach source,$(experiment_sources),\
  $(eval $(call program,experiments/$(basename $(notdir $(source))),$(source))))
$(foreach source,$(tool_sources),$(eval $(call program,$(basename $(source)),$(source))))
$(if $(lesson),$(call objects,$(tutorial_sources) $(experiment_sources)) $(course_objects): $(lesson).gch)
-include $(patsubst %.o,%.d,$(library_objects) $(mpi_objects) \
  $(call objects,$(wildcard tests/mpi/*.cpp)) $(bench_ranks) \
  $(course_objects) $(test_objects) $(bench_objects) $(tapestry_objects) \
  $(mutants_objects) $(engine_objects) $(call objects,$(tutorial_sources) $(experiment_sources) $(tool_sources)) \
  $(call objects,$(wildcard tests/fuzz/*.cpp))) $(build)/catch2.hpp.d

# An exercise's judge holds the learner's function and the solution's, of the same name: in another
# namespace, as -D makes it. `make test` gives it the task as it stands, `make learn` the learner's.
exercise_paths = -Itutorials $(addprefix -I,$(sort $(dir $(exercise_folders))))
of_exercises = $(exercise_folders:%=$(build)/obj/%/$(1).o)
$(foreach file,task solution check,$(call of_exercises,$(file))) $(build)/learn/%.o: \
  private include_paths = $(exercise_paths)
$(foreach file,task solution check substitute,$(call of_exercises,$(file))): \
  $(build)/lesson.hpp.gch
$(foreach file,task solution check substitute,$(call of_exercises,$(file))): private included :=
of_exercise = -include $(build)/lesson.hpp
$(call of_exercises,solution): private extra = $(of_exercise) -Dlearn=solution
$(call of_exercises,task): private extra = $(of_exercise) -Wno-unused-parameter
$(call of_exercises,check) $(call of_exercises,substitute): private extra = $(of_exercise)
# The capstone's exercises call the functions of others: the learner's, where OWN names them, or the
# solutions', built once more under the learner's names.
capstone := 6za_block 6zb_block_backward 6zc_gpt
capstone_uses := 01b_broadcast 01c_broadcast_gradient 03a_matmul 03c_matmul_gradient \
  04c_cross_entropy 04d_cross_entropy_gradient 04e_gelu 07b_adam 14a_embedding \
  14b_embedding_gradient 16a_values_gradient 16b_scores_gradient 21a_split_heads 21b_join_heads \
  27a_layer_norm 27b_layer_norm_gradient 41a_causal_mask 41b_masked_rows $(capstone)
those = $(foreach name,$(2),$(filter %/$(name)/$(1).o,$(call of_exercises,$(1))))
judge_of = $(call those,check,$(1)) $(if $(filter $(1),$(capstone)),$(call others_of,$(1)) \
  $(call those,solution,$(capstone_uses)),$(call those,solution,$(1)))
others_of = $(call those,substitute,$(filter-out $(1) $(OWN),$(capstone_uses))) \
  $(patsubst %,$(build)/learn/%.o,$(filter $(filter-out $(1),$(capstone_uses)),$(OWN)))
$(call of_exercises,substitute): $(build)/obj/%/substitute.o: %/solution.cpp $(build)/flags Makefile
	$(call compile,-c)
$(call of_exercises,substitute): private include_paths = $(exercise_paths)
$(call of_exercises,substitute): private mark = [again]
define exercise
$(build)/exercises/$(notdir $(1)): $(build)/obj/$(1)/task.o $(call judge_of,$(notdir $(1))) \
  $(course) $(library)
	$$(call link)
endef
$(foreach folder,$(exercise_folders),$(eval $(call exercise,$(folder))))
under_asan := -fsanitize=address -fno-omit-frame-pointer
define compile_own
@mkdir -p $(@D)
$(quiet)$(CXX) $(flags) -Wno-unused-parameter $(1) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
endef
$(build)/learn/%.o: out/learn/%.cpp $(build)/flags
	$(call compile_own,-O1 -g1 $(under_asan))
# Under a sanitizer xsimd takes a hundred times as long, and this one is about speed.
$(build)/learn/03d_register_block.o $(build)/learn/03d_register_block: private under_asan :=
$(build)/learn/%: $(build)/learn/%.o $$(call judge_of,$$*) $(course) $(library)
	$(quiet)$(CXX) $(flags) $(under_asan) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(needed) $(LDLIBS)
$(capstone:%=$(build)/learn/%): FORCE  # OWN may have changed

# The capstone's training: the learner's files are compiled once more, without a sanitizer.
capstone_source := tutorials/phase6_every_attention/exercises/capstone
$(build)/obj/$(capstone_source).o: private include_paths = $(exercise_paths)
$(build)/capstone/%.o: private include_paths = $(exercise_paths)
$(build)/capstone/%.o: out/learn/%.cpp $(build)/flags
	$(call compile_own)
$(build)/capstone/program: $(build)/obj/$(capstone_source).o $(course) $(library) FORCE \
  $(call those,substitute,$(filter-out $(OWN),$(capstone_uses))) \
  $(patsubst %,$(build)/capstone/%.o,$(filter $(capstone_uses),$(OWN)))
	@mkdir -p $(@D)
	$(quiet)$(CXX) $(flags) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(needed) $(LDLIBS)
-include $(patsubst %.o,%.d,$(call objects,$(exercise_sources) $(capstone_source).cpp) \
  $(call of_exercises,substitute)) $(wildcard $(build)/learn/*.d $(build)/capstone/*.d) \
  $(build)/lesson.hpp.d

# ---- Tutorials. A step that reads the files of others needs their programs, too.
numbered = $(foreach number,$(1),$(filter $(build)/tutorials/$(number)_%,$(tutorials)))
chosen = $(call numbered,$(1) $(shell tools/run_tutorials --needs $(1)))
of_phase = $(foreach source,$(filter tutorials/phase$(1)_%,$(tutorial_sources)),\
  $(build)/tutorials/$(basename $(notdir $(source))))
numbers = $(foreach program,$(1),$(firstword $(subst _, ,$(notdir $(program)))))
none = { echo "make: there is no $(1); there are: $(2)" >&2; exit 1; }
## tutorials      run every tutorial in order; the pictures land in out/plots/, an index of them in
##                out/index.html. A second time shows the kept texts; FRESH=1 runs all anew
ifeq ($(MAKECMDGOALS),tutorials)  # the first steps run while the rest is compiled
tutorials: opening rest
	$(live)@tools/run_tutorials --shown $(words $(first_tutorials)) $(tutorials)
opening: $(first_tutorials)
	$(live)@tools/run_tutorials --block $(first_tutorials)
rest: $(first_tutorials)
	@$(MAKE) programs
else  # another goal may compile the same files then
tutorials: $(tutorials)
	$(live)@tools/run_tutorials $(tutorials)
endif
## phase1         run the tutorials of that phase; of phase 8 one also as processes, by MPI, and with
##                LONG=1 attention over 262,144 positions by two ranks that hold half of it each
phase%: $$(call chosen,$$(call numbers,$$(call of_phase,$$*)))
	$(live)@$(if $^,tools/run_tutorials $(call of_phase,$*),$(call none,phase $*,$(sort $(foreach \
	  folder,$(wildcard tutorials/phase*),$(firstword $(subst _, ,$(notdir $(folder))))))))
	$(if $(filter 8,$*),$(live)@if $(self) --no-print-directory $(build)/mpi/84_cost_model; then \
	  echo; $(build)/mpi/84_cost_model processes; \
	  else echo 'phase8: left out without MPI: step 84 as processes'; fi)
	$(if $(and $(filter 8,$*),$(LONG)),$(live)@$(self) --no-print-directory \
	  $(build)/tools/long_attention && echo && $(build)/tools/long_attention)
## run-13         run the tutorial with that number, whether or not anything changed
run-%: $$(call chosen,$$*)
	$(live)@$(if $(call numbered,$*),FRESH=1 tools/run_tutorials $(call numbered,$*),$(call \
	  none,tutorial $*,$(notdir $(tutorials))))
## explore-14     a page for the browser that shows the model of step 14: out/explorer/step_14.html
explore-%: $$(call chosen,$$*) $(build)/tools/tapestry
	$(live)@tools/run_tutorials --stale $(call numbered,$*)
	$(live)@tools/explore_lesson $(build)/tools/tapestry $* 'make run-$*'
## plots          the same pictures without the text
plots: $(tutorials)
	$(live)@tools/run_tutorials --quiet $(tutorials)
## pictures       copy the pictures that lessons show from out/plots/ to the lessons' folders, and
##                write tutorials/gallery.md again
pictures: $(build)/tools/check_pictures $(tutorials)
	$(live)@tools/run_tutorials --stale $(tutorials)
	@$(build)/tools/check_pictures --update
	@tools/write_index --gallery

## experiments    runs with many seeds and budgets, whose tables lessons quote, are made again and
##                compared; more than an hour. One: ONLY=54_heads; with UPDATE=1 it is kept instead
chosen_experiments := $(if $(ONLY),$(filter $(build)/experiments/$(ONLY),$(experiments)),$(experiments))
experiments: $(chosen_experiments) $(build)/tools/tapestry
	$(live)@$(if $(chosen_experiments),tools/run_experiments $(if $(UPDATE),--update) \
	  $(chosen_experiments),$(call none,experiment $(ONLY),$(notdir $(experiments))))

## learn          exercises: the one where you are, and what your answer is worth. Your files stand in
##                out/learn/, which make clean keeps. WATCH=1 checks at each save, LIST=1 shows
##                all, SKIP=1 leaves one out, AT=14 goes to step 14, RESET=14 begins it anew
## hint           one more hint for it, three at most
## solution       a solution of it beside yours
## capstone       trains a GPT made of your functions; solutions stand in for what is not solved
learn hint solution capstone: $(course) $(library)
	$(live)@MAKE='$(self)' CAPSTONE='$(capstone_uses)' tools/learn $(if $(filter learn,$@),$(if \
	  $(WATCH),watch,$(if $(LIST),list,$(if $(SKIP),skip,$(if $(AT),at $(AT),$(if \
	  $(RESET),reset $(RESET),next))))),$@) || test $$? = 1

# ---- Tests
## test           all tests, the gradients once more in double, the exercises with all their known
##                mistakes, and the lessons against the programs
test: $(build)/tests $(tutorials) $(exercises) $(build)/tools/check_lessons
	@$(MAKE) MODE=f64 build/f64/gradient_tests
	$(live)@tools/run_tests $(tutorials)
## test-phase1    the tests of that phase
test-phase%: $(build)/tests
	$(live)@$(build)/tests '[phase$*]'
## test-sets      all tests, and the lessons' numbers, on each kernel set that this machine can run;
##                the numbers on some sets only: make test-sets LESSONS=sse2
test-sets: $(build)/tests $(build)/tools/tapestry $(tutorials) $(build)/tools/check_lessons
	$(live)@tools/test_sets \
	  $(if $(filter command line environment,$(origin LESSONS)),--lessons '$(LESSONS)') $(tutorials)
## asan f64 tsan  all tests under the address and undefined-behaviour sanitizers, with real =
##                double, or under the thread sanitizer; of some folders only: ROOMS='nn ops'
asan f64 tsan:
	@$(MAKE) MODE=$@ build/$@/tests build/$@/tools/tapestry
	$(live)@$(if $(ROOMS),build/$@/tests,build/$@/tests '~[tools]' & others=$$!; code=0; \
	  build/$@/tests '[tools]' || code=$$?; wait $$others || code=$$?; exit $$code)
tsan: export TSAN_OPTIONS := allocator_may_return_null=1 $(TSAN_OPTIONS)
## clang          all tests, and the lessons' numbers, built by clang++
clang:
	@$(MAKE) MODE=$@ CXX=clang++ build/$@/tests build/$@/tools/tapestry programs
	@$(MAKE) build/release/tools/check_lessons
	$(live)@build/$@/tests
	$(live)@LESSONS_FOLDER=build/$@/lessons tools/test_lessons $(tutorials:$(build)/%=build/$@/%)
## test-mpi       ranks as processes, by MPI: what they exchange, and that each kind of fault ends all of
##                them with one line; FAULTS=10 is the number of each kind
test-mpi: build/setup/mpi $(build)/mpi/ranks $(build)/mpi/ring $(build)/mpi/tapestry
	$(live)@tools/test_mpi $(build)/mpi $(or $(FAULTS),1)
## test-explorer  the explorer's pages in Chromium and Firefox, driven like a person does; pictures
##                land in out/explorer/. ONLY='hostile text' runs the tests of that name
test-explorer: $(build)/tools/tapestry build/setup/explorer
	$(live)@node tests/explorer/run.js --tapestry $< $(if $(SEED),--seed '$(SEED)') \
	  $(if $(ONLY),'$(ONLY)')
## explorer       the engine of live pages: the library as WebAssembly, built by emscripten. From then
##                on the pages of `tapestry explore` compute: they read texts that you type, and
##                train
explorer: build/setup/engine
	@mkdir -p build/engine/include
	@cd build/engine/include && ln -sfn \
	  $(wildcard $(addprefix /usr/include/,xsimd nlohmann eigen3 utf8proc.h xxhash.h)) .
	@$(MAKE) build/release/tools/unicode_tables
	@build/release/tools/unicode_tables build/engine/include/unicode_tables.inc
	@$(MAKE) MODE=engine CXX=em++ build/engine/engine.js
	@$(MAKE) build/release/tools/tapestry
## fuzz           libFuzzer on all readers of files and texts, by clang++, under sanitizers: each
##                target of tests/fuzz/ for FUZZ_SECONDS (60); what fails is kept in out/fuzz/
fuzz: build/setup/fuzz
	@$(MAKE) MODE=fuzz CXX=clang++ $(fuzz_targets:$(build)/%=build/fuzz/%)
	$(live)@tools/run_fuzz $(fuzz_targets:$(build)/%=build/fuzz/%)
## check-neon     the tests of kernels and operations for AArch64, under an emulator
check-neon: build/setup/neon
	@mkdir -p build/neon/include
	@cd build/neon/include && ln -sfn \
	  $(wildcard $(addprefix /usr/include/,xsimd catch2 stb nlohmann eigen3 gif_lib.h utf8proc.h \
	    xxhash.h zlib.h zconf.h)) .
	@$(MAKE) MODE=neon CXX=aarch64-linux-gnu-g++ AR=aarch64-linux-gnu-ar build/neon/tests
	$(live)@qemu-aarch64-static build/neon/tests
## bench          speed beside OpenBLAS, oneDNN and this machine's limits; five minutes. It
##                writes out/bench.json and pictures. Parts: make bench ROWS=matmul; BENCH=--help
##                ROWS=busy: training while other processes use all processors
##                ROWS=models: folders of weights; with LLAMA2C=path in turn with llama2.c's run
##                PYTHON='chroot /srv/trixie python3': where PyTorch is, if not in python3
##                ROWS=ranks: two ranks beside one process, and sums over ranks beside MPI's
bench: $(if $(filter ranks,$(ROWS)),$(build)/mpi/bench_ranks,$(build)/tools/bench)
	$(live)@$< $(if $(filter ranks,$(ROWS)),,$(if $(ROWS),--rows '$(ROWS)') \
	  $(if $(PYTHON),--python '$(PYTHON)') $(BENCH))
$(build)/tools/bench: $(bench_objects) $(course) $(library)
	$(call link,-lopenblas -ldnnl)
## bench-compare  what changed since an earlier out/bench.json: make bench-compare OLD=FILE
bench-compare: $(build)/tools/compare_bench
	@$< $(or $(OLD),$(error bench-compare: name the earlier file: make bench-compare OLD=FILE))
$(bench_objects): | build/setup/bench

## mutants        can the tests fail? 250 small changes of the library or more, so that each file has
##                one, are made one at a time, drawn by SEED;
##                at most 20 minutes. ONLY=src/plot or SHARE=3/10 runs a part, LIST=1 shows them;
##                COUNT=4096 draws more
mutants: $(build)/tools/mutants $(compiled_lines)
	$(live)@MAKE='$(self)' $< --seed '$(or $(SEED),1)' $(if $(ONLY),--only '$(ONLY)') \
	  $(if $(COUNT),--count '$(COUNT)') $(if $(SHARE),--share '$(SHARE)') $(if $(LIST),--list) \
	  --lines $(build)/lines
$(build)/tools/mutants: $(mutants_objects)
	$(call link)

# ---- Checks of the sources
## check          format, layers, symbols, warnings, lessons, links and pictures; a report of sizes
check: build/setup/format
	@$(MAKE) WERROR=1 everything
	$(live)@tools/run_tutorials --stale $(tutorials)
	$(live)@tools/run_checks
## format         lay out the sources with clang-format; format-check only looks
format: build/setup/format
	@$(CLANG_FORMAT) -i $(formatted)
format-check: build/setup/format
	@$(CLANG_FORMAT) --dry-run --Werror $(formatted) 2>&1 | { grep "error:" || true; }

## ci-full        every test in every way: hours. .ci/run takes less than one
ci-full:
	$(live)@.ci/run full
## install        headers, library, the `tapestry` command with its man page and completion, and files
##                for pkg-config and CMake under PREFIX (/usr/local); DESTDIR works too
quoted = '$(subst ','\'',$(1))'
installer = PREFIX=$(call quoted,$(PREFIX)) DESTDIR=$(call quoted,$(DESTDIR)) LIBDIR='$(LIBDIR)' \
  MODE=$(MODE) CXX='$(CXX)' VERSION=$(VERSION) DEFINES='$(filter -DTAPESTRY%,$(mode_$(MODE)))' \
  tools/packaging/install
ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)  # checked before anything is compiled
refusal := $(shell $(installer) check $(filter uninstall,$(MAKECMDGOALS)))
$(if $(refusal),$(error $(refusal)))
endif
install: $(library) $(build)/tools/tapestry
	@$(installer) put
## uninstall      take away what `make install` wrote under PREFIX, and nothing else
uninstall:
	@$(installer) remove
## deb            Debian packages libtapestry-dev and tapestry, checked by lintian, in build/deb/
deb: build/setup/build build/setup/deb
	$(live)@VERSION=$(VERSION) tools/packaging/deb
## clean          remove build/; out/ holds results of yours and stays
clean:
	rm -rf build
## help           this list. With any target: SETUP=ask asks before packages are installed,
##                SETUP=never only tells the line to type; V=1 shows the commands, -n runs nothing
help:
	@echo 'make TARGET, where TARGET is'; sed -n 's/^## /  /p' Makefile

.PHONY: all everything programs opening rest test test-mpi test-sets test-explorer ci-full tutorials plots
.PHONY: pictures asan f64 clang tsan fuzz check-neon bench bench-compare check format format-check install uninstall deb
.PHONY: experiments mutants learn hint solution capstone clean help FORCE
