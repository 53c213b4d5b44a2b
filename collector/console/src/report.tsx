// A report as one file: its page and the traces that belong to it, in a frame without a side bar.
import { Outlet } from "@tanstack/react-router";
import { FileCheck } from "lucide-react";
import { report } from "./answers";
import { Missing, ThemeSwitch } from "./controls";
import { here } from "./location";
import { Experiment } from "./pages/experiments";
import { Gate } from "./pages/gates";
import { Trace } from "./pages/trace";
import { Link } from "./parts";
import { start } from "./root";
import "./style.css";

void start(ReportFrame, Missing, {
  "/traces/$id": Trace,
  "/trials/$": Trace,
  "/experiments/$": Experiment,
  "/gates/$": Gate,
});

function ReportFrame() {
  const route = report?.route ?? "/";
  const isReport = here().pathname === new URL(route, here()).pathname;
  return (
    <div className="frame report">
      <div className="column">
        <header className="bar">
          <strong>Spanproof</strong>
          <Link href={route} aria-current={isReport ? "page" : undefined}>
            <FileCheck size={14} aria-hidden="true" /> Report
          </Link>
          <span className="end"><ThemeSwitch /></span>
        </header>
        <main id="main" tabIndex={-1}><Outlet /></main>
      </div>
    </div>
  );
}
