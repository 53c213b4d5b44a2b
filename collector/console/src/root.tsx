// What both bundles begin with: the kit, the cache of answers, and the router.
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRootRoute, createRoute, createRouter, RouterProvider, useLocation } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { createRoot } from "react-dom/client";
import { followLink, history } from "./location";
import { theme } from "./theme";

const FRESH_MS = 2000;
const schemes = localStorageColorSchemeManager({ key: "spanproof.theme" });

const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: FRESH_MS, networkMode: "always", refetchOnWindowFocus: false } },
});

/** What a page is given: the rest of its address, as it is written there. */
export interface PageParts {
  id: string;
  /** Where the API has what the page is about. */
  path: string;
}

export type View = ComponentType<PageParts>;

/** A view that may have to be loaded first. */
export type LoadedView = View & { preload?: () => Promise<void> };

/** Draw the pages of the given addresses within a frame, once the first one is loaded. */
export async function start(Frame: ComponentType, NotFound: ComponentType, views: Record<string, LoadedView>): Promise<void> {
  const root = createRootRoute({ component: () => <Frame />, notFoundComponent: () => <NotFound /> });
  const routes = Object.entries(views).map(([path, view]) => {
    const component = Object.assign(() => <Routed views={views} path={path} />, { preload: view.preload });
    return createRoute({ getParentRoute: () => root, path, component });
  });
  const router = createRouter({
    history,
    routeTree: root.addChildren(routes),
    // The address is shown as it was given: what it holds is read by the pages.
    parseSearch: (text) => ({ text }),
    stringifySearch: (search) => String((search as { text?: string }).text ?? ""),
  });
  document.addEventListener("click", followLink);
  // A page that is drawn before it is loaded would be shown 300 ms later: React holds back what follows a fallback.
  await router.load();
  createRoot(document.getElementById("app")!).render(
    <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={schemes} withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queries}><RouterProvider router={router} /></QueryClientProvider>
    </MantineProvider>,
  );
}

/** A page with what follows the fixed part of its address as its id; it is drawn again whenever the address changes. */
function Routed({ views, path }: { views: Record<string, View>; path: string }) {
  useLocation();
  const fixed = path.replace(/\$\w*$/, "");
  const id = path === fixed ? "" : history.location.pathname.slice(fixed.length);
  // A route for the rest of an address is also that of no rest.
  const View = (id === "" ? views[fixed.replace(/(.)\/$/, "$1")] : undefined) ?? views[path]!;
  return <View key={id} id={id} path={`${fixed.slice(1)}${id}`} />;
}
