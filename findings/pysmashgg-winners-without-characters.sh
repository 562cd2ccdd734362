#!/usr/bin/env bash
# pysmashgg: a game whose characters nobody reported has no winner, and the list is the shorter.
#
# Guessed before: `gameWinners` of a set has the winner of each game, in the order of the games.
# What happens: a game with null for `selections`, as start.gg has it where no characters are
# reported, is left out with its winner. The set that ended 3 to 2 has the winners of two games, in
# the places of the first two, beside the scores 3 and 2; one without any characters has none. A set
# with an opponent who is not known yet is no row of the page, so that fewer than 18 rows are no end.
# Versions: pysmashgg 1.2.0.1, requests 2.32.5, graphql-core 3.2.6, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pysmashgg==1.2.0.1 requests==2.32.5 \
  graphql-core==3.2.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from types import SimpleNamespace
from unittest.mock import patch

import pysmashgg
from graphql import build_schema, graphql_sync

schema = build_schema("""
type Query { tournament(slug: String): Tournament event(id: ID): Event }
type Tournament { id: ID name: String events: [Event] }
type Event {
  id: ID name: String slug: String tournament: Tournament
  sets(page: Int, perPage: Int, sortType: SetSortType): SetConnection
}
enum SetSortType { STANDARD }
type SetConnection { nodes: [Set] }
type Set {
  id: ID fullRoundText: String games: [Game] slots: [Slot] phaseGroup: PhaseGroup
}
type Game { winnerId: Int selections: [GameSelection] }
type GameSelection { selectionValue: Int entrant: Entrant }
type Slot { entrant: Entrant standing: Standing }
type Standing { id: ID placement: Int stats: StandingStats }
type StandingStats { score: Score }
type Score { value: Float }
type Entrant { id: ID name: String participants: [Participant] }
type Participant { entrants: [Entrant] player: Player }
type Player { id: ID gamerTag: String }
type PhaseGroup { id: ID phase: Phase }
type Phase { name: String }
""")
ada, bob = [
    {
        "id": number,
        "name": name,
        "participants": [{"entrants": [{"id": number}], "player": {"id": number, "gamerTag": name}}],
    }
    for number, name in ((1, "ada"), (2, "bob"))
]
chosen = [{"selectionValue": 7, "entrant": ada}, {"selectionValue": 9, "entrant": bob}]


def make_set(number: int, games: list, *opponents: dict) -> dict:
    slots = []
    for entrant, placement, score in zip(opponents, (1, 2), (3, 2)):
        standing = {"id": number, "placement": placement, "stats": {"score": {"value": score}}}
        slots.append({"entrant": entrant, "standing": standing})
    group = {"id": 5, "phase": {"name": "Bracket"}}
    return {"id": number, "fullRoundText": "Final", "games": games, "slots": slots, "phaseGroup": group}


winners = [1, 2, 2, 1, 1]
some = [{"winnerId": winner, "selections": None} for winner in winners]
for place in (1, 4):
    some[place]["selections"] = chosen
none = [{"winnerId": winner, "selections": None} for winner in winners]
all_of_them = [{"winnerId": winner, "selections": chosen} for winner in winners]
sets = [
    make_set(10, all_of_them, ada, bob),
    make_set(11, some, ada, bob),
    make_set(12, none, ada, bob),
    make_set(13, [], ada, None),
]
event = {"id": 3, "name": "Melee", "slug": "tournament/cup/event/melee", "sets": {"nodes": sets}}
event["tournament"] = {"id": 4, "name": "Cup"}
root = {"tournament": {"events": [event]}, "event": event}


def post(url: str, json: dict, headers: dict) -> SimpleNamespace:
    answer = graphql_sync(schema, json["query"], root, variable_values=json["variables"])
    assert not answer.errors, answer.errors
    return SimpleNamespace(status_code=200, json=lambda: answer.formatted)


with patch("requests.post", post):
    rows = pysmashgg.SmashGG("key", False).tournament_show_sets("cup", "melee", 1)
found = {
    row["id"]: (row["gameWinners"], row["entrant1Score"], row["entrant2Score"]) for row in rows
}
print(found)
assert found == {"10": (winners, 3, 2), "11": ([2, 1], 3, 2), "12": ([], 3, 2)}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
