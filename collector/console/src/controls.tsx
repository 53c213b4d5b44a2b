// Parts of both frames: that of the console and that of a report.
import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { Moon, Sun } from "lucide-react";
import { Link } from "./parts";

export function ThemeSwitch() {
  // To hold transitions back, the kit would write a style sheet, which the policy of the page forbids.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const scheme = useComputedColorScheme("light");
  const other = scheme === "dark" ? "light" : "dark";
  return (
    <ActionIcon variant="default" size={28} aria-label={`${other} theme`} title={`${other} theme`} onClick={() => setColorScheme(other)}>
      {scheme === "dark" ? <Sun size={15} /> : <Moon size={15} />}
    </ActionIcon>
  );
}

export function Missing() {
  return (
    <div className="empty">
      <h1>There is no such page</h1>
      <p>
        <Link href="/">Overview</Link> shows whether anything is wrong now, <Link href="/traces">Traces</Link> lists every run.
      </p>
    </div>
  );
}
