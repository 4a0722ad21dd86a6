import { defineConfig } from 'vite';

// Relative addresses, so that the page also works below a path of a reverse proxy.
export default defineConfig({
  base: './',
  build: { outDir: '../dist/web', emptyOutDir: true, modulePreload: { polyfill: false } },
});
