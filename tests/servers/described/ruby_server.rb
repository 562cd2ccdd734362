# graphql-ruby, the engine of GitHub's service: connections of arrays, with and without a largest page.
require "graphql"
require "json"
require "webrick"

options = JSON.parse(ARGV[0])
ROWS = JSON.parse(File.read(options["data"])).map { |row| row.transform_keys(&:to_sym) }

class Part < GraphQL::Schema::Object
  field :id, ID, null: false
  field :label, String, null: true
end

class Row < GraphQL::Schema::Object
  field :id, ID, null: false
  field :name, String, null: true
  field :day, GraphQL::Types::ISO8601Date, null: true
  field :moment, GraphQL::Types::ISO8601DateTime, null: true
  field :big, GraphQL::Types::BigInt, null: true
  field :ratio, Float, null: true
  field :extra, GraphQL::Types::JSON, null: true
  field :parts, Part.connection_type, null: false

  def big = object[:big]&.to_i
  def parts = object[:parts].map { |part| part.transform_keys(&:to_sym) }
end

class Query < GraphQL::Schema::Object
  field :rows, Row.connection_type, null: false
  field :capped, Row.connection_type, null: false, max_page_size: 100
  field :nan, Float, null: true
  def rows = ROWS
  def nan = Float::NAN
  def capped = ROWS
end

class ServedSchema < GraphQL::Schema
  query Query
  use GraphQL::Pagination::Connections
end

log = WEBrick::Log.new(File::NULL)
server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: 0, Logger: log, AccessLog: [])
server.mount_proc "/graphql" do |request, response|
  asked = request.body ? JSON.parse(request.body) : request.query
  result = ServedSchema.execute(asked["query"], variables: asked["variables"] || {}, operation_name: asked["operationName"])
  response["Content-Type"] = "application/json"
  response.body = JSON.generate(result.to_h)
end
puts "listening on port #{server.config[:Port]}"
$stdout.flush
Thread.new { $stdin.read; exit! }
server.start
