"""Looks for links of the finished site that lead nowhere, pictures and places within pages included."""

import html.parser
import urllib.parse


class _Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.places, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken(folder):
    """A line for each."""
    pages = {}
    for path in folder.rglob("*.html"):
        page = pages[path.resolve()] = _Page()
        page.feed(path.read_text())
    lines = []
    for path, page in sorted(pages.items()):
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                lines.append(f"{path.relative_to(folder.resolve())}: {link}: there is no such page")
            elif anchor and target in pages and anchor not in pages[target].places:
                lines.append(f"{path.relative_to(folder.resolve())}: {link}: there is no such place")
    return lines
