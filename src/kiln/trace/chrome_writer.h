// Writes a capture as Chrome's trace events, in JSON, which chrome://tracing and ui.perfetto.dev open.
#ifndef KILN_TRACE_CHROME_WRITER_H
#define KILN_TRACE_CHROME_WRITER_H

#include <functional>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/trace/capture_reader.h"

namespace kiln::trace {

// Text goes to `write` as it comes. Zones of a device that overlap are put into rows below each other.
Status writeChromeTrace(const Capture &capture, const std::function<Status(std::string_view)> &write);

} // namespace kiln::trace

#endif // KILN_TRACE_CHROME_WRITER_H
