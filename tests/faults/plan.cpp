#include "tests/faults/plan.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace faults {

namespace {

const char* environment(const char* name, const char* absent) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : absent;
}

[[noreturn]] void cannot_read(const char* text) {
  std::fprintf(stderr, "faults: BLOCK_EIGS_FAULT=%s cannot be understood\n", text);
  ::_exit(99);
}

int errno_of(const char* name) {
  constexpr int highest = 134;
  if (*name >= '0' && *name <= '9') return std::atoi(name);
  for (int error = 1; error < highest; ++error) {
    const char* known = strerrorname_np(error);
    if (known != nullptr && std::strcmp(known, name) == 0) return error;
  }
  return 0;
}

Caller caller_of(const char* who) {
  if (std::strcmp(who, "factors") == 0) return Caller::factors;
  return std::strcmp(who, "libraries") == 0 ? Caller::libraries : Caller::program;
}

}  // namespace

Plan read_plan() {
  Plan plan;
  const char* text = environment("BLOCK_EIGS_FAULT", "");
  if (*text == '\0') return plan;
  char name[64], who[16], number[24], how[16];
  if (std::sscanf(text, "%63[^:]:%15[^:]:%23[^:]:%15s", name, who, number, how) != 4) cannot_read(text);
  plan.call = find(name);
  plan.caller = caller_of(who);
  const bool by_size = std::strncmp(number, "over", 4) == 0;
  char* rest = nullptr;
  plan.number = std::strtol(number + (by_size ? 4 : 0), &rest, 10);
  plan.lasting = *rest == '+';
  if (by_size) plan.over = plan.number;
  if (by_size && std::strcmp(name, "malloc") != 0) cannot_read(text);
  plan.shortened = std::strcmp(how, "short") == 0;
  plan.ended = std::strcmp(how, "end") == 0;
  plan.error = errno_of(how);
  const bool known = plan.shortened || plan.ended || plan.error != 0 || std::strcmp(how, "fail") == 0;
  if (plan.call == nullptr || plan.number < 1 || !known) cannot_read(text);
  return plan;
}

bool is_this_rank() {
  const char* wanted = environment("BLOCK_EIGS_FAULT_RANK", "all");
  const int rank = std::atoi(environment("OMPI_COMM_WORLD_RANK", "0"));
  if (std::strcmp(wanted, "all") == 0) return true;
  if (std::strcmp(wanted, "last") == 0) return rank == std::atoi(environment("OMPI_COMM_WORLD_SIZE", "1")) - 1;
  return rank == std::atoi(wanted);
}

void report(const char* text, long number) {
  const char* base = environment("BLOCK_EIGS_FAULT_REPORT", "");
  if (*base == '\0') return;
  char path[512], line[160];
  std::snprintf(path, sizeof(path), "%s.%s", base, environment("OMPI_COMM_WORLD_RANK", "0"));
  const int length = number < 0 ? std::snprintf(line, sizeof(line), "%s\n", text)
                                : std::snprintf(line, sizeof(line), "%s %ld\n", text, number);
  const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  ::syscall(SYS_write, file, line, length);
  ::syscall(SYS_close, file);
}

}  // namespace faults
