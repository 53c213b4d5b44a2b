// The frame of every page: side bar, the bar with project, window and search, and on a phone a drawer and a bar of five.
import { ActionIcon, Button, Drawer, Kbd, Modal, NavLink } from "@mantine/core";
import { Outlet, useLocation } from "@tanstack/react-router";
import { BadgeCheck, Keyboard, Menu, Search } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import type { Schema } from "./api";
import { ThemeSwitch } from "./controls";
import { addressOf, chosenProject, getParameter, go, here, isTyping, ofProject } from "./location";
import { GO_KEYS, GROUPS, pageOf, PHONE_PAGES, type PageEntry } from "./pagelist";
import { AddressSelect, Link, nameOfWindow, Properties, useSteadyAnswer, WINDOWS } from "./parts";

export { Missing } from "./controls";

const Finder = lazy(() => import("./finder"));

const COUNTED = 200;

// Pages of one trace, one session, two runs: a window changes nothing there.
const WITHOUT_WINDOW = /^\/(traces|sessions)\/.|^\/compare\/runs/;

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
  const find = () => setFinding(true);
  useFrameKeys(find, () => setHelped((open) => !open));
  useEffect(() => setDrawn(false), [pathname]);
  const page = pageOf(pathname);
  const keys = [...(PAGE_KEYS.find(([pattern]) => pattern.test(pathname))?.[1] ?? []), ...EVERYWHERE];
  const brand = <span className="brand"><BadgeCheck size={18} aria-hidden="true" /> Spanproof</span>;
  const icon = { variant: "default", size: 28 };
  return (
    <div className="frame">
      <Link className="skip" href="#main">Skip to the content</Link>
      <aside className="sidebar">
        {brand}
        <ProjectSelect />
        <Navigation label="Pages" page={page} />
      </aside>
      <div className="column">
        <header className="bar">
          <ActionIcon className="phone" variant="subtle" color="gray" size={32} aria-label="menu" onClick={() => setDrawn(true)}><Menu size={18} /></ActionIcon>
          <strong className="page-name">{page?.name ?? "Spanproof"}</strong>
          <span className="end">
            {page?.hours === undefined || WITHOUT_WINDOW.test(pathname) ? null : <WindowSelect standard={page.hours} />}
            {pathname === "/" ? (
              <AddressSelect className="wide" aria-label="Compare with" parameter="compare" data={[{ value: "", label: "compare: none" }, { value: "before", label: "compare: before" }]} />
            ) : null}
            <Button className="wide" leftSection={<Search size={13} />} rightSection={<Kbd size="xs">⌘K</Kbd>} onClick={find}>find</Button>
            <ActionIcon {...icon} className="phone" aria-label="find" onClick={find}><Search size={15} /></ActionIcon>
            <ActionIcon {...icon} className="wide" aria-label="keys" title="keys: ?" aria-expanded={isHelped} onClick={() => setHelped(!isHelped)}><Keyboard size={15} /></ActionIcon>
            <ThemeSwitch />
          </span>
        </header>
        <main id="main" tabIndex={-1}><Outlet /></main>
      </div>
      <nav className="phone-bar" aria-label="Main pages">
        {PHONE_PAGES.map((each) => (
          <Link key={each.path} href={addressOf(each.path)} aria-current={each === page ? "page" : undefined}><each.icon size={18} aria-hidden="true" />{each.name}</Link>
        ))}
        <button type="button" onClick={() => setDrawn(true)}><Menu size={18} aria-hidden="true" />More</button>
      </nav>
      <Drawer opened={isDrawn} onClose={() => setDrawn(false)} size={260} title={brand} closeButtonProps={{ "aria-label": "close" }}>
        <ProjectSelect />
        <Navigation label="All pages" page={page} />
      </Drawer>
      <Modal opened={isHelped} onClose={() => setHelped(false)} title="Keys" transitionProps={{ duration: 0 }} closeButtonProps={{ "aria-label": "close" }}>
        <div className="help"><Properties rows={keys.map(([key, meaning]) => [key.split(" ").map((each) => <Kbd key={each}>{each}</Kbd>), meaning])} /></div>
      </Modal>
      {isFinding ? <Suspense><Finder onClose={() => setFinding(false)} showKeys={() => setHelped(true)} /></Suspense> : null}
    </div>
  );
}

/** What waits on a page, counted once the first view is there. */
function useCounts(): Record<string, string> {
  const failures = useSteadyAnswer<Schema["FailureList"]>("failures", { ...ofProject(), hours: "168", limit: String(COUNTED) });
  const alerts = useSteadyAnswer<Schema["AlertList"]>("alerts");
  const waiting = useSteadyAnswer<Schema["Queue"]>(failures ? "review" : "", { ...ofProject(), limit: "0" });
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
  const every = known?.every === false ? [] : [{ value: "", label: "every project" }];
  return named.length ? <AddressSelect className="project" aria-label="Project" parameter="project" data={[...every, ...named]} /> : null;
}

/** Choose the window of a page; empty is all time, where that is the page's own. */
function WindowSelect({ standard }: { standard: string }) {
  const value = getParameter("hours") ?? standard;
  const whole = /(^|\s)since:/.test(getParameter("q") ?? "") ? "as the query says" : "all time";
  const values = new Set([standard, value, ...WINDOWS.map(([hours]) => hours)]);
  const ordered = [...values].sort((a, b) => Number(a) - Number(b));
  return <AddressSelect aria-label="Time range" parameter="hours" value={value} data={ordered.map((hours) => ({ value: hours, label: hours ? `last ${nameOfWindow(hours)}` : whole }))} />;
}

const SECOND_KEY_MS = 1500;

/** The keys of every page. */
function useFrameKeys(find: () => void, help: () => void): void {
  useEffect(() => {
    let begun = -Infinity;
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        find();
      }
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      const page = event.timeStamp - begun < SECOND_KEY_MS ? GO_KEYS[event.key] : undefined;
      begun = event.key === "g" && !page ? event.timeStamp : -Infinity;
      if (page) {
        event.stopImmediatePropagation();
        go(addressOf(page));
      } else if (event.key === "?") help();
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
