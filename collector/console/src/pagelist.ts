// The pages of the console, in the order and the groups of the side bar.
import { ArrowLeftRight, CircleGauge, Flag, FlaskConical, ListTree, MessagesSquare, ScanEye, Settings, Shield, SquareStack, TriangleAlert, type LucideIcon } from "lucide-react";
import { OVERVIEW_HOURS } from "./query";

export interface PageEntry {
  path: string;
  name: string;
  icon: LucideIcon;
  /** The key that follows `g`. */
  key: string;
  /** The window that the page shows where the address names none, in hours; absent where it has none. */
  hours?: string;
  /** What a person looks for when they look for this page. */
  about: string;
}

export const GROUPS: { name: string; pages: PageEntry[] }[] = [
  {
    name: "Watch",
    pages: [
      { path: "/", name: "Overview", key: "o", icon: CircleGauge, hours: OVERVIEW_HOURS, about: "Is anything wrong now?" },
      { path: "/traces", name: "Traces", key: "t", icon: ListTree, hours: "", about: "Which runs?" },
      { path: "/sessions", name: "Sessions", key: "c", icon: MessagesSquare, hours: "168", about: "Conversations as a whole" },
      { path: "/failures", name: "Failures", key: "f", icon: Flag, hours: "168", about: "Which few causes are behind the many?" },
      { path: "/review", name: "Review", key: "r", icon: ScanEye, hours: "720", about: "Verdicts that wait for a person" },
      { path: "/alerts", name: "Alerts", key: "a", icon: TriangleAlert, about: "What fires, rules and silences" },
    ],
  },
  {
    name: "Improve",
    pages: [
      { path: "/suites", name: "Suites", key: "s", icon: SquareStack, about: "Cases, gates and assertions" },
      { path: "/experiments", name: "Experiments", key: "e", icon: FlaskConical, about: "Is the change better?" },
      { path: "/compare", name: "Compare", key: "d", icon: ArrowLeftRight, hours: "168", about: "Did it get worse?" },
    ],
  },
  {
    name: "Run",
    pages: [
      { path: "/boundary", name: "Boundary", key: "b", icon: Shield, hours: "168", about: "What did agents try?" },
      { path: "/settings", name: "Settings", key: ",", icon: Settings, about: "Configuration, tokens, sandboxes" },
    ],
  },
];

export const PAGES = GROUPS.flatMap((group) => group.pages);

export const GO_KEYS: Record<string, string> = Object.fromEntries(PAGES.map(({ key, path }) => [key, path]));

// Those of the bar of a phone; the drawer has them all.
export const PHONE_PAGES = ["/", "/traces", "/failures", "/review"].map((path) => PAGES.find((page) => page.path === path)!);

// Pages that belong to another one of the side bar.
const PARENTS: [string, string][] = [["/trials/", "/experiments"], ["/gates/", "/suites"]];

/** Return the entry of the side bar that an address belongs to. */
export function pageOf(path: string): PageEntry | undefined {
  const parent = PARENTS.find(([start]) => path.startsWith(start))?.[1] ?? path;
  return PAGES.find((page) => page.path === parent) ?? PAGES.find((page) => page.path !== "/" && parent.startsWith(`${page.path}/`));
}
