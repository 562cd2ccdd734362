// The extension as JupyterLab's own builder takes it: what it shares is imported, not looked up.
// Nothing loads this file as it is shipped; static/remoteEntry.js does the same without a builder.
import * as language from "@codemirror/language";
import * as state from "@codemirror/state";
import * as view from "@codemirror/view";
import * as apputils from "@jupyterlab/apputils";
import * as codemirror from "@jupyterlab/codemirror";
import * as completer from "@jupyterlab/completer";
import * as notebook from "@jupyterlab/notebook";
import * as rendermime from "@jupyterlab/rendermime";
import * as ui from "@jupyterlab/ui-components";
import * as lumino from "@lumino/widgets";

import { plugin } from "./graphql.js";
import { panelPlugin } from "./panel.js";
import { widgetPlugin } from "./widgets.js";

export default [
  plugin({ codemirror, completer, language, lumino, rendermime, state, view }),
  widgetPlugin({ ...lumino, ...rendermime }),
  panelPlugin({ ...lumino, ...apputils, ...notebook, ...ui }),
];
