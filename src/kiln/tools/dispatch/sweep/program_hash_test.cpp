// A program is another one when its command changes, or a file that the command names.
#include "kiln/tools/dispatch/sweep/program_hash.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "kiln/base/testing/test_folder.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

class ProgramHash : public ::testing::Test {
protected:
  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(folder.file(name)) << text;
    return folder.file(name);
  }
  TestFolder folder;
};

TEST_F(ProgramHash, FollowsTheFilesThatACommandNames) {
  const std::string program = write("program", "one"), script = write("a script", "two");
  for (const std::string &command :
       {program + " --flag", "python3 '" + script + "' x", "env A=b python3 \"" + script + "\"", "cat < " + program}) {
    SCOPED_TRACE(command);
    write("program", "one");
    write("a script", "two");
    const std::string before = programHash(command);
    EXPECT_EQ(programHash(command), before);
    write("program", "changed");
    write("a script", "changed");
    EXPECT_NE(programHash(command), before);
  }
}

TEST_F(ProgramHash, FollowsTheCommand) {
  const std::string first = write("first", "same"), second = write("second", "same");
  std::set<std::string> hashes;
  const std::string commands[] = {first,
                                  second,
                                  first + " 1",
                                  first + " 2",
                                  "nobody",
                                  "",
                                  "sh -c 'exit 1'",
                                  "a ; b",
                                  "'unfinished",
                                  "$(touch " + folder.file("made") + ")",
                                  "sh /dev/zero"};
  for (const std::string &command : commands)
    hashes.insert(programHash(command));
  EXPECT_EQ(hashes.size(), std::size(commands));
  EXPECT_FALSE(std::filesystem::exists(folder.file("made"))) << "nothing is run";
}

} // namespace
} // namespace kiln
