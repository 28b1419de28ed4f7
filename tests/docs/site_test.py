"""What the documentation site is made with: declarations out of headers, links of pages, blocks of commands."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts" / "site")]

import blocks  # noqa: E402
import cpp_reference  # noqa: E402
import links  # noqa: E402
import pages  # noqa: E402
from declarations import declarations  # noqa: E402

HEADER = """#pragma once
namespace block_eigs {

class Forward;

/// Two lines
/// of text.
template <class T>
class Thing final : public Base<T> {
 public:
  /// Makes one.
  explicit Thing(int n) : n_(n), brace_{1} {}
  int size() const { return n_; }  ///< not "{" collective
  template <class F>
  void each(F f) const {
    for (int i = 0; i < n_; ++i) {
      f(i);
    }
  }
  Thing& operator=(const Thing&) = delete;

 private:
  void hidden();
  int n_;
};

template <class T>
void Thing<T>::hidden() {}
inline const std::array<int, 2> Thing<int>::list = {1, 2};

/// Of two arguments, one with a default.
inline std::vector<int> both(int a, Options options = {}) {
  return {a, options.b};
}

// Not documentation.
constexpr double limit = 2.0;
/// An operator.
bool operator==(const A& a, const B& b);
enum class Kind { one, two };

namespace detail {
int inside();
}
}  // namespace block_eigs
"""


class DeclarationsTest(unittest.TestCase):
    def setUp(self):
        self.found = {one.name: one for one in declarations(HEADER)}

    def test_what_there_is(self):
        self.assertEqual(list(self.found), ["Thing", "both", "limit", "operator==", "Kind"])
        self.assertEqual(self.found["Thing"].text, "Two lines\nof text.")
        self.assertEqual(self.found["limit"].text, "")

    def test_types_without_private_parts_and_bodies(self):
        self.assertEqual(
            self.found["Thing"].code,
            """template <class T>
class Thing final : public Base<T> {
 public:
  /// Makes one.
  explicit Thing(int n);
  int size() const;  ///< not "{" collective
  template <class F>
  void each(F f) const;
  Thing& operator=(const Thing&) = delete;
};""",
        )

    def test_functions_without_bodies(self):
        self.assertEqual(self.found["both"].code, "inline std::vector<int> both(int a, Options options = {});")

    def test_all_public_headers(self):
        """Each gives something unless nothing is declared there, and braces are balanced in all that is shown."""
        root = HERE.parents[1]
        headers = list(cpp_reference.public_headers(root))
        self.assertGreater(len(headers), 100)
        for header in headers:
            for one in declarations(header.read_text()):
                with self.subTest(header=header, name=one.name):
                    self.assertEqual(one.code.count("{"), one.code.count("}"))
                    self.assertNotIn("private:", one.code)
        lobpcg = {one.name for one in declarations((root / "solver/lobpcg/lobpcg.hpp").read_text())}
        self.assertLessEqual({"LobpcgOptions", "EigenResult", "lobpcg"}, lobpcg)

    def test_headers_in_c(self):
        found = declarations(
            '#include <a.h>\n\n/* Of the file. */\n\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n/* Two\n   lines. */\n'
            '__attribute__((visibility("default"))) int f(void);\n\n#ifdef __cplusplus\n}\n#endif\n'
        )
        self.assertEqual([(one.name, one.text, one.code) for one in found], [("f", "Two\nlines.", "int f(void);")])


class PagesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.site = pathlib.Path(folder.name, "tree"), pathlib.Path(folder.name, "site")
        for name, text in {
            "README.md": "# Start\n[docs/one.md](docs/one.md#two) [configs](configs) <!-- seen by none -->\n```sh\n# [a](b.md) <!-- stays -->\n```\n",
            "docs/one.md": "# One\n## Two\n[file](../apps/a.cpp) [here](#two) ![picture](p.png) [far](https://example.org/a.md)\n",
            "docs/new.md": "# New\n",
            "docs/p.png": "",
            "configs/a.yaml": "pairs: 1\n",
            "apps/a.cpp": "int a;\n",
        }.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.site.mkdir()
        pages.Pages(self.root, self.site).write()

    def test_links(self):
        start, one = ((self.site / name).read_text() for name in ("index.md", "one.md"))
        self.assertIn("[](one.md#two) [configs](files/configs.md)", start)
        self.assertIn("[file](files/apps/a.cpp.md) [here](#two) ![picture](p.png) [far](https://example.org/a.md)", one)
        self.assertIn("```cpp\nint a;\n```", (self.site / "files/apps/a.cpp.md").read_text())

    def test_comments_are_left_out_and_code_is_not_touched(self):
        start = (self.site / "index.md").read_text()
        self.assertNotIn("seen by none", start)
        self.assertIn("# [a](b.md) <!-- stays -->", start)

    def test_new_pages_are_in_the_navigation(self):
        self.assertIn(":caption: More\n\nnew\none\n", (self.site / "index.md").read_text())


class LinksTest(unittest.TestCase):
    def test_what_leads_nowhere_is_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.html").write_text(
                '<h1 id="x"></h1><a href="#x">1</a><a href="b.html#y">2</a><a href="https://example.org">3</a><img src="p.png">'
            )
            (folder / "b.html").write_text('<h1 id="y"></h1><a href="a.html#z">4</a><a href="c.html">5</a>')
            self.assertEqual(
                links.broken(folder),
                [
                    "a.html: p.png: there is no such page",
                    "b.html: a.html#z: there is no such place",
                    "b.html: c.html: there is no such page",
                ],
            )


class CommandsTest(unittest.TestCase):
    def test_comments(self):
        text = (
            "```sh\na\n```\n<!-- commands: skipped, needs\na GPU -->\n```python\nb\n```\n```cpp\nc\n```\n"
            "<!-- commands: alone --><!-- commands: before graph.py -->\n```python\nd\n```\n"
        )
        first, second, third = blocks.blocks(text)
        self.assertEqual((first.language, first.code, first.line, first.skipped), ("sh", "a\n", 1, ""))
        self.assertEqual((second.code, second.skipped), ("b\n", "needs a GPU"))
        self.assertTrue(third.alone)
        self.assertEqual([language for language, _ in third.before], ["python"])

    def test_comments_that_mean_nothing(self):
        for text in (
            "<!-- commands: skipped -->\n```sh\n```\n",
            "<!-- commands: before none.py -->\n```sh\n```\n",
            "<!-- commands: long -->\n",
            "<!-- commands: long -->\ntext\n```sh\n```\n",
            "<!-- commands: long -->\n```cpp\n```\n",
            "<!-- commands: other -->\n```sh\n```\n",
        ):
            with self.subTest(text=text), self.assertRaises(blocks.PageError):
                blocks.blocks(text)

    def test_failures_are_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(
                "```sh\ntest -e scripts/demo; echo x > left\nfalse\n```\n```python\na = open('left').read()\n```\n```python\nassert a == 'x\\n'\n1 / 0\n```\n"
                "<!-- commands: alone -->\n```python\nassert 'a' not in globals()\n```\n```sh\nfalse | true\n```\n"
                "<!-- commands: needs no_such_module -->\n```sh\nfalse\n```\n"
            )
            done = subprocess.run(
                [sys.executable, "-B", HERE / "run_commands.py", "--build", folder, page],
                text=True,
                capture_output=True,
                check=False,
            )
        self.assertEqual(done.returncode, 1, done)
        said = [line.split(": ")[2].split(",")[0] for line in done.stdout.splitlines() if "page.md:" in line]
        self.assertEqual(said, ["FAILED", "ok", "FAILED", "ok", "FAILED", "not run"], done)
        self.assertIn("ZeroDivisionError", done.stdout)


if __name__ == "__main__":
    unittest.main()
