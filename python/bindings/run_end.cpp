#include "python/bindings/run_end.hpp"

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace block_eigs::python {

namespace nb = nanobind;

namespace {

std::atomic<int> at_work = 0;
std::atomic<bool> ending = false;

}  // namespace

RunAtWork::RunAtWork() {
  check_interpreter();
  ++at_work;
}

RunAtWork::~RunAtWork() { --at_work; }

void check_interpreter() {
  if (!ending) return;
  PyErr_SetString(PyExc_SystemExit, "the interpreter is ending");
  throw nb::python_error();
}

void end_runs() {
  using Clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::seconds(10);
  ending = true;
  const nb::gil_scoped_release released;
  const auto deadline = Clock::now() + patience;
  while (at_work > 0 && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool runs_are_at_work() { return at_work > 0; }

}  // namespace block_eigs::python
