import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { staticPage } from '@longhaul/shared/service';
import express, { type Response, Router } from 'express';
import { helpPage } from '../http/help-page.ts';
import { FORM_PAGE_POLICY } from '../http/security-headers.ts';

/** Vite names these files by their content, so they never change. */
const ASSET_MAX_AGE_MS = 365 * 86_400_000;

/** Help for people, and what crawlers are told, can be old for so long. */
const FIXED_MAX_AGE_SECONDS = 3600;

/** Whoever follows links to see what is behind them would have downloads planned. */
const ROBOTS = 'User-agent: *\nDisallow: /get/\nDisallow: /get?\nDisallow: /v1/\n';

/** The page and its files from `webDir`, with help; while it has not been built, a page that says how to. */
export function pageRoutes(webDir: string): Router {
  const router = Router();
  const help = helpPage();
  router.get('/help', (_request, response) => {
    sendStaticPage(response, help, `public, max-age=${FIXED_MAX_AGE_SECONDS}`);
  });
  router.get('/robots.txt', (_request, response) => {
    response.setHeader('Cache-Control', `public, max-age=${FIXED_MAX_AGE_SECONDS}`);
    response.type('text/plain').send(ROBOTS);
  });
  router.get('/', (_request, response, next) => {
    if (existsSync(join(webDir, 'index.html'))) next();
    else sendStaticPage(response, UNBUILT, 'no-store');
  });
  router.use(
    '/assets',
    express.static(join(webDir, 'assets'), { immutable: true, maxAge: ASSET_MAX_AGE_MS }),
  );
  router.use(express.static(webDir, { cacheControl: true, maxAge: 0 }));
  return router;
}

const UNBUILT = staticPage('Longhaul master', './', [
  '<p>The master is running, but its page has not been built yet.</p>',
  '<p>Run <code>npm run build</code>, then reload. Links below <code>/get/</code> work already.</p>',
]);

function sendStaticPage(response: Response, page: string, caching: string): void {
  response.setHeader('Content-Security-Policy', FORM_PAGE_POLICY);
  response.setHeader('Cache-Control', caching);
  response.type('html').send(page);
}
