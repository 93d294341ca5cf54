// Temporary files ("parts") in the folder of their target, and the removal of those whose writer
// was killed.
//
// A writer holds a lock (flock) on its part until it has renamed it. The lock ends with the
// process, however it ends, so an unlocked part is dead, even if the process number is in use
// again. The name contains the machine's, since on a shared folder another machine may not see a
// lock: only parts made on this one are ever removed.
#pragma once

#include <filesystem>

namespace tapestry {

// Makes and locks a part for `target` in its folder. Returns its descriptor, open for writing, and
// sets its path; or -1 with errno set. Not locked if the file system has no locks.
int make_part(const std::filesystem::path& target, std::filesystem::path& part);

// Removes the parts that dead writers of `target` on this machine left. What cannot be opened or
// removed stays.
void remove_dead_parts(const std::filesystem::path& target);

}  // namespace tapestry
