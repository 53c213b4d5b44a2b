import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Fixed names: the bundle is committed, so that an installation needs no Node.
const names = { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" };
const outDir = "../spanproof/api/static";

// A report is one file: `report.js` and `report.css` hold all that it shows, and no font.
export default defineConfig(({ mode }) => ({
  base: "/",
  plugins: [react()],
  // Mantine's warnings are for development.
  define: { "process.env.NODE_ENV": '"production"' },
  publicDir: false,
  build: {
    outDir,
    emptyOutDir: mode !== "report",
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rollupOptions:
      mode === "report"
        ? { input: { report: "src/report.tsx" }, output: { ...names, codeSplitting: false } }
        : { input: { console: "index.html" }, output: names },
  },
}));
