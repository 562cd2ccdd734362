// Prettier for GraphQL alone, which keeps comments as graphql-core's printer does not: the formatter
// of cells, loaded by JupyterLab's panel when it is first used.
import * as graphql from "prettier/plugins/graphql";
import { format } from "prettier/standalone";

export const formatText = (text) => format(text, { parser: "graphql", plugins: [graphql] });
