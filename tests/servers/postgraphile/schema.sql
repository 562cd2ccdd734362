-- The tables of the tests: a forum, and one table with every type that PostGraphile exposes.
CREATE EXTENSION citext;
CREATE EXTENSION hstore;
CREATE SCHEMA forum;
SET search_path TO forum, public;

CREATE TYPE post_status AS ENUM ('draft', 'published', 'in_review', 'on_hold');

CREATE TABLE authors (
  id serial PRIMARY KEY,
  name text NOT NULL,
  email citext NOT NULL UNIQUE,
  team integer NOT NULL,
  country text,
  joined_at timestamptz NOT NULL
);

CREATE INDEX ON authors (team); -- PostGraphile 5 filters by indexed columns only
CREATE INDEX ON authors (country);

CREATE TABLE posts (
  id serial PRIMARY KEY,
  author_id integer NOT NULL REFERENCES authors,
  title text NOT NULL,
  status post_status NOT NULL,
  views bigint NOT NULL,
  price numeric(12, 2),
  published_at timestamptz
);
CREATE INDEX ON posts (author_id);

-- A nested list of posts, with a key of two columns.
CREATE TABLE comments (
  post_id integer NOT NULL REFERENCES posts,
  number integer NOT NULL,
  author_id integer REFERENCES authors,
  body text NOT NULL,
  PRIMARY KEY (post_id, number)
);
CREATE INDEX ON comments (author_id);

-- The third level below an author.
CREATE TABLE votes (
  id serial PRIMARY KEY,
  post_id integer NOT NULL,
  number integer NOT NULL,
  value smallint NOT NULL,
  FOREIGN KEY (post_id, number) REFERENCES comments
);
CREATE INDEX ON votes (post_id, number);

CREATE TABLE tags (
  id serial PRIMARY KEY,
  name text NOT NULL UNIQUE
);

CREATE TABLE post_tags (
  post_id integer NOT NULL REFERENCES posts,
  tag_id integer NOT NULL REFERENCES tags,
  PRIMARY KEY (post_id, tag_id)
);
CREATE INDEX ON post_tags (tag_id);

-- No primary key, and rows that are equal in every column.
CREATE TABLE visits (
  page text NOT NULL,
  day date NOT NULL,
  seconds integer
);

CREATE TABLE empty_table (
  id serial PRIMARY KEY,
  author_id integer REFERENCES authors,
  amount numeric,
  measured_at timestamp
);
CREATE INDEX ON empty_table (author_id);

-- What the tests of mutations write to.
CREATE TABLE tasks (
  id serial PRIMARY KEY,
  title text NOT NULL,
  amount numeric,
  big bigint,
  due date,
  starts_at timestamptz,
  local_start timestamp,
  done boolean NOT NULL DEFAULT false,
  labels text[],
  payload jsonb
);

CREATE TABLE readings (
  id serial PRIMARY KEY,
  a_smallint smallint,
  an_integer integer,
  a_bigint bigint,
  a_numeric numeric,
  a_real real,
  a_double double precision,
  a_money money,
  a_text text,
  a_varchar varchar(40),
  a_char char(6),
  a_citext citext,
  a_uuid uuid,
  a_boolean boolean,
  a_date date,
  a_time time,
  a_timetz timetz,
  a_timestamp timestamp,
  a_timestamptz timestamptz,
  an_interval interval,
  a_json json,
  a_jsonb jsonb,
  a_hstore hstore,
  a_bytea bytea,
  an_inet inet,
  a_cidr cidr,
  a_macaddr macaddr,
  a_bit bit varying(8),
  an_xml xml,
  a_status post_status,
  a_point point,
  an_int4range int4range,
  integers integer[],
  bigints bigint[],
  numerics numeric[],
  texts text[],
  statuses post_status[],
  instants timestamptz[]
);

CREATE VIEW author_totals AS
  SELECT a.id AS author_id, a.name, count(p.id) AS posts, sum(p.views) AS views, avg(p.price) AS mean_price
  FROM authors a LEFT JOIN posts p ON p.author_id = a.id
  GROUP BY a.id
  ORDER BY a.id;

CREATE FUNCTION posts_of_team(team integer) RETURNS SETOF posts AS $$
  SELECT p.* FROM forum.posts p JOIN forum.authors a ON a.id = p.author_id
  WHERE a.team = posts_of_team.team
  ORDER BY p.id
$$ LANGUAGE sql STABLE;

-- A list with a range filter, for harvests; the arguments are optional, and posts without a time
-- are in no range.
CREATE FUNCTION posts_published(since timestamptz = NULL, until timestamptz = NULL)
RETURNS SETOF posts AS $$
  SELECT * FROM forum.posts
  WHERE (since IS NULL OR published_at >= since) AND (until IS NULL OR published_at < until)
  ORDER BY published_at, id
$$ LANGUAGE sql STABLE;

CREATE FUNCTION numbers_up_to(top integer) RETURNS SETOF integer AS $$
  SELECT generate_series(1, top)
$$ LANGUAGE sql STABLE;

-- A mutation that takes a list of input objects.
CREATE FUNCTION add_tasks(new_tasks tasks[]) RETURNS SETOF tasks AS $$
  INSERT INTO forum.tasks (title, amount, big, due, starts_at, local_start, done, labels, payload)
  SELECT title, amount, big, due, starts_at, local_start, coalesce(done, false), labels, payload
  FROM unnest(new_tasks)
  RETURNING *
$$ LANGUAGE sql VOLATILE;

CREATE FUNCTION fail(reason text) RETURNS integer AS $$
BEGIN
  RAISE EXCEPTION 'refused: %', reason USING ERRCODE = 'P0001', HINT = 'Do not call this function.';
END
$$ LANGUAGE plpgsql STABLE;

-- Sends what the subscription `listen(topic:)` receives.
CREATE FUNCTION announce_task() RETURNS trigger AS $$
BEGIN
  PERFORM pg_notify('postgraphile:tasks', json_build_object('__node__', json_build_array('tasks', NEW.id))::text);
  RETURN NEW;
END
$$ LANGUAGE plpgsql;
CREATE TRIGGER announce AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION announce_task();
