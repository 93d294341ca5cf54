// Temporary files, beside those that they are to become, and what remains of them when their
// writer is killed.
//
// A writer holds a lock (flock) on its part until it has renamed it. The lock goes when the process
// does, however it ended, so that a part nobody has locked is dead; a number of a process that is
// given out again does not matter. The name holds the machine's, since on a shared folder a lock
// may not be seen from another machine: only parts made on this one are ever removed.
#pragma once

#include <filesystem>

namespace tapestry {

// Makes and locks a part for `target` in its folder. Returns its descriptor, open for writing, and
// tells its path; or -1, and errno says why. Unlocked where the file system knows no locks.
int make_part(const std::filesystem::path& target, std::filesystem::path& part);

// Removes the parts that dead writers of `target` on this machine left. What cannot be looked at or
// removed stays.
void remove_dead_parts(const std::filesystem::path& target);

}  // namespace tapestry
