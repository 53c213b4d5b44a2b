import { render } from "preact";
import { useState } from "preact/hooks";
import { Overview } from "./views/overview";
import { location } from "./router";
import { Trace } from "./views/trace";
import { Traces } from "./views/traces";
import "./style.css";

const THEME = "spanproof.theme";
document.documentElement.dataset.theme = localStorage.getItem(THEME) ?? "";

function App() {
  const path = location.value.pathname;
  const trace = path.match(/^\/traces\/([0-9a-f]+)$/);
  const [theme, setTheme] = useState(document.documentElement.dataset.theme ?? "");
  const switchTheme = () => {
    const dark = theme === "dark" || (theme === "" && matchMedia("(prefers-color-scheme: dark)").matches);
    const next = dark ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem(THEME, next);
    setTheme(next);
  };
  const link = (to: string, text: string, chosen: boolean) => (
    <a href={to} aria-current={chosen ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <strong>Spanproof</strong>
        <nav aria-label="Views">
          {link("/", "Overview", path === "/")}
          {link("/traces", "Traces", path.startsWith("/traces"))}
        </nav>
        <div class="end">
          <button type="button" onClick={switchTheme}>
            light / dark
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {trace ? <Trace id={trace[1]!} /> : path === "/traces" ? <Traces /> : path === "/" ? <Overview /> : <Nothing />}
      </main>
    </>
  );
}

function Nothing() {
  return (
    <div class="empty">
      <h1>There is no such page</h1>
      <p>
        <a href="/">Overview</a> shows whether anything is wrong now, <a href="/traces">Traces</a> lists every run.
      </p>
    </div>
  );
}

render(<App />, document.getElementById("app")!);
