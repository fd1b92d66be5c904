import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style/tokens.css";
import "./style/frame.css";
import "./style/situation.css";
import "./style/backend.css";
import "./style/changes.css";
import "./style/dialog.css";
import { Api } from "./api.js";
import { App } from "./app.js";
import { Store } from "./store.js";
import { applyStoredTheme } from "./theme.js";

applyStoredTheme();
if (new URLSearchParams(location.search).has("wall")) document.documentElement.dataset.wall = "";
const api = new Api();
const store = new Store(api);
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<App api={api} store={store} />, root);
}
store.start();
