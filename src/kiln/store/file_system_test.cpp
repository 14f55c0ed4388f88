#include "kiln/base/testing/test_folder.h"
#include "kiln/store/file_system.h"
#include "kiln/store/reader.h"
#include "kiln/store/writer.h"

#include <gtest/gtest.h>

namespace kiln::store {
namespace {

TEST(FileSystem, NetworksAreKnown) {
  EXPECT_EQ(networkName({0x6969, "nfs4"}), "NFS");
  EXPECT_EQ(networkName({0x6969, ""}), "NFS");
  EXPECT_EQ(networkName({0xFF534D42, "cifs"}), "CIFS");
  EXPECT_EQ(networkName({0xFE534D42, "smb3"}), "SMB2");
  EXPECT_EQ(networkName({0x0BD00BD0, "lustre"}), "Lustre");
  EXPECT_EQ(networkName({0x47504653, "gpfs"}), "GPFS");
  EXPECT_EQ(networkName({0x19830326, "beegfs"}), "BeeGFS");
  EXPECT_EQ(networkName({0x00C36400, "ceph"}), "CephFS");
  EXPECT_EQ(networkName({0x01021997, "9p"}), "9p");
  EXPECT_EQ(networkName({0x65735546, "fuse.sshfs"}), "sshfs");
  EXPECT_EQ(networkName({0x65735546, "fuse.glusterfs"}), "glusterfs");
}

TEST(FileSystem, LocalOnesAreNot) {
  EXPECT_EQ(networkName({0xEF53, "ext4"}), std::nullopt);
  EXPECT_EQ(networkName({0x01021994, "tmpfs"}), std::nullopt);
  EXPECT_EQ(networkName({0x9123683E, "btrfs"}), std::nullopt);
  EXPECT_EQ(networkName({0x58465342, "xfs"}), std::nullopt);
  EXPECT_EQ(networkName({0x794C7630, "overlay"}), std::nullopt);
  EXPECT_EQ(networkName({0x65735546, "fuse.fuse-overlayfs"}), std::nullopt) << "as in containers without a superuser";
  EXPECT_EQ(networkName({0x65735546, ""}), std::nullopt);
}

TEST(FileSystem, OfAFileAndOfAFolder) {
  TestFolder folder;
  Result<FileSystem> temporary = fileSystemOf(folder.file("none.db")), processes = fileSystemOf("/proc/self/status");
  ASSERT_TRUE(temporary.ok() && processes.ok());
  EXPECT_EQ(networkName(*temporary), std::nullopt);
  EXPECT_EQ(processes->type, "proc");
  EXPECT_FALSE(fileSystemOf("/no/such/folder/results.db").ok());
}

TEST(FileSystem, AStoreIsNotWrittenAcrossANetwork) {
  TestFolder folder;
  std::string path = folder.file("results.db");
  WriterOptions options;
  options.fileSystem = FileSystem{0x6969, "nfs4"};
  Status status = Writer::open(path, options).status();
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  for (const char *text : {"NFS", "results.db", "kiln-dispatch merge", "--allow-network-store"})
    EXPECT_NE(status.message().find(text), std::string_view::npos) << status.message();
  EXPECT_EQ(Reader::open(path).status().code(), StatusCode::NotFound) << "nothing was made";
  options.allowNetwork = true;
  EXPECT_TRUE(Writer::open(path, options).ok());
  EXPECT_TRUE(Reader::open(path).ok());
}

} // namespace
} // namespace kiln::store
