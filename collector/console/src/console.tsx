// The console: its pages, each loaded once it is opened.
import { lazyRouteComponent } from "@tanstack/react-router";
import { Frame, Missing } from "./frame";
import { start, type LoadedView, type View } from "./root";

const RETRY_MS = 2000;
const AHEAD_MS = 1000;

/** A page that is loaded once it is opened; tried again while the server is away. */
function page(load: () => Promise<View>): LoadedView {
  return lazyRouteComponent(async () => {
    for (;;) {
      try {
        return { default: await load() };
      } catch {
        await new Promise((done) => setTimeout(done, RETRY_MS));
      }
    }
  });
}

const pages = {
  "/": page(async () => (await import("./pages/overview")).Overview),
  "/traces": page(async () => (await import("./pages/traces")).Traces),
  "/traces/$id": page(async () => (await import("./pages/trace")).Trace),
  "/trials/$": page(async () => (await import("./pages/trace")).Trace),
  "/sessions": page(async () => (await import("./pages/sessions")).Sessions),
  "/sessions/$": page(async () => (await import("./pages/sessions")).Session),
  "/failures": page(async () => (await import("./pages/failures")).Failures),
  "/failures/$id": page(async () => (await import("./pages/failures")).Failure),
  "/review": page(async () => (await import("./pages/review")).Review),
  "/alerts": page(async () => (await import("./pages/alerts")).Alerts),
  "/alerts/deliveries": page(async () => (await import("./pages/alerts")).Deliveries),
  "/suites": page(async () => (await import("./pages/suites")).Suites),
  "/suites/$": page(async () => (await import("./pages/suites")).SuiteOrCase),
  "/experiments": page(async () => (await import("./pages/experiments")).Experiments),
  "/experiments/$": page(async () => (await import("./pages/experiments")).Experiment),
  "/gates/$": page(async () => (await import("./pages/gates")).Gate),
  "/compare": page(async () => (await import("./pages/compare")).Compare),
  "/compare/runs": page(async () => (await import("./pages/runs")).Runs),
  "/boundary": page(async () => (await import("./pages/boundary")).Boundary),
  "/settings": page(async () => (await import("./pages/settings")).Settings),
};

void start(Frame, Missing, pages);

// A server that goes away takes no page along that was not opened yet. The first view comes before that.
setTimeout(() => Object.values(pages).forEach((each) => void each.preload?.()), AHEAD_MS);
