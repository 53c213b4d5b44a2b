import { render } from "preact";
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { report } from "./report";
import { location } from "./router";
import { Alerts } from "./views/alerts";
import { Boundary } from "./views/boundary";
import { Compare } from "./views/compare";
import { Failure, Failures } from "./views/failures";
import { Overview } from "./views/overview";
import { Case } from "./views/case";
import { Review } from "./views/review";
import { Runs } from "./views/runs";
import { Session, Sessions } from "./views/sessions";
import { Results } from "./views/results";
import { Settings } from "./views/settings";
import { Gate, Suite, Suites } from "./views/suites";
import { Trace } from "./views/trace";
import { Traces } from "./views/traces";
import "./style.css";

const THEME = "spanproof.theme";
document.documentElement.dataset.theme = localStorage.getItem(THEME) ?? "";

const VIEWS: [string, string][] = [
  ["/", "Overview"],
  ["/traces", "Traces"],
  ["/failures", "Failures"],
  ["/alerts", "Alerts"],
  ["/compare", "Compare"],
  ["/suites", "Suites"],
  ["/review", "Review"],
  ["/boundary", "Boundary"],
  ["/sessions", "Sessions"],
  ["/settings", "Settings"],
];

// A page that is one file leads back to what it was written for.
const VIEWS_SHOWN: [string, string][] = report ? [[report.route, "Report"]] : VIEWS;

// The view of each address; what a parenthesis holds is given to it.
const ROUTES: [RegExp, (part: string, other: string) => ComponentChildren][] = [
  [/^\/$/, () => <Overview />],
  [/^\/traces$/, () => <Traces />],
  [/^\/traces\/([0-9a-f]+)$/, (id) => <Trace path={`traces/${id}`} />],
  [/^\/(trials\/.+\/[^/]+\/\d+)$/, (path) => <Trace path={path} />],
  [/^\/failures$/, () => <Failures />],
  [/^\/failures\/([^/]+)$/, (id) => <Failure id={id} />],
  [/^\/alerts$/, () => <Alerts />],
  [/^\/compare$/, () => <Compare />],
  [/^\/compare\/runs$/, () => <Runs />],
  [/^\/suites$/, () => <Suites />],
  [/^\/suites\/(.+)\/cases\/([^/]+)$/, (suite, id) => <Case suite={suite} id={id} />],
  [/^\/suites\/(.+)$/, (name) => <Suite name={name} />],
  [/^\/experiments\/(.+)$/, (name) => <Results name={name} />],
  [/^\/gates\/(.+)$/, (name) => <Gate name={name} />],
  [/^\/review$/, () => <Review />],
  [/^\/boundary$/, () => <Boundary />],
  [/^\/sessions$/, () => <Sessions />],
  [/^\/sessions\/(.+)$/, (id) => <Session id={decodeURIComponent(id)} />],
  [/^\/settings$/, () => <Settings />],
];

function viewOf(path: string): ComponentChildren {
  for (const [pattern, view] of ROUTES) {
    const found = path.match(pattern);
    if (found) return view(found[1] ?? "", found[2] ?? "");
  }
  return <Nothing />;
}

function App() {
  const path = location.value.pathname;
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
          {VIEWS_SHOWN.map(([to, text]) => link(to, text, to === "/" ? path === "/" : path.startsWith(new URL(to, location.value).pathname)))}
        </nav>
        <div class="end">
          <button type="button" onClick={switchTheme}>
            light / dark
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {viewOf(path)}
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
