"""The interface document as data: endpoints, parameters, resources, states and limits, from its own tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Section:
    """A heading with what stands under it."""

    title: str
    text: str
    tables: list[list[dict[str, str]]] = field(default_factory=list)


@dataclass
class DocumentedEndpoint:
    """One endpoint as documented."""

    number: int
    title: str
    method: str
    path: str
    text: str
    parameters: list[dict[str, str]]


@dataclass
class Document:
    """What the tables say."""

    endpoints: dict[int, DocumentedEndpoint]
    #: Fields of the reply rows, by endpoint.
    resources: dict[int, Section]
    product_types: list[str]
    headers: list[str]
    envelope: list[str]
    limits: dict[int, str]
    other_limits: dict[str, str]
    states: dict[str, list[str]]


def parse(text: str) -> Document:
    """Read the document."""
    top = _sections(text, "## ")
    endpoints: dict[int, DocumentedEndpoint] = {}
    for section in _sections(top["Endpoints"].text, "### ").values():
        number, title = section.title.split(". ", 1)
        line = re.search(r"^(GET|POST) (/\S+)$", section.text, re.M)
        assert line is not None, section.title
        parameters = [row for table in section.tables for row in table if "Parameter" in row]
        endpoints[int(number)] = DocumentedEndpoint(int(number), title, line[1], line[2], section.text, parameters)
    resources: dict[int, Section] = {}
    for section in _sections(top["Resources and their fields"].text, "### ").values():
        match = re.search(r"endpoint (\d+)", section.title)
        assert match is not None, section.title
        resources[int(match[1])] = section
    service = _sections(top["What the service does"].text, "### ")
    states = top["States and transitions"].tables[0]
    numbered, others = top["Limits"].tables
    return Document(
        endpoints,
        resources,
        [row["Value"] for row in service["Conventions"].tables[0]],
        [row["Header"] for row in top["Authentication"].tables[0]],
        [row["Field"] for row in service["Common response envelope"].tables[0]],
        {int(row["Endpoint"].split(" ", 1)[0]): row["Limit"] for row in numbered},
        {row["Item"]: row["Limit"] for row in others},
        {row["Set"]: row["States"].split(", ") for row in states},
    )


def listed_values(rule: str) -> list[str]:
    """The words a rule or description lists: `a (what a is), b or c. Further sentences.` gives a, b, c."""
    while (bare := re.sub(r"\([^()]*\)", "", rule)) != rule:
        rule = bare
    sentences = [sentence for sentence in re.split(r"\.\s+|\.$", rule) if sentence]
    listing = next((sentence for sentence in sentences if ":" in sentence), sentences[0])
    listing = re.sub(r"^[^:]*:", "", listing)
    listing = re.sub(r"^Direction,", "", listing)
    return [word.strip() for part in listing.split(",") for word in part.split(" or ") if word.strip()]


def _sections(text: str, mark: str) -> dict[str, Section]:
    sections: dict[str, Section] = {}
    for part in re.split(rf"^{mark}", text, flags=re.M)[1:]:
        title, _, rest = part.partition("\n")
        sections[title.strip()] = Section(title.strip(), rest, _tables(rest))
    return sections


def _tables(text: str) -> list[list[dict[str, str]]]:
    tables: list[list[dict[str, str]]] = []
    header: list[str] | None = None
    for line in text.splitlines():
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if header is None:
            header = cells
            tables.append([])
        elif not set("".join(cells)) <= set("-: "):
            tables[-1].append(dict(zip(header, cells, strict=True)))
    return tables
