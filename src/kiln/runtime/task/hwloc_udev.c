// Debian's static hwloc names block devices through libudev, which would be a shared library that every machine needs.
// Kiln asks hwloc for processors and caches only. These definitions, which hwloc's calls resolve to, say that there is
// no udev; hwloc then reads such names from /sys.
#include <stddef.h>

struct udev;
struct udev_device;

struct udev *udev_new(void) {
  return NULL;
}
struct udev *udev_unref(struct udev *udev) {
  return NULL;
}
struct udev_device *udev_device_new_from_subsystem_sysname(struct udev *udev, const char *subsystem, const char *name) {
  return NULL;
}
struct udev_device *udev_device_unref(struct udev_device *device) {
  return NULL;
}
const char *udev_device_get_property_value(struct udev_device *device, const char *key) {
  return NULL;
}
