// Elements of the side panel, and their style: JupyterLab's own colours, in both themes.

/** Return an element with properties and children; texts become text nodes, never HTML. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== ""));
  return element;
}

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g fill="none" stroke-width="1.6">' +
  '<path class="jp-icon3" stroke="#616161" d="M12 3.5l7.4 4.2v8.6L12 20.5l-7.4-4.2V7.7zM12 3.5v6.1M4.6' +
  ' 16.3l5.3-3M19.4 16.3l-5.3-3M14.4 12a2.4 2.4 0 1 1-4.8 0 2.4 2.4 0 1 1 4.8 0"/></g></svg>';
export const STYLE = `
#gqlnb-panel :is(h2, h3, h4, p, ul) { margin: 0; padding: 0; list-style: none; font-size: inherit; overflow-wrap: anywhere; }
#gqlnb-panel :is(h2, h4, summary) { margin: 8px 0 2px; }
#gqlnb-panel code { font-family: var(--jp-code-font-family); font-size: 12px; }
#gqlnb-panel :is(button, input, select) { font: inherit; color: inherit; background: var(--jp-layout-color1);
  border: 1px solid var(--jp-border-color1); border-radius: 3px; padding: 2px 5px; min-width: 0; }
#gqlnb-panel :is(input, select) { width: 100%; box-sizing: border-box; margin-bottom: 4px; padding: 4px 6px; }
#gqlnb-panel :is(button:hover, .gqlnb-row:hover, [aria-selected=true] > .gqlnb-row) { background: var(--jp-layout-color2); }
#gqlnb-panel :is(button, summary, .gqlnb-row) { cursor: pointer; }
#gqlnb-panel .gqlnb-tabs { display: flex; border-bottom: 1px solid var(--jp-border-color2); }
#gqlnb-panel .gqlnb-tabs button { flex: 1; border: 0; border-radius: 0; padding: 6px 2px; border-bottom: 2px solid transparent; }
#gqlnb-panel .gqlnb-tabs [aria-pressed=true] { border-bottom-color: var(--jp-brand-color1); font-weight: 600; }
#gqlnb-panel .gqlnb-main { flex: 1; min-height: 0; overflow: auto; padding: 8px; }
#gqlnb-panel > [role=status]:not(:empty) { padding: 6px 8px; background: var(--jp-layout-color2); max-height: 8em; overflow: auto; }
#gqlnb-panel .gqlnb-wrong { border-left: 3px solid var(--jp-error-color1); padding-left: 6px; }
#gqlnb-panel .gqlnb-list > li { padding: 6px 0; border-bottom: 1px solid var(--jp-border-color2); }
#gqlnb-panel .gqlnb-mark { margin-left: 6px; padding: 0 5px; border: 1px solid var(--jp-border-color1); border-radius: 8px; font-size: 11px; }
#gqlnb-panel .gqlnb-actions { display: flex; flex-wrap: wrap; gap: 3px; margin: 4px 0; }
#gqlnb-panel .gqlnb-schema-tab { display: flex; flex-direction: column; height: 100%; }
#gqlnb-panel .gqlnb-tree { flex: 1 1 50%; min-height: 6em; overflow: auto; }
#gqlnb-panel .gqlnb-tree ul { padding-left: 12px; }
#gqlnb-panel .gqlnb-row { display: flex; gap: 4px; align-items: baseline; white-space: nowrap; padding: 1px 2px; }
#gqlnb-panel .gqlnb-row > * { overflow: hidden; text-overflow: ellipsis; }
#gqlnb-panel .gqlnb-row code { flex-shrink: 1000; color: var(--jp-ui-font-color2); margin-left: auto; padding-left: 6px; }
#gqlnb-panel .gqlnb-row .gqlnb-twist { flex: 0 0 10px; overflow: visible; }
#gqlnb-panel [aria-expanded=true] > .gqlnb-row .gqlnb-twist { transform: rotate(90deg); }
#gqlnb-panel .gqlnb-detail { flex: 1 1 50%; min-height: 8em; overflow: auto; border-top: 1px solid var(--jp-border-color1); padding-top: 6px; margin-top: 6px; }
#gqlnb-panel li > button { border: 0; padding: 0; color: var(--jp-content-link-color); text-align: left; background: none; }
#gqlnb-panel .gqlnb-sample { overflow: auto; }
#gqlnb-panel .gqlnb-sample :is(td, th) { padding: 2px 6px; text-align: left; border-bottom: 1px solid var(--jp-border-color2); font-size: 12px; }
`;
