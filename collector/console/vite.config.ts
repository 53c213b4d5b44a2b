import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

// Fixed names: the bundle is committed, so that an installation needs no Node.
const names = { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" };
// What the overview is made of is fetched while the browser still reads the document.
const FIRST = ["console.js", "overview.js"];
const FONT = "inter-latin-wght-normal.woff2";
const preloads: Plugin = {
  name: "preloads",
  transformIndexHtml: {
    order: "post",
    handler(_html, { bundle = {} }) {
      const names = new Set(FIRST);
      // A set goes on to what is added meanwhile.
      for (const name of names) {
        const chunk = bundle[name];
        if (chunk?.type === "chunk") chunk.imports.forEach((each) => names.add(each));
      }
      names.delete("first.js");
      const modules = [...names].map((name) => ({ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href: `/${name}` } }));
      return [...modules, { tag: "link", attrs: { rel: "preload", as: "font", crossorigin: true, href: `/${FONT}` } }];
    },
  },
};

const outDir = "../spanproof/api/static";

// A report is one file: `report.js` and `report.css` hold all that it shows, and no font.
export default defineConfig(({ mode }) => ({
  base: "/",
  plugins: [react(), preloads],
  // Mantine's warnings are for development.
  define: { "process.env.NODE_ENV": '"production"' },
  publicDir: false,
  build: {
    outDir,
    emptyOutDir: mode !== "report",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rollupOptions:
      mode === "report"
        ? { input: { report: "src/report.tsx" }, output: { ...names, codeSplitting: false } }
        : { input: { first: "index.html" }, output: names },
  },
}));
