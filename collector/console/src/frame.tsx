// The frame of every page: side bar, the bar with project, window and search, and on a phone a drawer and a bar of five.
import { ActionIcon, Button, Drawer, Kbd, Modal, NativeSelect, NavLink } from "@mantine/core";
import { Outlet, useLocation } from "@tanstack/react-router";
import { BadgeCheck, Keyboard, Menu, Search } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import type { Schema } from "./api";
import { ThemeSwitch } from "./controls";
import { addressOf, addressWith, chosenProject, go, here, isTyping } from "./location";
import { GROUPS, pageOf, PHONE_PAGES, type PageEntry } from "./pagelist";
import type { Parameters } from "./query";
import { Link, nameOfWindow, useHours, useSteadyAnswer, WINDOWS } from "./parts";

export { Missing } from "./controls";

const Finder = lazy(() => import("./finder"));

const COUNTED = 200;

// Pages of one trace, one session, two runs: a window changes nothing there.
const WITHOUT_WINDOW = /^\/(traces|sessions)\/.|^\/compare\/runs/;

// Second keys of `g`.
const GO_KEYS: Record<string, string> = {
  o: "/", t: "/traces", c: "/sessions", f: "/failures", r: "/review", a: "/alerts", s: "/suites", e: "/experiments", d: "/compare", b: "/boundary", ",": "/settings",
};

const EVERYWHERE: [string, string][] = [
  ["⌘ K", "find a page, a trace, a case, a rule"],
  ["/", "go to the query line of the traces"],
  ["g o", "Overview; g t Traces, g c Sessions, g f Failures, g r Review, g a Alerts"],
  ["g s", "Suites; g e Experiments, g d Compare, g b Boundary, g , Settings"],
  ["?", "this list"],
];

const PAGE_KEYS: [RegExp, [string, string][]][] = [
  [/^\/traces$/, [["j k", "next and previous row"], ["x", "pick a row"], ["o", "open a row"]]],
  [
    /^\/(traces|trials)\/./,
    [["j k", "next and previous step"], ["o", "open and close the details of a step"], ["[ ]", "previous and next layer"], ["Esc", "leave a claim"]],
  ],
  [/^\/review$/, [["j k", "next and previous card"], ["a", "agree"], ["d", "disagree"], ["s", "skip the card"], ["m", "take the card, or give it back"]]],
];

export function Frame() {
  const { pathname } = useLocation();
  const [isDrawn, setDrawn] = useState(false);
  const [isFinding, setFinding] = useState(false);
  const [isHelped, setHelped] = useState(false);
  useFrameKeys({ find: () => setFinding(true), help: () => setHelped((open) => !open) });
  useEffect(() => setDrawn(false), [pathname]);
  const page = pageOf(pathname);
  return (
    <div className="frame">
      <Link className="skip" href="#main">Skip to the content</Link>
      <aside className="sidebar">
        <Brand />
        <ProjectSelect />
        <Navigation label="Pages" page={page} />
      </aside>
      <div className="column">
        <header className="bar">
          <ActionIcon className="phone" variant="subtle" color="gray" size={32} aria-label="menu" onClick={() => setDrawn(true)}>
            <Menu size={18} />
          </ActionIcon>
          <strong className="page-name">{page?.name ?? "Spanproof"}</strong>
          <span className="end">
            {page?.hours === undefined || WITHOUT_WINDOW.test(pathname) ? null : <WindowSelect page={page} />}
            {pathname === "/" ? <CompareSelect /> : null}
            <Button className="wide" leftSection={<Search size={13} />} rightSection={<Kbd size="xs">⌘K</Kbd>} onClick={() => setFinding(true)}>
              find
            </Button>
            <ActionIcon className="phone" variant="default" size={28} aria-label="find" onClick={() => setFinding(true)}>
              <Search size={15} />
            </ActionIcon>
            <ActionIcon className="wide" variant="default" size={28} aria-label="keys" title="keys: ?" aria-expanded={isHelped} onClick={() => setHelped(!isHelped)}>
              <Keyboard size={15} />
            </ActionIcon>
            <ThemeSwitch />
          </span>
        </header>
        <main id="main" tabIndex={-1}><Outlet /></main>
      </div>
      <nav className="phone-bar" aria-label="Main pages">
        {PHONE_PAGES.map((each) => (
          <Link key={each.path} href={addressOf(each.path)} aria-current={each === page ? "page" : undefined}>
            <each.icon size={18} aria-hidden="true" />
            {each.name}
          </Link>
        ))}
        <button type="button" onClick={() => setDrawn(true)}>
          <Menu size={18} aria-hidden="true" />
          More
        </button>
      </nav>
      <Drawer opened={isDrawn} onClose={() => setDrawn(false)} size={260} title={<Brand />} closeButtonProps={{ "aria-label": "close" }}>
        <ProjectSelect />
        <Navigation label="All pages" page={page} />
      </Drawer>
      <Modal opened={isHelped} onClose={() => setHelped(false)} title="Keys" transitionProps={{ duration: 0 }} closeButtonProps={{ "aria-label": "close" }}>
        <Help path={pathname} />
      </Modal>
      {isFinding ? <Suspense><Finder onClose={() => setFinding(false)} showKeys={() => setHelped(true)} /></Suspense> : null}
    </div>
  );
}

function Brand() {
  return (
    <span className="brand">
      <BadgeCheck size={18} aria-hidden="true" /> Spanproof
    </span>
  );
}

/** What waits on a page, counted once the first view is there. */
function useCounts(): Record<string, string> {
  const project = chosenProject();
  const parameters: Parameters = project === null ? {} : { project };
  const failures = useSteadyAnswer<Schema["FailureList"]>("failures", { ...parameters, hours: "168", limit: String(COUNTED) });
  const alerts = useSteadyAnswer<Schema["AlertList"]>("alerts");
  const waiting = useSteadyAnswer<Schema["Queue"]>(failures ? "review" : "", { ...parameters, limit: "0" });
  const format = (count: number | undefined, isMore = false) => (count ? `${count.toLocaleString("en")}${isMore ? "+" : ""}` : "");
  return {
    "/failures": format(failures?.failures.filter((each) => each.state === "open").length),
    "/review": format(waiting?.total, waiting?.more),
    "/alerts": format(alerts?.alerts.filter((each) => each.status === "firing").length),
  };
}

function Navigation({ label, page }: { label: string; page: PageEntry | undefined }) {
  const counts = useCounts();
  return (
    <nav aria-label={label}>
      {GROUPS.map((group) => (
        <div key={group.name} className="group">
          <div className="group-name">{group.name}</div>
          {group.pages.map((each) => (
            <NavLink
              key={each.path}
              href={addressOf(each.path)}
              active={each === page}
              aria-current={each === page ? "page" : undefined}
              label={each.name}
              leftSection={<each.icon size={16} aria-hidden="true" />}
              rightSection={counts[each.path] ? <span className="count">{counts[each.path]}</span> : null}
            />
          ))}
        </div>
      ))}
    </nav>
  );
}

function ProjectSelect() {
  const chosen = chosenProject();
  const known = useSteadyAnswer<Schema["Projects"]>("projects");
  const named = [...new Set([...(known?.projects ?? []), ...(chosen === null ? [] : [chosen])])];
  if (!named.length) return null;
  const every = known?.every === false ? [] : [{ value: "", label: "every project" }];
  return (
    <NativeSelect
      className="project"
      aria-label="Project"
      value={chosen ?? ""}
      data={[...every, ...named]}
      onChange={(event) => go(addressWith({ project: event.currentTarget.value || null }))}
    />
  );
}

function WindowSelect({ page }: { page: PageEntry }) {
  const standard = page.hours ?? "";
  const hours = useHours();
  const value = here().searchParams.get("hours") ?? standard;
  const known = WINDOWS.map(([given, name]) => ({ value: given, label: `last ${name}` }));
  const whole = /(^|\s)since:/.test(here().searchParams.get("q") ?? "") ? "as the query says" : "all time";
  const other = value && !WINDOWS.some(([given]) => given === value) ? [{ value, label: `last ${nameOfWindow(hours)}` }] : [];
  return (
    <NativeSelect
      aria-label="Time range"
      value={value}
      data={[...(standard ? [] : [{ value: "", label: whole }]), ...other, ...known]}
      onChange={(event) => go(addressWith({ hours: event.currentTarget.value || null }))}
    />
  );
}

/** Whether rates are shown beside those of the window before. */
function CompareSelect() {
  return (
    <NativeSelect
      className="wide"
      aria-label="Compare with"
      value={here().searchParams.get("compare") ?? ""}
      data={[{ value: "", label: "compare: none" }, { value: "before", label: "compare: before" }]}
      onChange={(event) => go(addressWith({ compare: event.currentTarget.value || null }))}
    />
  );
}

function Help({ path }: { path: string }) {
  const keys = [...(PAGE_KEYS.find(([pattern]) => pattern.test(path))?.[1] ?? []), ...EVERYWHERE];
  return (
    <dl className="help facts">
      {keys.map(([key, meaning]) => (
        <div key={key}><dt>{key.split(" ").map((each) => <Kbd key={each}>{each}</Kbd>)}</dt><dd>{meaning}</dd></div>
      ))}
    </dl>
  );
}

const SECOND_KEY_MS = 1500;

/** The keys of every page. */
function useFrameKeys({ find, help }: { find: () => void; help: () => void }): void {
  useEffect(() => {
    let begun = -Infinity;
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        find();
        return;
      }
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      const isSecond = event.timeStamp - begun < SECOND_KEY_MS;
      begun = -Infinity;
      if (isSecond && GO_KEYS[event.key]) {
        event.stopImmediatePropagation();
        go(addressOf(GO_KEYS[event.key]!));
      } else if (event.key === "g") begun = event.timeStamp;
      else if (event.key === "?") help();
      else if (event.key === "/" && here().pathname !== "/traces") {
        event.preventDefault();
        go(addressOf("/traces"));
      }
    };
    // Before the keys of the page: the second key of a pair is none of its.
    addEventListener("keydown", press, true);
    return () => removeEventListener("keydown", press, true);
  }, []);
}
