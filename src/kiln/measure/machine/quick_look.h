// A short look at the machine before something is measured: whether somebody else is at work on it.
#ifndef KILN_MEASURE_MACHINE_QUICK_LOOK_H
#define KILN_MEASURE_MACHINE_QUICK_LOOK_H

#include <string>

#include "kiln/measure/machine/neighbours.h"

namespace kiln::measure {

// Sleeps for so long, and sees what ran meanwhile.
Neighbours lookAtMachine(double seconds, const SystemFiles &files = SystemFiles());

// One line of at most 80 characters with what to do; empty where nothing was seen that disturbs. What this process
// itself has just done shows in the load of the last minute, so that the load alone says nothing.
std::string disturbance(const Neighbours &neighbours);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_QUICK_LOOK_H
