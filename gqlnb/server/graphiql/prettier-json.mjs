// Prettier's part for JSON with comments, as variables are typed: GraphiQL asks its parser and
// printer of JavaScript, half a megabyte, for nothing else.
import { applyEdits, format } from "jsonc-parser";

const LAYOUT = { insertSpaces: true, tabSize: 2, keepLines: false };

export const parsers = {
  jsonc: { parse: (text) => ({ text }), astFormat: "whole", locStart: () => 0, locEnd: ({ text }) => text.length },
};
export const printers = {
  whole: { print: ({ node: { text } }) => applyEdits(text, format(text, undefined, LAYOUT)) },
};
