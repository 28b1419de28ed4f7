"""One self-contained HTML page about a run, or about two side by side.

    python -m block_eigs.report result.h5 [other.h5] [-o report.html]

The page needs nothing but itself: pictures are SVG inside it. It says whether all is done, how every pair converged, the
spectrum with its error bounds, where time and memory went, what was chosen and why, what was proved, and the config."""

import argparse
import os
import sys
from html import escape

import numpy as np

from block_eigs import sections, style
from block_eigs.files import FileError, Result, read_result
from block_eigs.hdf5_reader import DAMAGE, sentence_of
from block_eigs.page import definition_list, document, table

__all__ = ["report", "main"]


def report(results, output=None):
    """The page about one result or two, each a path or what read_result returns; written to `output` if that is given.
    TypeError where it is something else, as what eigsh and solve return is; FileError where a file is damaged."""
    if type(results) not in (list, tuple):  # eigenpairs in memory are of a class that is derived from tuple
        results = [results]
    if len(results) not in (1, 2):
        raise ValueError(f"a report is about one result or two, not {len(results)}")
    runs = [_run_of(result) for result in results]
    try:
        page = document(_title(runs), _body(runs), "one" if len(runs) == 1 else "two")
    except (MemoryError, *DAMAGE) as error:
        files = " or ".join(run.path for run in runs)
        raise FileError(f"{files}: damaged, no page can be made of it: {sentence_of(error)}") from error
    if output is not None:
        with open(output, "w", encoding="utf-8") as file:
            file.write(page)
    return page


def _run_of(result):
    if isinstance(result, (str, os.PathLike)):
        return read_result(result)
    if isinstance(result, Result):
        return result
    raise TypeError(
        "a report is about a result file of block-eigs or block-solve (key 'output' of the config): its path, or what "
        f"read_result returns, not {type(result).__name__}; what eigsh and solve return is drawn by its method plot()"
    )


def _title(runs):
    if len(runs) == 2:
        return f"{_name(runs[0])} and {_name(runs[1])}"
    return f"{runs[0].attributes.get('program', 'block-eigs')}: {_matrix(runs[0])}"


def _name(run):
    return os.path.basename(run.path)


def _matrix(run):
    text = run.attributes.get("matrix", "")
    return os.path.basename(text) if os.path.isabs(text) else text or _name(run)


def _body(runs):
    """All runs in one grid a section, so that what belongs together stands side by side."""
    two = len(runs) == 2
    parts = [f"<header><h1>{escape('Two runs side by side' if two else _title(runs))}</h1>"]
    if not two:
        parts.append(f'<p class="lead">{escape(_subtitle(runs[0]))}</p>')
    parts.append("</header>")
    parts_of_page = [(None, _summary), ("Convergence", sections.convergence)]
    parts_of_page += [
        ("Spectrum" if runs[0].kind == "eigen" else "Residuals", sections.accuracy),
        ("Time and memory", sections.costs),
        ("How it was solved, and what is known of the answer", sections.course),
        ("Status", sections.status),
        ("Config", sections.config),
    ]
    for number, (name, section) in enumerate(parts_of_page):
        columns = [f'<div class="run">{section(run, f"r{k}", runs)}</div>' for k, run in enumerate(runs)]
        heading = f"<h2>{escape(name)}</h2>" if name else ""
        parts.append(f'<section>{heading}<div class="runs">{"".join(columns)}</div></section>')
        if two and number == 0:
            parts.append(_comparison(*runs))
    return "\n".join(parts)


def _subtitle(run):
    ranks = run.attributes.get("ranks", 1)
    return ", ".join(
        text
        for text in (
            f"{run.attributes.get('program', '')} {run.attributes.get('version', '')}".strip(),
            f"{ranks} rank" + ("s" if ranks != 1 else ""),
            run.attributes.get("device", ""),
            os.path.basename(run.path),
        )
        if text
    )


def _summary(run, key, runs):
    total, done = len(run.status), int(np.count_nonzero(run.converged))
    wanted = max(total, run.history.residual_norms.shape[1] if run.history is not None else 0)
    limited = int(np.count_nonzero(run.status == "at_accuracy_limit"))
    if done == wanted:
        verdict = f"all {wanted} {sections.what(run, wanted)} done"
        detail = (
            f"{limited} at the limit of the arithmetic"
            if limited
            else f"to the tolerance {run.requested_tolerance:g}" if run.requested_tolerance else ""
        )
        kind, mark = "good", "✓"
    else:
        verdict, detail = f"{wanted - done} of {wanted} {sections.what(run, wanted)} not converged", run.attributes.get(
            "remark", ""
        )
        kind, mark = "bad", "✗"
    head = ""
    if len(runs) == 2:
        head = f'<h3>{escape(_name(run))}</h3><p class="lead">{escape(_matrix(run))}; {escape(_subtitle(run))}</p>'
    detail = f"<span>{escape(detail)}</span>" if detail else ""
    return (
        head
        + f'<div class="verdict {kind}"><b>{mark} {escape(verdict)}</b>{detail}</div>'
        + definition_list("figures", _key_figures(run))
    )


def _key_figures(run):
    of = run.attributes.get
    memory = run.memory
    return [
        ("rows", style.count(of("rows", 0))),
        ("nonzeros", style.count(of("nonzeros", 0))),
        ("iterations", style.count(of("iterations", 0))),
        ("set-up", style.seconds(of("setup_seconds", 0.0))),
        ("solve", style.seconds(of("solve_seconds", 0.0))),
        (
            "memory",
            style.size(memory.gpu or memory.host) if memory else "",
            "of a rank's GPU" if memory and memory.gpu else "of a rank",
        ),
    ]


def _comparison(one, other):
    """What the second run took, in units of the first, and whether the eigenvalues agree."""

    def ratio(a, b, text):
        return [text(a), text(b), f"{b / a:.2f}" if a > 0 and b > 0 else ""]

    of, to = one.attributes.get, other.attributes.get
    rows = [
        ["set-up"] + ratio(of("setup_seconds", 0.0), to("setup_seconds", 0.0), style.seconds),
        ["solve"] + ratio(of("solve_seconds", 0.0), to("solve_seconds", 0.0), style.seconds),
        ["iterations"] + ratio(of("iterations", 0), to("iterations", 0), style.count),
    ]
    if one.history is not None and other.history is not None:
        rows.append(
            ["columns multiplied with A"] + ratio(one.history.products.sum(), other.history.products.sum(), style.count)
        )
    if one.memory and other.memory:
        rows.append(["memory of a rank"] + ratio(one.memory.host, other.memory.host, style.size))
    rows = [[(row[0], "word")] + row[1:] for row in rows]
    head = [("", "word"), _name(one), _name(other) if _name(other) != _name(one) else "the other", "ratio"]
    return '<section class="comparison">' + table(head, rows) + f"<p>{escape(_agreement(one, other))}</p></section>"


def _agreement(one, other):
    if one.kind != "eigen" or other.kind != "eigen":
        return ""
    if one.attributes.get("rows") != other.attributes.get("rows"):
        return "The matrices have different numbers of rows; eigenvalues are not compared."
    k = min(len(one.eigenvalues), len(other.eigenvalues))
    if k == 0:
        return ""
    apart = np.abs(one.eigenvalues[:k] - other.eigenvalues[:k])
    text = f"The first {k} eigenvalues differ by at most {style.number(apart.max())}"
    if one.error_bounds is None or other.error_bounds is None:
        return text + "."
    bounds = one.error_bounds[:k] + other.error_bounds[:k]
    if not np.isfinite(bounds).all():
        return text + "."
    # Values that agree to the last digits may have bounds that are smaller than their rounding.
    rounding = 4 * np.finfo(float).eps * np.abs(one.eigenvalues[:k])
    beyond = int(np.count_nonzero(apart > bounds + rounding))
    return text + (
        ", which is within the sum of their error bounds."
        if beyond == 0
        else f"; {beyond} differ by more than the sum of their error bounds."
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m block_eigs.report",
        description=__doc__.split("\n\n", 1)[0],
        epilog="The page is one file that needs nothing else.",
    )
    parser.add_argument("result", nargs="+", help="one result file of block-eigs or block-solve, or two")
    parser.add_argument("-o", "--output", default="report.html", help="the page (default: report.html)")
    options = parser.parse_args(arguments)
    if len(options.result) > 2:
        parser.error(f"one result or two, not {len(options.result)}")
    try:
        report(options.result, options.output)
    except (FileError, OSError) as error:
        print(f"block_eigs.report: error: {error}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"block_eigs.report: error: matplotlib is needed for the pictures: {error}", file=sys.stderr)
        return 2
    print(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
