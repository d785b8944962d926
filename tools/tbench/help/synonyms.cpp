#include "synonyms.hpp"

#include <array>

namespace tbench::tool {
namespace {

constexpr std::array kFlags{FlagSynonym{"days", "--nights"},
                            FlagSynonym{"runs", "--nights"},
                            FlagSynonym{"last", "--nights"},
                            FlagSynonym{"limit", "--nights"},
                            FlagSynonym{"since", "--nights"},
                            FlagSynonym{"after", "--nights"},
                            FlagSynonym{"n", "--nights"},
                            FlagSynonym{"history", "--db"},
                            FlagSynonym{"database", "--db"},
                            FlagSynonym{"sqlite", "--db"},
                            FlagSynonym{"threshold", "--tau"},
                            FlagSynonym{"thresh", "--tau"},
                            FlagSynonym{"tolerance", "--tau"},
                            FlagSynonym{"percent", "--tau"},
                            FlagSynonym{"timeout", "--wait"},
                            FlagSynonym{"md", "--markdown"},
                            FlagSynonym{"html", "--output"},
                            FlagSynonym{"out", "--output"},
                            FlagSynonym{"o", "--output"},
                            FlagSynonym{"out_file", "--output"},
                            FlagSynonym{"output_file", "--output"},
                            FlagSynonym{"outfile", "--output"},
                            FlagSynonym{"new", "--to"},
                            FlagSynonym{"against", "--to"},
                            FlagSynonym{"contender", "--to"},
                            FlagSynonym{"candidate", "--to"},
                            FlagSynonym{"current", "--to"},
                            FlagSynonym{"cost", "--price"},
                            FlagSynonym{"group_by", "--pivot"},
                            FlagSynonym{"columns", "--pivot"},
                            FlagSynonym{"metric", "--show"},
                            FlagSynonym{"table", "--study"},
                            FlagSynonym{"report", "--table"},
                            FlagSynonym{"stats", "--table"},
                            FlagSynonym{"iterations", "--steps"},
                            FlagSynonym{"iters", "--steps"},
                            FlagSynonym{"num_steps", "--steps"},
                            FlagSynonym{"n", "--steps"},
                            FlagSynonym{"benchmark_filter", "--filter"},
                            FlagSynonym{"case", "--filter"},
                            FlagSynonym{"cases", "--filter"},
                            FlagSynonym{"k", "--filter"},
                            FlagSynonym{"grep", "--filter"},
                            FlagSynonym{"only", "--filter"},
                            FlagSynonym{"match", "--filter"},
                            FlagSynonym{"regex", "--filter"},
                            FlagSynonym{"v", "--all"},
                            FlagSynonym{"verbose", "--all"},
                            FlagSynonym{"full", "--all"},
                            FlagSynonym{"fail", "--strict"},
                            FlagSynonym{"werror", "--strict"},
                            FlagSynonym{"xml", "--junit"},
                            FlagSynonym{"n", "--dry-run"},
                            FlagSynonym{"add", "--import"},
                            FlagSynonym{"known_spreads", "--spreads"},
                            FlagSynonym{"export", "--json"},
                            FlagSynonym{"v", "--version"}};

constexpr std::array kArguments{FlagSynonym{"base", "BASE"},
                                FlagSynonym{"baseline", "BASE"},
                                FlagSynonym{"before", "BASE"},
                                FlagSynonym{"old", "BASE"},
                                FlagSynonym{"from", "BASE"},
                                FlagSynonym{"a", "BASE"},
                                FlagSynonym{"filter", "REGEX"},
                                FlagSynonym{"case", "REGEX"},
                                FlagSynonym{"cases", "REGEX"},
                                FlagSynonym{"k", "REGEX"},
                                FlagSynonym{"grep", "REGEX"},
                                FlagSynonym{"match", "REGEX"},
                                FlagSynonym{"pattern", "REGEX"},
                                FlagSynonym{"name", "REGEX"},
                                FlagSynonym{"regex", "REGEX"},
                                FlagSynonym{"only", "REGEX"},
                                FlagSynonym{"benchmark_filter", "REGEX"},
                                FlagSynonym{"run", "RUN"},
                                FlagSynonym{"runs", "RUN"},
                                FlagSynonym{"file", "RUN"},
                                FlagSynonym{"input", "RUN"},
                                FlagSynonym{"results", "RUN"},
                                FlagSynonym{"file", "FILE"},
                                FlagSynonym{"files", "FILE"},
                                FlagSynonym{"input", "FILE"},
                                FlagSynonym{"i", "FILE"},
                                FlagSynonym{"in", "FILE"},
                                FlagSynonym{"results", "FILE"},
                                FlagSynonym{"trace", "FILE"},
                                FlagSynonym{"input", "PATH"},
                                FlagSynonym{"dir", "PATH"},
                                FlagSynonym{"folder", "PATH"},
                                FlagSynonym{"path", "PATH"},
                                FlagSynonym{"file", "PATH"},
                                FlagSynonym{"trace", "PATH"},
                                FlagSynonym{"input", "RESULTS"},
                                FlagSynonym{"files", "RESULTS"},
                                FlagSynonym{"file", "RESULTS"}};

constexpr std::array kFormatNames{
    FlagSynonym{"format", "--format"},     FlagSynonym{"fmt", "--format"},  FlagSynonym{"output_format", "--format"},
    FlagSynonym{"out_format", "--format"}, FlagSynonym{"type", "--format"}, FlagSynonym{"md", "--markdown"},
    FlagSynonym{"tex", "--latex"},         FlagSynonym{"html", "--output"}, FlagSynonym{"page", "--output"}};

using Command = std::pair<std::string_view, std::string_view>;

constexpr std::array kCommands{
    Command{"compare", "diff"},  Command{"cmp", "diff"},        Command{"show", "report"},
    Command{"print", "report"},  Command{"view", "report"},     Command{"table", "report"},
    Command{"html", "report"},   Command{"plot", "report"},     Command{"study", "report"},
    Command{"join", "merge"},    Command{"combine", "merge"},   Command{"concat", "merge"},
    Command{"check", "gate"},    Command{"judge", "gate"},      Command{"verify", "gate"},
    Command{"regress", "gate"},  Command{"log", "history"},     Command{"trend", "history"},
    Command{"trace", "profile"}, Command{"flame", "profile"},   Command{"nsight", "nsys"},
    Command{"sqlite", "nsys"},   Command{"gpus", "fleet"},      Command{"machines", "fleet"},
    Command{"noise", "spreads"}, Command{"times", "durations"}, Command{"kernels", "classify"},
    Command{"delta", "diff"},    Command{"stats", "report"},    Command{"summary", "report"},
    Command{"list", "report"},   Command{"regression", "gate"}, Command{"csv", "report"},
    Command{"json", "report"},   Command{"export", "report"},   Command{"stat", "report"},
    Command{"nightly", "gate"},  Command{"help", "--help"},     Command{"version", "--version"}};

}  // namespace

std::span<const FlagSynonym> flag_synonyms() { return kFlags; }

std::span<const FlagSynonym> argument_synonyms() { return kArguments; }

std::span<const FlagSynonym> format_synonyms() { return kFormatNames; }

std::span<const std::pair<std::string_view, std::string_view>> command_synonyms() { return kCommands; }

}  // namespace tbench::tool
