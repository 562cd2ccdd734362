#!/usr/bin/env bash
# GraphQL for Perl: null for a variable becomes its default, and defaults in input objects are ignored.
#
# Guessed before: a variable that is null stays null, as its default is for a variable that is not
# given; and a member of an input object that is left out has the default of the schema.
# What happens: it is the other way round. `$size: Int = 5` with null is 5, so that "no limit" is a
# limit of five rows. `slice: {offset: 2}` reaches the resolver without the declared `limit: Int = 3`,
# while introspection names that default.
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

my $schema = GraphQL::Schema->from_doc("
    input Slice { limit: Int = 3 offset: Int = 0 }
    type Query { count(size: Int, slice: Slice): String }
");
my $json = JSON::PP->new->canonical->allow_nonref;
my $root = {count => sub { $json->encode($_[0]) }};

sub ask {
    my ($text, $variables) = @_;
    return execute($schema, $text, $root, undef, $variables)->{data}{count};
}

my $query = q(query ($size: Int = 5) { count(size: $size) });
my @found = (
    ask($query, {}), ask($query, {size => undef}),
    ask(q({ count(size: null) })), ask(q({ count(slice: {offset: 2}) })),
);
print "$_\n" for @found;
my @expected = (q({"size":5}), q({"size":5}), q({"size":null}), q({"slice":{"offset":2}}));
for (0 .. 3) { die "changed: $found[$_]" if $found[$_] ne $expected[$_]; }
PERL
libraries=$(find "$folder/files/usr" -type d -path '*/perl5' -printf '%p:' -o -type d -path '*/perl5/5.*' -printf '%p:')
PERL5LIB="$libraries" perl run.pl
