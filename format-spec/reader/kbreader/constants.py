"""The numbers of the tables in scores.md, which a test compares with the engine."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "scores.md"


def table(title):
    """The rows of the first table below a heading: name and numbers."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1]
    found, rows = {}, section[section.index("\n|") + 1 :].split("\n\n")[0].splitlines()
    for row in rows[2:]:
        name, *numbers = (cell.strip() for cell in row.strip("|").split("|"))
        found[name] = [float(number) for number in numbers]
    return found


CONSTANTS = {name: number for name, (number,) in table("Constants").items()}
# Of a hit with keyword and vector score, keyword score alone, and vector score alone.
WEIGHTS = zip(*table("The score of a hit").values(), strict=True)
CALIBRATION = dict(zip(("hybrid", "keyword", "semantic"), WEIGHTS, strict=True))
