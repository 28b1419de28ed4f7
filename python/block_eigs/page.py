"""The HTML of a report: style sheet, SVG that follows it, and small pieces of well-formed mark-up."""

import io
import re
from html import escape

from block_eigs.style import COLOURS, RAMP, RC

STYLE = """
:root { color-scheme: light dark; --font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; LIGHT }
@media (prefers-color-scheme: dark) { :root { DARK } }
* { box-sizing: border-box; }
html { font: 15px/1.5 var(--font); color: var(--ink); background: var(--surface); -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 2.2rem 1.6rem 4rem; max-width: 68rem; }
body.two { max-width: 96rem; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: 0 0 .2rem; letter-spacing: -.01em; }
h2 { font-size: 1.08rem; margin: 2.4rem 0 .5rem; padding-top: .7rem; border-top: 1px solid var(--line); }
h3 { font-size: .95rem; margin: 1.1rem 0 .3rem; }
p { margin: .35rem 0; max-width: 46rem; }
.lead { color: var(--muted); }
.runs { display: grid; gap: 0 2.2rem; }
.two .runs { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.run { min-width: 0; }
.verdict { display: flex; gap: .65rem; align-items: baseline; margin: 1.1rem 0 1rem; padding: .6rem .85rem; border-left: 4px solid;
  background: var(--band); border-radius: 0 4px 4px 0; }
.verdict b { white-space: nowrap; }
.good { border-color: var(--green); } .good b { color: var(--green); }
.bad { border-color: var(--red); } .bad b { color: var(--red); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.2rem, 1fr)); gap: .9rem 1.2rem; margin: 0; }
.figures div { min-width: 0; }
.figures dt { color: var(--muted); font-size: .8rem; }
.figures dd { margin: 0; font-size: 1.16rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.figures dd small { font-size: .8rem; font-weight: 400; color: var(--muted); display: block; }
figure { margin: .4rem 0 1rem; }
figure svg { display: block; width: 100%; height: auto; overflow: visible; }
figcaption { color: var(--muted); font-size: .86rem; max-width: 46rem; }
.key { white-space: nowrap; margin-right: 1.3em; color: var(--ink); }
.key::before { content: ""; display: inline-block; width: .75em; height: .75em; margin-right: .4em; background: var(--key); border-radius: 2px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 0 1.6rem; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1.1rem; margin: .4rem 0; }
.facts dt { color: var(--muted); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; max-height: 32rem; overflow-y: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; width: 100%; }
th { text-align: right; font-weight: 600; color: var(--muted); position: sticky; top: 0; background: var(--surface); }
th, td { padding: .22rem .7rem .22rem 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
.state { text-align: left; }
th:last-child, td:last-child { padding-right: 0; }
td.word { text-align: left; white-space: normal; } th.word { text-align: left; }
.state::before { content: ""; display: inline-block; width: .6em; height: .6em; margin-right: .45em; border-radius: 50%; background: var(--green); }
.limit::before { background: var(--orange); border-radius: 0; }
.open::before { background: var(--red); border-radius: 0; transform: rotate(45deg); }
pre { font: .82rem/1.45 var(--mono); background: var(--band); padding: .8rem 1rem; border-radius: 4px; overflow-x: auto; margin: .4rem 0; }
.two .run figure svg { max-width: 46rem; }
.two .pair { grid-template-columns: minmax(0, 1fr); }
.two .figures { grid-template-columns: repeat(6, minmax(0, 1fr)); }
.two .figures dd { font-size: 1rem; }
.comparison { max-width: 46rem; margin-top: 1.2rem; }
@media (max-width: 60rem) { .two .runs { grid-template-columns: minmax(0, 1fr); } }
@media print {
  :root { color-scheme: light; LIGHT }
  @page { margin: 15mm 14mm; }
  html { font-size: 10.5px; background: none; print-color-adjust: exact; -webkit-print-color-adjust: exact; } body, body.two { max-width: none; padding: 0; }
  .two .runs { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1.2rem; }
  .scroll { max-height: none; overflow: visible; } th { position: static; }
  figure, .verdict, .figures, .facts, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  pre { white-space: pre-wrap; }
}
"""


def style_sheet():
    def variables(which):
        named = [f"--{name}: {shades[which]};" for name, shades in COLOURS.items()]
        return " ".join(named + [f"--ramp{k}: {shades[which]};" for k, shades in enumerate(RAMP)])

    return STYLE.replace("LIGHT", variables(0)).replace("DARK", variables(1))


_VARIABLES = {shades[0]: f"var(--{name})" for name, shades in COLOURS.items()}
_VARIABLES.update({shades[0]: f"var(--ramp{k})" for k, shades in enumerate(RAMP)})


def svg(figure, name, description):
    """A matplotlib figure as inline SVG whose colours and type are those of the page. `name` is unique on the page."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({**RC, "svg.hashsalt": name}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    drawing = text.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.S)
    drawing = re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", drawing).replace("xlink:href=", "href=")
    drawing = re.sub(r"'DejaVu Sans'(, [^;\"]*)?", "var(--font)", drawing)
    for colour, variable in _VARIABLES.items():
        drawing = drawing.replace(colour, variable)
    drawing = re.sub(r'\bid="([^"]*)"', rf'id="{name}-\1"', drawing)
    drawing = re.sub(r'(href="#|url\(#)', rf"\1{name}-", drawing)
    head = f'<svg role="img" aria-label="{escape(description, quote=True)}"'
    return (
        re.sub(
            r'<svg( height="[^"]*")?|(?<=pt") (?=version)',
            lambda match: head if match.group().startswith("<svg") else " ",
            drawing,
            count=1,
        )
        .replace("\n\n", "\n")
        .strip()
    )


def figure(drawing, caption=""):
    return f"<figure>{drawing}" + (f"<figcaption>{caption}</figcaption>" if caption else "") + "</figure>"


def definition_list(kind, entries):
    """(term, text, small text or nothing) of entries with a text; texts are plain."""
    parts = []
    for term, text, *small in entries:
        if text in (None, ""):
            continue
        more = f"<small>{escape(small[0])}</small>" if small and small[0] else ""
        pair = f"<dt>{escape(term)}</dt><dd>{escape(str(text))}{more}</dd>"
        parts.append(f"<div>{pair}</div>" if kind == "figures" else pair)
    return f'<dl class="{kind}">{"".join(parts)}</dl>' if parts else ""


def table(head, rows):
    """Rows of plain texts, or of (text, class)."""

    def cell(tag, content):
        text, kind = content if isinstance(content, tuple) else (content, "")
        return f'<{tag} class="{kind}">{escape(text)}</{tag}>' if kind else f"<{tag}>{escape(text)}</{tag}>"

    top = "".join(cell("th", name) for name in head)
    body = "".join("<tr>" + "".join(cell("td", content) for content in row) + "</tr>\n" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table></div>'


def document(title, body, kind):
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"/><title>{escape(title)}</title>'
        f'<style>{style_sheet()}</style></head>\n<body class="{kind}">\n{body}\n</body></html>\n'
    )
