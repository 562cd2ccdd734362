# Answers documents with the errors of graphql-ruby, the engine of GitHub's API.
#
# Reads {"sdl": ..., "requests": [{"query": ..., "variables": ..., "operationName": ...}]} and writes
# {"version": ..., "answers": [errors of the first request, ...]}. Nothing is executed.
require "graphql"
require "json"

input = JSON.parse($stdin.read)
schema = GraphQL::Schema.from_definition(input["sdl"])
answers = input["requests"].map do |request|
  query = GraphQL::Query.new(
    schema,
    request["query"],
    variables: request["variables"],
    operation_name: request["operationName"],
  )
  query.static_errors.map(&:to_h)
rescue StandardError => error # where the engine has no answer: Int beyond 32 bits, for one
  error.class.name
end
puts JSON.generate({ "version" => GraphQL::VERSION, "answers" => answers })
