#!/usr/bin/env bash
# GraphQL for Perl: a field that the type does not have is left out of the answer, without an error.
#
# Guessed before: as in other servers, a query with a misspelt field is refused.
# What happens: nothing checks a document against the schema. The rows come without the column, and
# HTTP clients see a usual answer with data and no errors. At the root even the data is null, also
# without an error. Whoever builds a table from the rows lacks a column, or gets one of nulls.
# Versions: Debian libgraphql-perl 0.54-1, Perl 5.36.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
needed=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances libgraphql-perl | grep -E '^lib.*-perl$' | sort -u)
for package in $needed; do
    test "$package" = libgraphql-perl && package=libgraphql-perl=0.54-1
    apt-get download --quiet --quiet "$package" >/dev/null 2>&1 || true # some are virtual
done
for file in *.deb; do dpkg -x "$file" files; done
cat >run.pl <<'PERL'
use strict;
use warnings;
use GraphQL::Execution qw(execute);
use GraphQL::Schema;
use JSON::PP;

my $schema = GraphQL::Schema->from_doc("type Query { parts: [Part!]! } type Part { id: ID! price: Float }");
my $root = {parts => [{id => 1, price => 2.5}, {id => 2, price => 3.5}]};

sub ask {
    my $answer = execute($schema, shift, $root);
    return JSON::PP->new->canonical->encode($answer);
}

my @found = (ask("{ parts { id price } }"), ask("{ parts { id pirce } }"), ask("{ prats { id } }"));
print "$_\n" for @found;
my @expected = (
    q({"data":{"parts":[{"id":"1","price":2.5},{"id":"2","price":3.5}]}}),
    q({"data":{"parts":[{"id":"1"},{"id":"2"}]}}),
    q({"data":null}),
);
for (0 .. 2) { die "changed: $found[$_]" if $found[$_] ne $expected[$_]; }
PERL
libraries=$(find "$folder/files/usr" -type d -path '*/perl5' -printf '%p:' -o -type d -path '*/perl5/5.*' -printf '%p:')
PERL5LIB="$libraries" perl run.pl
