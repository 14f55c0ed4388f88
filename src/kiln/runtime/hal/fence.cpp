#include "kiln/runtime/hal/fence.h"

#include "kiln/runtime/hal/host_semaphore.h"
#include "kiln/trace/zone.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace kiln::hal {

// A call that somebody may cancel is asked about so often; and what its work may take to end when it is over.
static constexpr uint64_t kAskAgain = 20'000'000, kMoment = 1'000'000'000;

namespace {

// Points in the order of their first appearance, one of each timeline.
class PointSet {
public:
  void add(const SemaphorePoint &point) {
    if (SemaphorePoint *known = find(point.semaphore.get())) {
      known->value = std::max(known->value, point.value);
      return;
    }
    if (!index.empty())
      index.emplace(point.semaphore.get(), points.size());
    points.push_back(point);
  }
  std::vector<SemaphorePoint> points;

private:
  // Few points are searched faster than hashed; a module may join very many.
  static constexpr size_t kFew = 32;

  SemaphorePoint *find(Semaphore *semaphore) {
    if (points.size() < kFew) {
      for (SemaphorePoint &point : points)
        if (point.semaphore.get() == semaphore)
          return &point;
      return nullptr;
    }
    if (index.empty())
      for (size_t i = 0; i < points.size(); ++i)
        index.emplace(points[i].semaphore.get(), i);
    auto it = index.find(semaphore);
    return it == index.end() ? nullptr : &points[it->second];
  }

  std::unordered_map<Semaphore *, size_t> index; // empty while there are few
};

} // namespace

Ref<Fence> Fence::signaled() {
  return Ref<Fence>::adopt(new Fence());
}

Ref<Fence> Fence::create(Ref<Semaphore> semaphore, uint64_t value) {
  Ref<Fence> fence = signaled();
  fence->single = {std::move(semaphore), value};
  fence->pointCount = 1;
  return fence;
}

Ref<Fence> Fence::create(std::span<const SemaphorePoint> points) {
  PointSet set;
  for (const SemaphorePoint &point : points)
    set.add(point);
  if (set.points.size() == 1)
    return create(std::move(set.points[0].semaphore), set.points[0].value);
  Ref<Fence> fence = signaled();
  if (set.points.empty())
    return fence;
  fence->many = std::make_unique<SemaphorePoint[]>(set.points.size());
  std::move(set.points.begin(), set.points.end(), fence->many.get());
  fence->pointCount = uint32_t(set.points.size());
  return fence;
}

Ref<Fence> Fence::failed(Status status) {
  Ref<Semaphore> semaphore = makeRef<HostSemaphore>(0);
  semaphore->fail(std::move(status));
  return create(std::move(semaphore), 1);
}

Ref<Fence> Fence::join(std::span<Fence *const> fences) {
  Fence *only = nullptr;
  std::vector<SemaphorePoint> points;
  for (Fence *fence : fences) {
    if (!fence || fence->pointCount == 0)
      continue;
    if (!only)
      only = fence;
    points.insert(points.end(), fence->points().begin(), fence->points().end());
  }
  if (!only)
    return signaled();
  if (points.size() == only->pointCount)
    return Ref<Fence>::share(only);
  return create(points);
}

bool Fence::isSignaled() const {
  bool all = true;
  for (const SemaphorePoint &point : points()) {
    Result<uint64_t> value = point.semaphore->query();
    if (!value.ok())
      return true;
    all = all && *value >= point.value;
  }
  return all;
}

Status Fence::wait(Deadline deadline) const {
  static trace::Name waiting("wait");
  trace::Zone zone(waiting);
  for (const SemaphorePoint &point : points())
    KILN_RETURN_IF_ERROR(point.semaphore->wait(point.value, deadline));
  return okStatus();
}

Status Fence::waitWithin(const CallLimit *limit) const {
  if (!limit || !limit->leavesStuckWork())
    return wait();
  // What the work failed with may be that a deadline was exceeded, too: hence the second question.
  while (!limit->isOver())
    if (Status status = wait(Deadline::after(std::min(limit->deadline().remaining(), kAskAgain)));
        status.code() != StatusCode::DeadlineExceeded || isSignaled())
      return status;
  if (Status status = wait(Deadline::after(kMoment)); status.code() != StatusCode::DeadlineExceeded || isSignaled())
    return status;
  for (const SemaphorePoint &point : points())
    if (!point.semaphore->isReached(point.value))
      point.semaphore->loseDevice(unavailable("what it was given for a call that is over did not end"));
  return std::move(limit->status())
      .withContext("what the device was asked to do did not end within a second more, and the device is lost");
}

Result<Ref<Fence>> Fence::waitUntilFewer(uint32_t count, const CallLimit *limit) {
  if (pointCount < count)
    return Ref<Fence>::share(this);
  auto rest = points().last(count - 1);
  for (const SemaphorePoint &point : points().first(pointCount - rest.size()))
    KILN_RETURN_IF_ERROR(create(point.semaphore, point.value)->waitWithin(limit));
  return create(rest);
}

} // namespace kiln::hal
