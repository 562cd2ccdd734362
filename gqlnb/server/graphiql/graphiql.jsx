// GraphiQL as one function, for the page of the server and for the Explorer in a notebook. They hand
// in what differs: how a request is sent.
import { GraphiQL, HISTORY_PLUGIN } from "graphiql";
import { ImagePreview, ToolbarButton, markdown, useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { parse } from "graphql";
import { TabFocus } from "monaco-editor/esm/vs/editor/browser/config/tabFocus.js";
import { MonacoGraphQLAPI } from "monaco-graphql/esm/api.js";
import { useEffect } from "react";
import { createRoot } from "react-dom/client";
import "graphiql/style.css";

// What a schema or an answer says must make the browser ask nobody: no pictures, neither by a link in
// a description (below, in `schemaOf`) nor by a path in an answer. A link opens beside this page.
ImagePreview.shouldRender = () => false;
markdown.renderer.rules.link_open = (tokens, place, options, _env, renderer) => {
  tokens[place].attrSet("target", "_blank");
  tokens[place].attrSet("rel", "noopener noreferrer");
  return renderer.renderToken(tokens, place, options);
};

// Who has no mouse must get out of an editor as they came in. Enter indents by itself, the toolbar
// lays out, and Ctrl-M has Tab indent again.
TabFocus.setTabFocusMode(true);

// The language service is one for the page, and GraphiQL tells it its schema as if there were no
// other. Each editor has a schema of its own here; both are named after the view.
const schemas = new Map();
const tellSchemas = MonacoGraphQLAPI.prototype.setSchemaConfig;
MonacoGraphQLAPI.prototype.setSchemaConfig = function setSchemaConfig(given) {
  for (const config of given) {
    const view = config.uri.replace(/schema\.graphqls?$/, "");
    schemas.set(view, { ...config, fileMatch: [`file:///${view}operation.graphql`] });
  }
  tellSchemas.call(this, [...schemas.values()]);
};

// The history is one for the page, too: GraphiQL writes that of every view where the newest keeps
// its own. So all keep it here, and a new view takes nothing from those before it.
const SHARED = new Set(["graphiql:queries", "graphiql:favorites"]);
const history = new Map();

/** Return a storage that is forgotten with the page: what is typed may be none of others' business. */
function memory(kept = new Map([["graphiql:secondaryEditorFlex", "2"]])) { // room for three variables
  const of = (name) => (SHARED.has(name) ? history : kept);
  return {
    getItem: (name) => of(name).get(name) ?? null,
    setItem: (name, value) => void of(name).set(name, String(value)),
    removeItem: (name) => void of(name).delete(name),
    clear: () => kept.clear(),
    get length() {
      return kept.size;
    },
    copy: () => new Map(kept),
  };
}

// The same list at each rendering: GraphiQL closes its open plugin when it is given another one.
const PLUGINS = [HISTORY_PLUGIN];

/** Hand out the editors as they come, to read and to set what stands in them. */
function Editors({ editors, answer }) {
  const query = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  const headers = useGraphiQL((state) => state.headerEditor);
  const response = useGraphiQL((state) => state.responseEditor);
  const tabs = useGraphiQL((state) => state.tabs);
  const activeTabIndex = useGraphiQL((state) => state.activeTabIndex);
  const { updateActiveTabValues } = useGraphiQLActions();
  useEffect(() => {
    Object.assign(editors, { query, variables, response, tabs, activeTabIndex });
  }, [query, variables, response, tabs, activeTabIndex]);
  useEffect(() => headers?.updateOptions({ readOnly: true }), [headers]); // the client has them
  useEffect(() => {
    if (!response || !answer) return;
    const text = answer.shown ?? JSON.stringify(exactly(answer.text), null, 2);
    response.setValue(text);
    updateActiveTabValues({ response: text });
  }, [response, answer]);
  return null;
}

// Numbers that JavaScript would not give back as they were written.
const INEXACT = /\d{16}|\d\.\d|\d[eE]/;

/** Read JSON, its numbers as they are written: to be shown, not to be counted with. */
function exactly(text) {
  if (!JSON.rawJSON || !INEXACT.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_name, value, { source } = {}) =>
    typeof value === "number" && String(value) !== source ? JSON.rawJSON(source) : value,
  );
}

/** Read the answer to introspection, its pictures in Markdown as the text that they are written in. */
const schemaOf = (text) => {
  if (!text.includes("![")) return JSON.parse(text); // several times faster
  return JSON.parse(text, (_name, value) => (typeof value === "string" ? value.replaceAll("![", "!\\[") : value));
};

/** Return variables as JSON: as they are typed, or as GraphiQL reads comments and trailing commas. */
function asJson(typed, read) {
  try {
    JSON.parse(typed);
    return typed;
  } catch {
    return read === undefined ? "" : JSON.stringify(read);
  }
}

/**
 * Return what GraphiQL calls to send a request, made of `run`.
 *
 * An observable, because only that can be stopped while nothing comes; what is stopped is told.
 */
const fetching = (run, editors) => (params, { documentAST } = {}) => ({
  subscribe({ next, error, complete }) {
    const introspection = params.operationName === "IntrospectionQuery" && !documentAST;
    const typed = introspection ? "" : (editors.variables?.getValue() ?? "");
    const request = {
      ...operationOf(params),
      query: params.query,
      variables: asJson(typed, params.variables),
      introspection,
    };
    const stop = run(request, {
      next: (text) => next(introspection ? schemaOf(text) : exactly(text)),
      error: (words) => error(new Error(words)),
      complete,
    });
    return { unsubscribe: stop };
  },
});

/** Return which operation is run, and whether it is a subscription; GraphiQL may be behind the text. */
function operationOf({ query, operationName }) {
  let operations = [];
  try {
    operations = parse(query).definitions.filter(({ operation }) => operation);
  } catch {
    // whoever executes it says what is wrong
  }
  const meant = operations.find(({ name }) => name?.value === operationName);
  const subscription = (meant ?? operations[0])?.operation === "subscription";
  return { operationName: meant?.name?.value ?? null, subscription };
}

/** Return a toolbar with buttons of one's own: {label, icon, onClick}; an icon is the path of an SVG. */
const toolbar = (buttons) => (
  <GraphiQL.Toolbar>
    {({ prettify, copy, merge }) => (
      <>
        {prettify}
        {merge}
        {copy}
        {buttons.map(({ label, icon, onClick }) => (
          <ToolbarButton key={label} label={label} onClick={onClick}>
            <svg className="graphiql-toolbar-icon" viewBox="0 0 16 16" aria-hidden="true">
              <path d={icon} fill="none" stroke="currentColor" strokeWidth="1.5" />
            </svg>
          </ToolbarButton>
        ))}
      </>
    )}
  </GraphiQL.Toolbar>
);

/**
 * Show GraphiQL in an element.
 *
 * `options`:
 *   run(request, {next, error, complete})  sends a request and returns what stops it. `request` has
 *       query, variables (JSON text, or nothing), operationName, and whether it is a subscription
 *       or GraphiQL's own introspection; `next` takes the JSON text of an answer, `error` words;
 *   theme  "light" or "dark";  query, variables  what to begin with;
 *   headers  what the client sends, as JSON to read, in a pane of its own;
 *   answer  {text}, the JSON of an answer to show;
 *   buttons  of the toolbar;  onEdit()  is called after a change of a text or a tab, or shortly later.
 * Returned are set(options), to change some of them, text(), what stands in the editors, unmount(),
 * and leave(): it unmounts, and returns options for a later mount() that goes on from there.
 */
export function mount(element, options) {
  const editors = {};
  const prefix = `gqlnb${crypto.randomUUID()}`;
  const storage = memory(options.kept);
  const fetcher = fetching((...given) => now.run(...given), editors);
  const text = () => ({
    query: editors.query?.getValue() ?? "",
    variables: editors.variables?.getValue() ?? "",
  });
  const edited = () => now.onEdit?.();
  // Editors of several views would share their texts if their names were equal.
  const root = createRoot(element, { identifierPrefix: prefix });
  let now = options;
  const leaving = () => {
    const { tabs, activeTabIndex, response } = editors;
    const { query, variables, kept, answer } = now;
    if (!response) return { query, variables, kept, answer }; // the editors are not there yet
    const shown = { ...text(), response: response.getValue() };
    // GraphiQL itself would store the tabs without their answers, and half a second later.
    const whole = tabs.map((tab, at) => ({ ...tab, ...(at === activeTabIndex && shown), headers: null }));
    return {
      ...text(),
      kept: storage.copy().set("graphiql:tabState", JSON.stringify({ activeTabIndex, tabs: whole })),
      answer: shown.response ? { shown: shown.response } : undefined,
    };
  };
  const unmount = () => {
    now = { ...now, onEdit: undefined }; // GraphiQL calls some time after a change
    root.unmount();
    for (const view of schemas.keys()) if (view.includes(prefix)) schemas.delete(view);
  };
  const render = () => {
    const { theme, query, variables, headers, answer, buttons = [] } = now;
    root.render(
      <GraphiQL
        fetcher={fetcher}
        storage={storage}
        defaultTheme={theme} // editors are made before the next line is heeded
        forcedTheme={theme}
        initialQuery={query}
        initialVariables={variables || undefined}
        defaultEditorToolsVisibility="variables"
        initialHeaders={headers}
        defaultHeaders={headers}
        isHeadersEditorEnabled={headers !== undefined}
        showPersistHeadersSettings={false}
        inputValueDeprecation
        schemaDescription
        plugins={PLUGINS}
        onEditQuery={edited}
        onEditVariables={edited}
        onTabChange={edited}
      >
        <GraphiQL.Logo>
          <></>
        </GraphiQL.Logo>
        {toolbar(buttons)}
        <Editors editors={editors} answer={answer} />
      </GraphiQL>,
    );
  };
  render();
  return {
    set(changed) {
      now = { ...now, ...changed };
      render();
    },
    text,
    unmount,
    leave() {
      const left = leaving();
      unmount();
      return left;
    },
  };
}
