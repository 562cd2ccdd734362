"""A synthetic GitHub: any number of repositories, with the star distribution of the real ones."""

from __future__ import annotations

from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gqlnb.github.repositories import GITHUB_LAUNCH, Language, parse_timestamp
from gqlnb.github.standin.repository_columns import Owners, index_by_owner
from gqlnb.github.standin.repository_search import Population
from gqlnb.option_checks import check_whole_number, explain_keywords, raise_option_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

#: By year: a number of stars, and the number of repositories with as many or more.
#: Counted or measured: 2020 (December, from the public archive of events), 2023 (August, from a
#: complete harvest) at 5 and 50 stars, the 100th rank, the top, and 100,000 stars; of 2026 (August)
#: the top lists and the counts at 50 and 1,000. The others are estimates, rounded.
STAR_ANCHORS: Mapping[int, tuple[tuple[int, int], ...]] = MappingProxyType(
    {
        2020: (
            *((1, 16_386_964), (10, 1_440_459), (100, 243_837), (1_000, 30_811)),
            *((10_000, 1_867), (41_444, 100), (100_000, 16), (317_319, 1)),
        ),
        2023: (
            *((1, 13_000_000), (5, 3_274_587), (50, 552_258), (100, 320_000), (1_000, 46_000)),
            *((10_000, 3_100), (66_480, 100), (100_000, 46), (371_119, 1)),
        ),
        2026: (
            *((1, 16_000_000), (5, 4_100_000), (50, 735_000), (100, 440_000), (1_000, 67_000)),
            *((10_000, 5_600), (57_000, 408), (100_000, 122), (110_446, 100), (541_915, 1)),
        ),
    }
)

_SNAPSHOT_TIMES = {
    2020: "2020-12-01T00:00:00Z",
    2023: "2023-08-01T00:00:00Z",
    2026: "2026-08-22T00:00:00Z",
}
_OWNERS_PER_REPOSITORY = 0.55  # owners for each repository
_ORGANIZATION_SHARE = 0.25
_ARCHIVED_AFTER = 5 * 365 * 86_400  # seconds without a push; then a repository is archived

SYNTHETIC_RULES: Mapping[str, str] = MappingProxyType(
    {
        "stargazerCount": (
            "Exact counts at the anchors of the year (STAR_ANCHORS in "
            "gqlnb.github.standin.synthetic_data); between them a monotone curve through their "
            "logarithms, drawn from by chance."
        ),
        "name": "Two words; no two of an owner are alike.",
        "login": "Two words and a number; 0.55 owners for each repository, a few with hundreds.",
        "owner.__typename": "Every fourth is an organization, by chance.",
        "forkCount": "An eighth of the stars, by chance from about a half to twice of that.",
        "createdAt": "By chance since 2008-04-10, later ones more often.",
        "pushedAt": "By chance between its making and the year's snapshot, later ones more often.",
        "updatedAt": "The last push.",
        "isArchived": "Where nothing was pushed for five years.",
        "primaryLanguage": (
            "By chance, the n-th of a list in proportion to 1/n; one in eight has none."
        ),
        "id": "Made from owner and name, login or language; none of them is an id of GitHub's.",
        "viewer": "An account of the stand-in's own, named by service(viewer=...).",
    }
)

_LANGUAGES = (
    *("Python", "JavaScript", "TypeScript", "Java", "Go", "C++", "C", "HTML", "PHP", "C#"),
    *("Shell", "Rust", "Jupyter Notebook", "Ruby", "Kotlin", "Swift", "Dart", "Vue", "CSS"),
    *("Objective-C", "Lua", "R", "Scala", "PowerShell", "TeX", "Haskell", "Elixir", "Vim Script"),
    *("Clojure", "Perl", "Julia", "MATLAB"),
)
_ADJECTIVES = (
    *("able", "amber", "basic", "blue", "bold", "brave", "bright", "calm", "clear", "clever"),
    *("cold", "cosy", "crisp", "daily", "deep", "dry", "eager", "early", "easy", "fast", "fine"),
    *("firm", "flat", "free", "fresh", "full", "gentle", "giant", "glad", "golden", "grand"),
    *("green", "happy", "hidden", "hollow", "honest", "humble", "idle", "jolly", "keen", "kind"),
    *("large", "lazy", "light", "little", "lively", "long", "loud", "lucky", "mellow", "merry"),
    *("mild", "modern", "neat", "noble", "open", "pale", "plain", "polite", "proud"),
)
_NOUNS = (
    *("anchor", "apple", "arrow", "atlas", "badge", "beacon", "bench", "bridge", "broker"),
    *("brush", "bucket", "button", "cabin", "cable", "camera", "canvas", "castle", "circle"),
    *("client", "clock", "cloud", "compass", "copper", "daemon", "desk", "drum", "editor"),
    *("engine", "falcon", "feather", "ferry", "filter", "forest", "forge", "fountain", "garden"),
    *("gate", "hammer", "harbor", "kernel", "ladder", "lantern", "library", "magnet", "marble"),
    *("meadow", "mirror", "monitor", "notebook", "orbit", "otter", "parser", "pencil", "piano"),
    *("planet", "pocket", "proxy", "puzzle", "rabbit", "river", "robot", "router", "saddle"),
    *("server", "shuttle", "signal", "socket", "spider", "spring", "studio", "switch", "table"),
    *("temple", "thread", "tiger", "tower", "valley", "vessel", "viewer", "violin", "wagon"),
    *("window", "winter", "wizard", "yard"),
)
_SUFFIXES = ("", "-api", "-app", "-book", "-cli", "-demo", "-kit", "-lab", "-lib", "-tools")


@explain_keywords
def population(n: int, seed: int = 0, *, year: int = 2023) -> Population:
    """Return the `n` most starred repositories of a synthetic GitHub.

    To test a harvester: serve it (``github.service(population=...)``), harvest it, and compare with
    :meth:`Population.frame`.

    Parameters
    ----------
    n
        The number of repositories, 1 to the number of that year that had a star.
    seed
        Any whole number from 0 up; the same one always gives the same repositories.
    year
        The year of the distribution: 2020, 2023 (the best known) or 2026.

    Returns
    -------
    Population
        About 45 bytes for each repository. For the same seed and year a smaller population has
        the same stars as the top of a larger one, and other names.

    Raises
    ------
    OptionError
        If `n`, `seed` or `year` is out of range, or not a whole number.

    Notes
    -----
    The number of repositories with s stars or more is exact where it is known; between these
    anchors it follows a monotone cubic (Fritsch and Carlson, 1980) through the logarithms. Between
    two anchors repositories are drawn by chance, each number of stars by its share of the curve, so
    that groups of equal stars are as large, and as uneven, as real ones. ``synthetic`` has the
    rules for the other fields.

    Examples
    --------
    >>> github = population(10_000)
    >>> github[0].stars, github.count("stars:>=66480")
    (371119, 100)
    """
    if year not in tuple(STAR_ANCHORS):  # a list is not hashed
        raise_option_error(
            "year", year, f"one of {', '.join(map(str, STAR_ANCHORS))}, whose shapes are known"
        )
    year = int(year)
    anchors = STAR_ANCHORS[year]
    n = check_whole_number("n", n, least=1, most=anchors[0][1])
    seed = check_whole_number("seed", seed)
    stars = _draw_stars(anchors, n, seed)
    rest = np.random.default_rng([seed, 1])
    owner, owners = _draw_owners(n, rest)
    places, starts = index_by_owner(owner, len(owners))
    name, names = _draw_names(owner, places, starts)
    times = _draw_times(n, year, rest)
    # The order of these draws is part of the seed's meaning: a new one is added at the end.
    noise = rest.lognormal(0.0, 0.35, n)
    language = _draw_languages(n, rest)
    rank = np.empty(n, dtype=np.int32)
    rank[np.argsort(owner.astype(np.int64) * 2**16 + name)] = np.arange(n, dtype=np.int32)
    columns: dict[str, Any] = {
        "stars": stars,
        "forks": (stars * noise / 8).astype(np.int32),
        "created": times[0],
        "pushed": times[1],
        "archived": times[1] < parse_timestamp(_SNAPSHOT_TIMES[year]) - _ARCHIVED_AFTER,
        "language": language,
        "owner": owner,
        "name": name,
        "rank": rank,
        "places": places,
        "starts": starts,
    }
    _sort_ties(columns)
    source = f"synthetic GitHub of {n:,} repositories, shape of {year}, seed {seed}"
    known = (None, *(Language(each) for each in _LANGUAGES))
    return Population(
        source, SYNTHETIC_RULES, **columns, languages=known, owners=owners, names=names
    )


def _sort_ties(columns: dict[str, Any]) -> None:
    """Order repositories of equal stars by owner and name."""
    # Both keys in one number: sorting one column takes a fifth of the time of sorting by two.
    order = np.argsort(columns["stars"].astype(np.int64) * -(2**32) + columns["rank"])
    for name, column in columns.items():
        if name not in {"places", "starts"}:
            columns[name] = column[order]
    columns["places"], columns["starts"] = index_by_owner(
        columns["owner"], len(columns["starts"]) - 1
    )


# -- stars


def _draw_stars(anchors: tuple[tuple[int, int], ...], n: int, seed: int) -> NDArray[np.int32]:
    """Return the stars of the `n` most starred repositories, most first."""
    numbers = np.arange(1, anchors[-1][0] + 2)
    at_least = _interpolate_counts(anchors, numbers)
    parts = [np.array([anchors[-1][0]], dtype=np.int32)]
    for place in range(len(anchors) - 2, -1, -1):
        if sum(map(len, parts)) >= n:
            break
        (low, more), (high, fewer) = anchors[place], anchors[place + 1]
        shares = at_least[low - 1 : high - 1] - at_least[low:high]
        # One generator for each stretch, so that its draws do not depend on `n`.
        drawn = np.random.default_rng([seed, 0, place]).multinomial(
            more - fewer, shares / shares.sum()
        )
        parts.append(np.repeat(np.arange(low, high, dtype=np.int32)[::-1], drawn[::-1]))
    return np.concatenate(parts)[:n]


def _interpolate_counts(
    anchors: tuple[tuple[int, int], ...], numbers: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the number of repositories with each number of stars or more, on the curve."""
    x, y = np.log(np.array(anchors, dtype=np.float64)).T
    width, rise = np.diff(x), np.diff(y) / np.diff(x)
    # The slope at an anchor: the harmonic mean of its neighbours', which keeps the curve monotone.
    weights = np.array([width[1:] + 2 * width[:-1], 2 * width[1:] + width[:-1]])
    inner = weights.sum(axis=0) / (weights[1] / rise[1:] + weights[0] / rise[:-1])
    slope = np.concatenate([rise[:1], inner, rise[-1:]])
    at = np.log(numbers)
    place = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(width) - 1)
    h, t = width[place], (at - x[place]) / width[place]
    counts: NDArray[np.float64] = np.exp(
        y[place] * (1 + 2 * t) * (1 - t) ** 2
        + slope[place] * h * t * (1 - t) ** 2
        + y[place + 1] * t * t * (3 - 2 * t)
        + slope[place + 1] * h * t * t * (t - 1)
    )
    return counts


# -- other fields


def _draw_owners(n: int, rest: Generator) -> tuple[NDArray[np.int32], Owners]:
    """Return the owner of each repository, and the owners; few own many, many own one."""
    count = max(1, round(n * _OWNERS_PER_REPOSITORY))
    pairs = [f"{first}-{second}-" for first, second in product(_ADJECTIVES, sorted(_NOUNS))]
    each = -(-count // len(pairs))
    digits = len(str(each - 1))
    tails = [f"{number:0{digits}}" for number in range(each)]
    logins = [head + tail for head in pairs for tail in tails][:count]
    ends = np.cumsum(np.fromiter(map(len, logins), dtype=np.uint32, count=count), dtype=np.uint32)
    kinds = rest.random(count) < _ORGANIZATION_SHARE
    popular = (count * rest.random(n) ** 1.5).astype(np.int32)
    chosen = rest.permutation(count).astype(np.int32)[popular]
    return chosen, Owners("".join(logins), ends, kinds)


def _draw_names(
    owner: NDArray[np.int32], places: NDArray[np.int32], starts: NDArray[np.int32]
) -> tuple[NDArray[np.uint16], tuple[str, ...]]:
    """Return the name of each repository, unique for its owner, and all names."""
    words = product(_ADJECTIVES, _NOUNS, _SUFFIXES)
    names = sorted(f"{first}-{second}{ending}" for first, second, ending in words)
    names = names[: 2**16]
    count = np.arange(len(owner), dtype=np.int64) - starts[owner[places]]  # of those before it
    # Each owner starts at its own place and takes a step coprime to the number of names, so that
    # no name comes twice.
    begin = owner[places].astype(np.int64) * 7919
    name = np.empty(len(owner), dtype=np.uint16)
    name[places] = (begin + count * _find_coprime_step(len(names))) % len(names)
    return name, tuple(names)


def _find_coprime_step(number: int) -> int:
    """Return a step of about 0.6 of a number that is coprime to it."""
    step = int(number * 0.618)
    while np.gcd(step, number) != 1:
        step += 1
    return step


def _draw_times(n: int, year: int, rest: Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the times of creation and of the last push."""
    begin, end = parse_timestamp(GITHUB_LAUNCH), parse_timestamp(_SNAPSHOT_TIMES[year])
    created = begin + (end - begin) * rest.random(n) ** 0.7
    pushed = created + (end - created) * rest.random(n) ** 0.3
    return created.astype(np.int32), pushed.astype(np.int32)


def _draw_languages(n: int, rest: Generator) -> NDArray[np.uint8]:
    """Return the number of the language of each repository; 0 for none."""
    shares = 1 / np.arange(1, len(_LANGUAGES) + 1)
    bounds = np.cumsum(np.concatenate([[1 / 7], shares / shares.sum()]))
    return np.searchsorted(bounds / bounds[-1], rest.random(n)).astype(np.uint8)
