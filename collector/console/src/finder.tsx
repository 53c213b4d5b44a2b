// ⌘K: pages, a trace by its id, cases, experiments, rules and causes by their names.
import { Spotlight, spotlight } from "@mantine/spotlight";
import { Bell, Flag, FlaskConical, ListTree, Search, SquareStack } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import type { Schema } from "./api";
import { addressOf, go } from "./location";
import { PAGES } from "./pagelist";
import { pathOf, useSteadyAnswer } from "./parts";
import { readQuery } from "./query";

interface Found {
  label: string;
  about: string;
  to: string;
  icon: ReactNode;
}

const SHOWN = 12;

export default function Finder({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  useEffect(() => spotlight.open(), []);
  const suites = useSteadyAnswer<Schema["SuiteList"]>("suites");
  const alerts = useSteadyAnswer<Schema["AlertList"]>("alerts");
  const failures = useSteadyAnswer<Schema["FailureList"]>("failures", { hours: "720", limit: "200" });
  const pages = PAGES.map((each): Found => ({ label: each.name, about: each.about, to: addressOf(each.path), icon: <each.icon size={16} /> }));
  const named: Found[] = [
    ...(suites?.suites ?? []).map((each) => ({ label: each.name, about: `suite of ${each.cases} cases`, to: `/suites/${pathOf(each.name)}`, icon: <SquareStack size={16} /> })),
    ...(alerts?.rules ?? []).map((each) => ({ label: each.name, about: `alert rule, ${each.bound}`, to: "/alerts", icon: <Bell size={16} /> })),
    ...(failures?.failures ?? []).map((each) => ({ label: each.name, about: `${each.runs} runs failed`, to: `/failures/${each.id}`, icon: <Flag size={16} /> })),
  ];
  const words = text.trim().toLowerCase();
  const fits = (each: Found) => `${each.label} ${each.about}`.toLowerCase().includes(words);
  const inTraces = listQueries(text.trim());
  // A word is the name of something first; `label:fail` is a query of traces.
  const [first, last] = text.includes(":") ? [inTraces, []] : [[], inTraces];
  const byName = [...pages, ...named].filter(fits).slice(0, SHOWN);
  const found = [...listAddresses(text.trim()), ...first, ...byName, ...last];
  return (
    <Spotlight.Root query={text} onQueryChange={setText} onSpotlightClose={onClose} shortcut={null} transitionProps={{ duration: 0 }}>
      <Spotlight.Search aria-label="Find" placeholder="A page, the id of a trace, a query, a suite, a rule, a cause" leftSection={<Search size={16} />} />
      <Spotlight.ActionsList>
        {found.map((each) => (
          <Spotlight.Action
            key={each.to + each.label}
            label={each.label}
            description={each.about}
            leftSection={each.icon}
            onClick={() => {
              go(each.to);
              onClose();
            }}
          />
        ))}
        {found.length ? null : <Spotlight.Empty>Nothing has this name</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

const SHORTEST_ID = 4;

/** Return where the text itself leads: a trace by the start of its id, or an experiment. */
function listAddresses(text: string): Found[] {
  const found: Found[] = [];
  if (text.length >= SHORTEST_ID && /^[0-9a-f]+$/.test(text)) {
    found.push({ label: text, about: "open the trace whose id begins so", to: `/traces/${text}`, icon: <ListTree size={16} /> });
  }
  if (text.startsWith("experiments/")) {
    found.push({ label: text, about: "open the experiment", to: `/${pathOf(text)}`, icon: <FlaskConical size={16} /> });
  }
  return found;
}

/** Return the list of traces that have the text, as a query or as words. */
function listQueries(text: string): Found[] {
  if (!text || readQuery(text).fault !== null) return [];
  return [{ label: text, about: "list the traces with this", to: `/traces?q=${encodeURIComponent(text)}`, icon: <Search size={16} /> }];
}
