import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// Fixed names: the bundle is committed, so that an installation needs no Node.
export default defineConfig({
  base: "/",
  plugins: [preact()],
  build: {
    outDir: "../spanproof/api/static",
    emptyOutDir: true,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "console.js",
        chunkFileNames: "[name].js",
        assetFileNames: "console[extname]",
      },
    },
  },
});
