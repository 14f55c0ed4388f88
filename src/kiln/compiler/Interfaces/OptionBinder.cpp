#include "kiln/compiler/Interfaces/OptionBinder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

namespace kiln {

namespace cl = llvm::cl;

// llvm::cl keeps what it is given by reference, so texts and options live here. Members are set by callbacks, never by
// cl::location: LLD, when it links in this process, resets every option to its default, and would reset them too.
struct OptionBinder::Storage {
  std::vector<std::unique_ptr<cl::OptionCategory>> categories;
  std::vector<std::unique_ptr<std::string>> texts;
  std::vector<std::unique_ptr<cl::Option>> options;

  llvm::StringRef keep(llvm::StringRef text) {
    texts.push_back(std::make_unique<std::string>(text));
    return *texts.back();
  }
  cl::OptionCategory &category() { return *categories.back(); }
};

OptionBinder::OptionBinder() : storage(std::make_unique<Storage>()) {}
OptionBinder::~OptionBinder() = default;

void OptionBinder::group(llvm::StringRef title) {
  storage->categories.push_back(std::make_unique<cl::OptionCategory>(storage->keep(title)));
}

static std::string groupOf(const cl::OptionCategory &category) {
  return category.getName().str();
}

void OptionBinder::flag(llvm::StringRef name, bool *member, llvm::StringRef description) {
  declared.push_back({groupOf(storage->category()), name.str(), "", *member ? "true" : "false", description.str()});
  auto option = std::make_unique<cl::opt<bool>>(storage->keep(name), cl::init(*member),
                                                cl::desc(storage->keep(description)), cl::cat(storage->category()));
  option->setCallback([member](const bool &given) { *member = given; });
  storage->options.push_back(std::move(option));
}

void OptionBinder::flag(llvm::StringRef name, int64_t *member, llvm::StringRef value, llvm::StringRef description) {
  declared.push_back(
      {groupOf(storage->category()), name.str(), value.str(), std::to_string(*member), description.str()});
  auto option = std::make_unique<cl::opt<long long>>(
      storage->keep(name), cl::init(*member), cl::desc(storage->keep(description)),
      cl::value_desc(storage->keep(value.trim("<>"))), cl::cat(storage->category()));
  option->setCallback([member](const long long &given) { *member = given; });
  storage->options.push_back(std::move(option));
}

void OptionBinder::flag(llvm::StringRef name, std::string *member, llvm::StringRef value, llvm::StringRef description) {
  declared.push_back({groupOf(storage->category()), name.str(), value.str(), *member, description.str()});
  auto option = std::make_unique<cl::opt<std::string>>(
      storage->keep(name), cl::init(*member), cl::desc(storage->keep(description)),
      cl::value_desc(storage->keep(value.trim("<>"))), cl::cat(storage->category()));
  option->setCallback([member](const std::string &given) { *member = given; });
  storage->options.push_back(std::move(option));
}

void OptionBinder::flag(llvm::StringRef name, std::vector<std::string> *member, llvm::StringRef value,
                        llvm::StringRef description) {
  std::string initial;
  for (const std::string &entry : *member)
    initial += (initial.empty() ? "" : ",") + entry;
  declared.push_back({groupOf(storage->category()), name.str(), value.str(), initial, description.str()});
  auto option = std::make_unique<cl::list<std::string>>(
      storage->keep(name), cl::CommaSeparated, cl::desc(storage->keep(description)),
      cl::value_desc(storage->keep(value.trim("<>"))), cl::cat(storage->category()));
  // The first value given replaces the default.
  option->setCallback([member, fresh = true](const std::string &given) mutable {
    if (fresh)
      member->clear();
    fresh = false;
    member->push_back(given);
  });
  storage->options.push_back(std::move(option));
}

namespace {
// The words of a choice are known only at run time.
class ChoiceParser : public cl::parser<int> {
public:
  ChoiceParser(cl::Option &option) : cl::parser<int>(option) {}
  const std::vector<std::string> *words = nullptr;

  bool parse(cl::Option &option, llvm::StringRef, llvm::StringRef arg, int &value) {
    for (size_t i = 0; i < words->size(); ++i) {
      if (arg == (*words)[i]) {
        value = static_cast<int>(i);
        return false;
      }
    }
    std::string all;
    for (const std::string &word : *words)
      all += (all.empty() ? "" : ", ") + word;
    return option.error("does not know '" + arg + "'; it takes one of: " + all);
  }
};
} // namespace

void OptionBinder::choice(llvm::StringRef name, int *member, std::vector<std::string> words, llvm::StringRef value,
                          llvm::StringRef description) {
  std::string shown = value.empty() ? llvm::join(words, "|") : value.str();
  declared.push_back({groupOf(storage->category()), name.str(), shown, words[*member], description.str()});
  auto option = std::make_unique<cl::opt<int, false, ChoiceParser>>(
      storage->keep(name), cl::init(*member), cl::desc(storage->keep(description)),
      cl::value_desc(storage->keep(shown)), cl::cat(storage->category()));
  auto kept = std::make_shared<std::vector<std::string>>(std::move(words));
  option->getParser().words = kept.get();
  option->setCallback([member, kept](const int &given) { *member = given; });
  storage->options.push_back(std::move(option));
}

void OptionBinder::action(llvm::StringRef name, std::function<void()> run, llvm::StringRef description) {
  declared.push_back({groupOf(storage->category()), name.str(), "", "", description.str()});
  auto option = std::make_unique<cl::opt<bool>>(storage->keep(name), cl::ValueDisallowed,
                                                cl::desc(storage->keep(description)), cl::cat(storage->category()));
  option->setCallback([run = std::move(run)](const bool &given) {
    if (given)
      run();
  });
  storage->options.push_back(std::move(option));
}

void OptionBinder::hideOthers() {
  std::vector<const cl::OptionCategory *> ours;
  for (const auto &category : storage->categories)
    ours.push_back(category.get());
  cl::HideUnrelatedOptions(ours);
}

} // namespace kiln
