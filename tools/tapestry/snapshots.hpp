// Snapshots of a model while it is trained (`tapestry train --snapshots N`): files of 16 bits a
// weight that open as any checkpoint, in a folder beside the checkpoint. book.safetensors has
// book.snapshots/000000.safetensors, 000001.safetensors, ...: named by the step they were made
// after.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"

namespace tapestry::command {

// The files beside a checkpoint, sorted by step; none if there is no such folder. Other files there
// are left out.
std::vector<Path> snapshots_of(const Path& checkpoint);

// What the metadata of a snapshot, or of a best model, says: how many steps it had learned, and its
// loss on held-out texts, if it was measured then.
struct Moment {
  Index step = 0;
  std::optional<double> loss = {};
};

// Throws Error if there is no step, or if one of the two is no such number.
Moment moment_in(const std::map<std::string, std::string>& metadata);
std::map<std::string, std::string> to_metadata(const Moment& moment);  // without infinite losses

// Where the snapshot of a step goes.
Path snapshot_folder(const Path& checkpoint);
Path snapshot_path(const Path& checkpoint, Index step);

// Throws Error if it cannot be made.
void make_snapshot_folder(const Path& checkpoint);

// The steps of `count` snapshots, from 0 to `steps`; all steps if there are no more. The loss falls
// fastest at the beginning, so snapshot i of 0 to n is near steps * (i / n)^2: half of them are in
// the first quarter, and the last two only twice as far apart as equal distances would be.
std::vector<Index> snapshot_steps(Index count, Index steps);

// Removes those of later steps; with -1 all, and the folder, if it is empty then. Throws Error for
// what cannot be removed.
void remove_snapshots_after(Index step, const Path& checkpoint);

}  // namespace tapestry::command
