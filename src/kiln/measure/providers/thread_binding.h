// Which core each thread of a worker runs on: one thread to a core, as Kiln's own workers are. Left to itself, the
// system keeps both threads of a short computation on the one core that woke them, for as long as they live: a library
// would seem to be many times slower than it is.
#ifndef KILN_MEASURE_PROVIDERS_THREAD_BINDING_H
#define KILN_MEASURE_PROVIDERS_THREAD_BINDING_H

#include <cstdint>

#include "kiln/base/status.h"

namespace kiln::measure {

// Leaves this process so many processors, of different cores as far as there are such: for libraries that start a
// thread on each processor. Comes before threads are started. Unimplemented where there are fewer.
Status limitProcessors(uint32_t threads);
// The calling thread to the first core of this process. Threads that it starts afterwards inherit that, unless they are
// bound themselves. Nothing is bound where one thread, or more threads than cores, compute.
Status bindCaller(uint32_t threads);
// All threads of this process: the caller to the first core, the others, in the order in which they were started, to
// the cores after it.
Status bindAll(uint32_t threads);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_THREAD_BINDING_H
