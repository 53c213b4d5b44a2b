// ⌘K: pages, suites, cases, experiments, rules and causes by their names, commands, and traces by id or text.
import { useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight, spotlight } from "@mantine/spotlight";
import { Bell, Flag, FlaskConical, ListTree, Search, SquareStack, Terminal } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import type { Schema } from "./api";
import { addressOf, addressOfTraces, go, traceAddress, withProject } from "./location";
import { PAGES } from "./pagelist";
import { pathOf, plainText, Problem, useAnswer, useSteadyAnswer } from "./parts";
import { MARKS } from "./state";

interface Found {
  label: string;
  about: string;
  /** Where it leads, or what it does. */
  to: string | (() => void);
  icon: ReactNode;
}

const SHOWN = 12;
const SHOWN_TRACES = 5;
const SHORTEST_WORD = 2;
const TYPING_MS = 150;
const ID_START = /^[0-9a-f]{4,}$/;

export default function Finder({ onClose, showKeys }: { onClose: () => void; showKeys: () => void }) {
  const [text, setText] = useState("");
  useEffect(() => spotlight.open(), []);
  const suites = useAnswer<Schema["SuiteList"]>("suites");
  const alerts = useAnswer<Schema["AlertList"]>("alerts");
  const failures = useAnswer<Schema["FailureList"]>("failures", { hours: "720", limit: "200" });
  const experiments = useAnswer<Schema["ExperimentList"]>("experiments");
  // A reader of one project may not see suites and experiments: that is no fault.
  const faults = Object.entries({ suites, alerts, failures, experiments }).filter(([, { error }]) => error && error.status !== 403);
  const line = text.trim();
  const [typed] = useDebouncedValue(line, TYPING_MS);
  const cases = useSteadyAnswer<Schema["FoundCases"]>(typed.length >= SHORTEST_WORD ? "cases" : "", { text: typed.toLowerCase() });
  const traces = useAnswer<Schema["TraceList"]>(typed.length > SHORTEST_WORD ? "traces" : "", { q: typed, limit: String(SHOWN_TRACES) });
  const { toggleColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const commands: Found[] = [
    { label: "Switch the theme", about: "command: light or dark", to: toggleColorScheme, icon: <Terminal size={16} /> },
    { label: "Show the keys of this page", about: "command: ?", to: showKeys, icon: <Terminal size={16} /> },
    { label: "Copy the command of this page", about: "command: the same on a terminal", to: copyCommand, icon: <Terminal size={16} /> },
  ];
  const pages = PAGES.map((each): Found => ({ label: each.name, about: each.about, to: addressOf(each.path), icon: <each.icon size={16} /> }));
  const named: Found[] = [
    ...(suites.value?.suites ?? []).map((each) => ({ label: each.name, about: `suite of ${each.cases} cases`, to: `/suites/${pathOf(each.name)}`, icon: <SquareStack size={16} /> })),
    ...(experiments.value?.experiments ?? []).map(({ column: { name }, suite }) => ({ label: name, about: `experiment on ${suite}`, to: `/experiments/${pathOf(name)}`, icon: <FlaskConical size={16} /> })),
    ...(alerts.value?.rules ?? []).map((each) => ({ label: each.name, about: `alert rule, ${each.bound}`, to: "/alerts", icon: <Bell size={16} /> })),
    ...(failures.value?.failures ?? []).map((each) => ({ label: each.name, about: `${each.runs} runs failed`, to: `/failures/${each.id}`, icon: <Flag size={16} /> })),
  ];
  const ofCases = (cases?.cases ?? []).map((each): Found => ({ label: each.task || each.id, about: `case ${each.id} of ${each.suite}`, to: `/suites/${pathOf(each.suite)}/cases/${encodeURIComponent(each.id)}`, icon: <SquareStack size={16} /> }));
  const fits = (each: Found) => `${each.label} ${each.about}`.toLowerCase().includes(line.toLowerCase());
  const byName = [...pages, ...named, ...ofCases, ...commands].filter(fits).slice(0, SHOWN);
  const byId: Found[] = ID_START.test(line) ? [{ label: line, about: "open the trace whose id begins so", to: `/traces/${line}`, icon: <ListTree size={16} /> }] : [];
  const listed: Found[] = line ? [{ label: line, about: "list the traces with this", to: addressOfTraces(line), icon: <Search size={16} /> }] : [];
  const ofTraces = (traces.value?.traces ?? []).map(({ trace_id, project, state, runs }): Found => ({
    label: runs[0]?.task || trace_id,
    about: `trace ${trace_id.slice(0, 12)} of ${runs[0]?.agent || "no agent"}: ${MARKS[state]} ${state}`,
    to: traceAddress(trace_id, { project }),
    icon: <ListTree size={16} />,
  }));
  // A word is the name of something first; `label:fail` is a query of traces.
  const found = [...byId, ...(line.includes(":") ? [...listed, ...byName] : [...byName, ...listed]), ...ofTraces];
  return (
    <Spotlight.Root query={text} onQueryChange={setText} onSpotlightClose={onClose} shortcut={null} transitionProps={{ duration: 0 }}>
      <Spotlight.Search aria-label="Find" placeholder="A page, the id of a trace, words of traces, a case, a rule, a command" leftSection={<Search size={16} />} />
      <Spotlight.ActionsList>
        {found.map((each) => (
          <Spotlight.Action
            key={each.about + each.label}
            label={plainText(each.label)}
            description={plainText(each.about)}
            leftSection={each.icon}
            onClick={() => {
              onClose();
              typeof each.to === "string" ? go(withProject(each.to)) : each.to();
            }}
          />
        ))}
        {faults.map(([name, { error }]) => <Problem key={name} text={`${name} are not searched: ${error?.message}`} />)}
        {found.length ? null : <Spotlight.Empty>Nothing has this name</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function copyCommand(): void {
  void navigator.clipboard?.writeText(document.querySelector(".cli code")?.textContent ?? "");
}
