#!/usr/bin/env bash
# GraphQL for Perl: an escape such as \u00e3 in a text of a query stays six characters.
#
# Guessed before: escapes in texts are read as in JSON, so that a client may write "S\u00e3o".
# What happens: \n, \t and \" are read, \u00e3 is not: the resolver gets a backslash, a u and four
# digits. A filter by such a text finds no row, a cursor or an id is another one, and a mutation
# stores the escape. As a variable the text arrives as it is. Python programs that write literals
# with json.dumps() send such escapes for every letter outside ASCII.
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
use utf8;
use open qw(:std :utf8);
use GraphQL::Execution qw(execute);
use GraphQL::Schema;

my $schema = GraphQL::Schema->from_doc("type Query { find(name: String!): [String!]! }");
my @names = ("São", "tea\nroom");
my $root = {find => sub { my $name = $_[0]{name}; [grep { $_ eq $name } @names] }};

sub ask {
    my ($text, $variables) = @_;
    return scalar @{execute($schema, $text, $root, undef, $variables)->{data}{find}};
}

my @found = (
    ask(q({ find(name: "São") })), ask(q({ find(name: "S\u00e3o") })),
    ask(q({ find(name: "tea\nroom") })), ask(q(query ($n: String!) { find(name: $n) }), {n => "São"}),
);
print "rows found: @found\n";
die "changed" if "@found" ne "1 0 1 1";
PERL
libraries=$(find "$folder/files/usr" -type d -path '*/perl5' -printf '%p:' -o -type d -path '*/perl5/5.*' -printf '%p:')
PERL5LIB="$libraries" perl run.pl
