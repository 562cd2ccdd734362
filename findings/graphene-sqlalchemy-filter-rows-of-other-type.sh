#!/usr/bin/env bash
# graphene-sqlalchemy-filter: teams have the tasks of the users with the same numbers.
#
# Guessed before: where both types of a union have a list of tasks, each object has its own tasks.
# What happens: nested lists are loaded in batches, and a batch is kept by the names in the path of
# the answer, not by the type of the parents. `owners/tasks` of the first type is used for the other
# too: team 1 has the tasks of user 1, team 4 has none, and the filter of the teams' list is not
# applied. No error comes. With the teams alone, or with an alias for their list, all is right.
# Versions: graphene-sqlalchemy-filter 1.14.0, graphene-sqlalchemy 2.3.0, graphene 2.1.9,
# SQLAlchemy 1.4.54, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphene-sqlalchemy-filter==1.14.0 \
  graphene-sqlalchemy==2.3.0 graphene==2.1.9 SQLAlchemy==1.4.54 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import graphene
from graphene_sqlalchemy import SQLAlchemyObjectType
from graphene_sqlalchemy_filter import FilterableConnectionField, FilterSet
from sqlalchemy import Column, ForeignKey, Integer, String, create_engine
from sqlalchemy.orm import Session, configure_mappers, declarative_base, relationship

Base = declarative_base()


class User(Base):
    __tablename__ = "users"
    id = Column(Integer, primary_key=True)
    name = Column(String)


class Team(Base):
    __tablename__ = "teams"
    id = Column(Integer, primary_key=True)
    name = Column(String)


class Task(Base):
    __tablename__ = "tasks"
    id = Column(Integer, primary_key=True)
    title = Column(String)
    hours = Column(Integer)
    user_id = Column(ForeignKey("users.id"))
    team_id = Column(ForeignKey("teams.id"))
    user = relationship(User, backref="tasks")
    team = relationship(Team, backref="tasks")


class TaskFilter(FilterSet):
    class Meta:
        model = Task
        fields = {"hours": ["lt"]}


class Filtered(FilterableConnectionField):
    filters = {Task: TaskFilter()}


class UserNode(SQLAlchemyObjectType):
    class Meta:
        model = User
        interfaces = (graphene.relay.Node,)
        connection_field_factory = Filtered.factory


class TeamNode(SQLAlchemyObjectType):
    class Meta:
        model = Team
        interfaces = (graphene.relay.Node,)
        connection_field_factory = Filtered.factory


class TaskNode(SQLAlchemyObjectType):
    class Meta:
        model = Task
        interfaces = (graphene.relay.Node,)


class Owner(graphene.Union):
    class Meta:
        types = (UserNode, TeamNode)


class Query(graphene.ObjectType):
    owners = graphene.List(Owner)

    def resolve_owners(root, info):
        session = info.context["session"]
        return session.query(User).all() + session.query(Team).all()


configure_mappers()
engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
with Session(engine) as session:
    for number in range(1, 4):
        tasks = [Task(title=f"user{number} task{hours}", hours=hours) for hours in (1, 2)]
        session.add(User(id=number, name=f"user{number}", tasks=tasks))
    for number in (1, 4):
        tasks = [Task(title=f"team{number} task{hours}", hours=hours) for hours in (1, 2)]
        session.add(Team(id=number, name=f"team{number}", tasks=tasks))
    session.commit()
schema = graphene.Schema(query=Query, types=[TaskNode])


def ask(selections: str) -> dict:
    with Session(engine) as session:
        answer = schema.execute("{ owners { %s } }" % selections, context={"session": session})
        assert not answer.errors, answer.errors
        return {
            owner["name"]: [edge["node"]["title"] for edge in owner["tasks"]["edges"]]
            for owner in answer.data["owners"]
            if owner
        }


of_users = "... on UserNode { name tasks { edges { node { title } } } }"
of_teams = "... on TeamNode { name tasks(filters: {hoursLt: 2}) { edges { node { title } } } }"
alone = ask(of_teams)
found = ask(of_users + of_teams)
print(alone, found)
assert alone == {"team1": ["team1 task1"], "team4": ["team4 task1"]}, alone
assert found["user1"] == ["user1 task1", "user1 task2"], found
assert found["team1"] == ["user1 task1", "user1 task2"], found
assert found["team4"] == [], found
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/run.py" 2>&1
