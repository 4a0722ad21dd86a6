import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { Router } from 'express';
import { STATIC_PAGE_POLICY, staticPage } from '../http/static-page.ts';

/** Vite names these files by their content, so they never change. */
const ASSET_MAX_AGE_MS = 365 * 86_400_000;

/** The page and its files from `webDir`; while it has not been built, a page that says how to. */
export function pageRoutes(webDir: string): Router {
  const router = Router();
  router.get('/', (_request, response, next) => {
    if (existsSync(join(webDir, 'index.html'))) {
      next();
      return;
    }
    response.setHeader('Content-Security-Policy', STATIC_PAGE_POLICY);
    response.setHeader('Cache-Control', 'no-store');
    response
      .type('html')
      .send(
        staticPage('Longhaul master', [
          '<p>The master is running, but its page has not been built yet.</p>',
          '<p>Run <code>npm run build</code>, then reload. Links below <code>/get/</code> work already.</p>',
        ]),
      );
  });
  router.use(
    '/assets',
    express.static(join(webDir, 'assets'), { immutable: true, maxAge: ASSET_MAX_AGE_MS }),
  );
  router.use(express.static(webDir, { cacheControl: true, maxAge: 0 }));
  return router;
}
