#include "kiln/targets/cuda/driver/cuda_graphs.h"

#include <algorithm>
#include <utility>

namespace kiln::hal {

CudaGraphs::~CudaGraphs() {
  CudaContext::Scope scope(*context);
  for (Entry &entry : entries)
    if (entry.executable)
      context->cuda().cuGraphExecDestroy(entry.executable);
}

Status CudaGraphs::launch(CUstream stream, std::vector<uint64_t> addresses, const std::function<Status()> &enqueue) {
  auto entry = std::ranges::find(entries, addresses, &Entry::addresses);
  if (entry == entries.end()) {
    entry = std::ranges::min_element(entries, {}, &Entry::lastUse);
    entry->addresses = std::move(addresses);
    entry->isForAddresses = false;
    entry->lastUse = ++uses;
    return enqueue();
  }
  entry->lastUse = ++uses;
  if (!entry->isForAddresses)
    KILN_RETURN_IF_ERROR(prepare(stream, *entry, enqueue));
  return context->check(context->cuda().cuGraphLaunch(entry->executable, stream), "launch a graph");
}

Status CudaGraphs::prepare(CUstream stream, Entry &entry, const std::function<Status()> &enqueue) {
  const CudaLibrary &cuda = context->cuda();
  KILN_RETURN_IF_ERROR(
      context->check(cuda.cuStreamBeginCapture_v2(stream, cuda::kCaptureOfThread), "begin to capture a graph"));
  Status status = enqueue();
  CUgraph graph = nullptr;
  CUresult result = cuda.cuStreamEndCapture(stream, &graph);
  if (status.ok())
    status = context->check(result, "capture a graph");
  if (status.ok() && entry.executable) {
    CudaGraphUpdate update;
    // What cannot be updated is made anew.
    if (cuda.cuGraphExecUpdate_v2(entry.executable, graph, &update) != cuda::kSuccess)
      cuda.cuGraphExecDestroy(std::exchange(entry.executable, nullptr));
  }
  if (status.ok() && !entry.executable)
    status = context->check(cuda.cuGraphInstantiateWithFlags(&entry.executable, graph, 0), "make a graph");
  if (graph)
    cuda.cuGraphDestroy(graph);
  entry.isForAddresses = status.ok();
  return status;
}

} // namespace kiln::hal
