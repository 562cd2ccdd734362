"""Single changes of a schema, and how grave @graphql-inspector/core takes each.

The verdicts were recorded from its version 8.0.0 with graphql-js 16.15: the gravest of the changes
that it finds, and the schema coordinate of that change in our words.
"""

BASE = """
schema { query: Query mutation: Mutation }
directive @tag(name: String!, order: Int = 1) repeatable on FIELD_DEFINITION | OBJECT
directive @old on FIELD
scalar Url @specifiedBy(url: "https://a.example")
scalar Plain
"A query."
type Query {
  pet(size: Int = 1, name: String, ids: [ID!]): Pet  node(id: ID!): Node
  search(by: Filter, one: Choice): [Pet]  late: Int @deprecated(reason: "gone")
}
type Mutation { go(n: Int!): Int }
interface Node { id: ID! }
interface Named { name: String }
type Pet implements Node { id: ID! name: String tags: [String] kind: Kind }
type Stone { weight: Float }
type Extra { a: Int }
union Thing = Pet | Stone
enum Kind { A B OLD @deprecated(reason: "x") }
input Filter { text: String = "a" limit: Int need: Int! list: [Int] plain: Int = 3 }
input Choice @oneOf { a: Int b: String }
"""

# The change in words; a text of BASE, or "" for its end; the text in its place; the verdict; and
# the coordinate.
CHANGES = [
    ("type added", "", "type New { a: Int }", "safe", "New"),
    ("type removed", "type Extra { a: Int }\n", "", "breaking", "Extra"),
    ("type kind changed", "type Extra { a: Int }", "enum Extra { a }", "breaking", "Extra"),
    ("type description added", "type Extra {", '"E" type Extra {', "safe", "Extra"),
    ("type description removed", '"A query."\n', "", "safe", "Query"),
    ("type description changed", '"A query."', '"Q."', "safe", "Query"),
    ("field added", "weight: Float", "weight: Float size: Int", "safe", "Stone.size"),
    ("field removed", "tags: [String]", "", "breaking", "Pet.tags"),
    ("field type changed", "weight: Float", "weight: Int", "breaking", "Stone.weight"),
    ("field made non-null", "weight: Float", "weight: Float!", "safe", "Stone.weight"),
    ("field made nullable", "type Pet implements Node { id: ID! name: String",
     "type Pet implements Node { id: ID! name: String!", "safe", "Pet.name"),
    ("field list item non-null", "tags: [String]", "tags: [String!]", "safe", "Pet.tags"),
    ("field became list", "weight: Float", "weight: [Float]", "breaking", "Stone.weight"),
    ("field deprecated", "weight: Float", 'weight: Float @deprecated(reason: "r")', "safe",
     "Stone.weight"),
    ("field deprecation removed", 'late: Int @deprecated(reason: "gone")', "late: Int", "safe",
     "Query.late"),
    ("field deprecation reason changed", '(reason: "gone")', '(reason: "other")', "dangerous",
     "Query.late"),
    ("field description added", "weight: Float", '"w" weight: Float', "safe", "Stone.weight"),
    ("optional argument added", "go(n: Int!)", "go(n: Int!, m: Int)", "dangerous",
     "Mutation.go(m:)"),
    ("required argument added", "go(n: Int!)", "go(n: Int!, m: Int!)", "breaking",
     "Mutation.go(m:)"),
    ("required argument with default added", "go(n: Int!)", "go(n: Int!, m: Int! = 2)", "dangerous",
     "Mutation.go(m:)"),
    ("argument removed", "name: String, ids", "ids", "breaking", "Query.pet(name:)"),
    ("argument type changed", "name: String, ids", "name: Int, ids", "breaking",
     "Query.pet(name:)"),
    ("argument made non-null", "name: String, ids", "name: String!, ids", "breaking",
     "Query.pet(name:)"),
    ("argument made nullable", "go(n: Int!)", "go(n: Int)", "safe", "Mutation.go(n:)"),
    ("argument default added", "name: String, ids", 'name: String = "n", ids', "dangerous",
     "Query.pet(name:)"),
    ("argument default removed", "size: Int = 1", "size: Int", "dangerous", "Query.pet(size:)"),
    ("argument default changed", "size: Int = 1", "size: Int = 2", "dangerous", "Query.pet(size:)"),
    ("required argument default added", "go(n: Int!)", "go(n: Int! = 5)", "dangerous",
     "Mutation.go(n:)"),
    ("argument description added", "go(n: Int!)", 'go("count" n: Int!)', "safe", "Mutation.go(n:)"),
    ("argument deprecated", "size: Int = 1", "size: Int = 1 @deprecated", "safe",
     "Query.pet(size:)"),
    ("argument list item made nullable", "ids: [ID!]", "ids: [ID]", "safe", "Query.pet(ids:)"),
    ("enum value added", "enum Kind { A", "enum Kind { A C", "dangerous", "Kind.C"),
    ("enum value removed", "enum Kind { A B", "enum Kind { A", "breaking", "Kind.B"),
    ("enum value deprecated", "enum Kind { A B", "enum Kind { A B @deprecated", "safe", "Kind.B"),
    ("enum value deprecation removed", ' @deprecated(reason: "x")', "", "safe", "Kind.OLD"),
    ("enum value reason changed", '(reason: "x")', '(reason: "y")', "dangerous", "Kind.OLD"),
    ("enum value description added", "enum Kind { A", 'enum Kind { "first" A', "safe", "Kind.A"),
    ("input field added", "text: String =", "more: Int text: String =", "safe", "Filter.more"),
    ("required input field added", "text: String =", "more: Int! text: String =", "breaking",
     "Filter.more"),
    ("required input field with default added", "text: String =", "more: Int! = 1 text: String =",
     "dangerous", "Filter.more"),
    ("input field removed", "limit: Int ", "", "breaking", "Filter.limit"),
    ("input field type changed", "limit: Int", "limit: String", "breaking", "Filter.limit"),
    ("input field made non-null", "limit: Int", "limit: Int!", "breaking", "Filter.limit"),
    ("input field made nullable", "need: Int!", "need: Int", "safe", "Filter.need"),
    ("input field default added", "limit: Int", "limit: Int = 7", "dangerous", "Filter.limit"),
    ("input field default removed", "plain: Int = 3", "plain: Int", "dangerous", "Filter.plain"),
    ("input field default changed", "plain: Int = 3", "plain: Int = 4", "dangerous",
     "Filter.plain"),
    ("required input field default added", "need: Int!", "need: Int! = 7", "dangerous",
     "Filter.need"),
    ("input field description added", "limit: Int", '"at most" limit: Int', "safe", "Filter.limit"),
    ("input field deprecated", "limit: Int", "limit: Int @deprecated", "safe", "Filter.limit"),
    ("input field list of non-null", "list: [Int]", "list: [Int!]", "breaking", "Filter.list"),
    ("oneOf added",
     'input Filter { text: String = "a" limit: Int need: Int! list: [Int] plain: Int = 3 }',
     "input Filter @oneOf { text: String limit: Int need: Int list: [Int] plain: Int }", "breaking",
     "Filter"),
    ("oneOf removed", "input Choice @oneOf", "input Choice", "safe", "Choice"),
    ("oneOf field added", "a: Int b: String", "a: Int b: String c: Int", "safe", "Choice.c"),
    ("union member added", "= Pet | Stone", "= Pet | Stone | Extra", "dangerous", "Thing"),
    ("union member removed", "= Pet | Stone", "= Pet", "breaking", "Thing"),
    ("interface added to type", "type Pet implements Node {", "type Pet implements Node & Named {",
     "dangerous", "Pet"),
    ("interface removed from type", "type Pet implements Node {", "type Pet {", "breaking", "Pet"),
    ("interface field added", "interface Named { name: String",
     "interface Named { name: String nick: String", "safe", "Named.nick"),
    ("interface implements interface", "interface Named {",
     "interface Named implements Node { id: ID!", "dangerous", "Named"),
    ("directive added", "", "directive @fresh on FIELD", "safe", "@fresh"),
    ("directive removed", "directive @old on FIELD\n", "", "breaking", "@old"),
    ("directive location added", "directive @old on FIELD", "directive @old on FIELD | QUERY",
     "safe", "@old"),
    ("directive location removed", "on FIELD_DEFINITION | OBJECT", "on FIELD_DEFINITION",
     "breaking", "@tag"),
    ("directive argument added", "order: Int = 1)", "order: Int = 1, more: Int)", "safe",
     "@tag(more:)"),
    ("directive required argument added", "order: Int = 1)", "order: Int = 1, more: Int!)",
     "breaking", "@tag(more:)"),
    ("directive argument removed", ", order: Int = 1", "", "breaking", "@tag(order:)"),
    ("directive argument type changed", "order: Int = 1", "order: Float = 1", "breaking",
     "@tag(order:)"),
    ("directive argument made nullable", "name: String!, order", "name: String, order", "safe",
     "@tag(name:)"),
    ("directive argument made non-null", "order: Int = 1", "order: Int! = 1", "breaking",
     "@tag(order:)"),
    ("directive argument default changed", "order: Int = 1", "order: Int = 2", "dangerous",
     "@tag(order:)"),
    ("directive argument default removed", "order: Int = 1", "order: Int", "dangerous",
     "@tag(order:)"),
    ("directive argument default added", "name: String!, order", 'name: String! = "t", order',
     "dangerous", "@tag(name:)"),
    ("directive repeatable removed", " repeatable on", " on", "dangerous", "@tag"),
    ("directive repeatable added", "directive @old on", "directive @old repeatable on", "safe",
     "@old"),
    ("directive description added", "directive @old", '"o" directive @old', "safe", "@old"),
    ("specifiedBy added", "scalar Plain", 'scalar Plain @specifiedBy(url: "https://p.example")',
     "dangerous", "Plain"),
    ("specifiedBy removed", ' @specifiedBy(url: "https://a.example")', "", "dangerous", "Url"),
    ("specifiedBy changed", "https://a.example", "https://b.example", "dangerous", "Url"),
    ("query type changed", "schema { query: Query", "schema { query: Extra", "breaking", "schema"),
    ("mutation type removed", "schema { query: Query mutation: Mutation }",
     "schema { query: Query }", "breaking", "schema"),
    ("mutation type changed", "mutation: Mutation", "mutation: Extra", "breaking", "schema"),
    ("subscription type added", "mutation: Mutation }", "mutation: Mutation subscription: Extra }",
     "safe", "schema"),
    ("schema description added", "schema { query", '"S" schema { query', "none", "schema"),
    ("directive applied to field", "weight: Float", 'weight: Float @tag(name: "x")', "dangerous",
     "Stone.weight"),
    ("directive applied to type", "type Extra {", 'type Extra @tag(name: "x") {', "dangerous",
     "Extra"),
    ("scalar description added", "scalar Plain", '"P" scalar Plain', "safe", "Plain"),
    ("enum type added", "", "enum Fresh { X }", "safe", "Fresh"),
    ("input type added", "", "input Fresh { x: Int }", "safe", "Fresh"),
    ("interface type removed", "interface Named { name: String }\n", "", "breaking", "Named"),
]  # fmt: skip
