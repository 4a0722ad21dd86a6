import { fileNameOf, type OriginUrl, parseOriginUrl } from '@longhaul/shared';
import { CommandLineCard } from './command-line-card.tsx';
import { LinkCard } from './link-card.tsx';
import { LinkForm } from './link-form.tsx';
import type { PageError } from './master-api.ts';
import { type PageState, page, status } from './page-state.ts';
import { PlanCard } from './plan-card.tsx';
import { planWords } from './plan-words.ts';
import { Term, WordList } from './words.tsx';

/** The master's first page: paste a link, get the accelerated one and see why. */
export function Page() {
  const state = page.value;
  return (
    <>
      <main class="page">
        <header>
          <p class="brand">
            <BrandSign />
            Longhaul
          </p>
          <h1>Far downloads, made fast</h1>
          <p class="lead">
            One long connection becomes a <Term word="chain">chain</Term> of short ones. Paste the link of a
            file and take the accelerated link along.
          </p>
        </header>
        {status.value?.note && <p class="note">{status.value.note}</p>}
        <LinkForm />
        <p class="visually-hidden" role="status">
          {announcement(state)}
        </p>
        <Answer state={state} />
        <WordList />
      </main>
      <Footer />
    </>
  );
}

/** What a screen reader says when something has changed: the rest of the page is there to be read. */
function announcement(state: PageState): string {
  if (state.kind === 'asking') return 'Planning';
  return state.kind === 'plan' ? `Planned. ${planWords(state.plan).heading}.` : '';
}

function Answer({ state }: { readonly state: PageState }) {
  if (state.kind !== 'plan' && state.kind !== 'error') return null;
  const url = parseOriginUrl(state.kind === 'plan' ? state.plan.url : state.link);
  return (
    <>
      {state.isHttpsAdded && url.ok && (
        <p class="hint">
          The link has no <code>https://</code> in front, so it is taken as <code>{state.link}</code>.
        </p>
      )}
      {state.kind === 'error' && <ErrorCard error={state.error} url={url.ok ? url.value : undefined} />}
      {state.kind === 'plan' && (
        <>
          {url.ok && <LinkCard plan={state.plan} url={url.value} />}
          <PlanCard key={state.plan.jobId} plan={state.plan} />
          {url.ok && <CommandLineCard masterUrl={state.plan.masterUrl} fileName={fileNameOf(url.value)} />}
        </>
      )}
    </>
  );
}

function ErrorCard({ error, url }: { readonly error: PageError; readonly url: OriginUrl | undefined }) {
  return (
    <section class="card error" role="alert">
      <p>{error.message}</p>
      {error.direct && url && (
        <p>
          Your browser may still get it from <strong>{url.host}</strong> itself: open the link there if you
          trust that host.
        </p>
      )}
      <p class="hint">
        Code: {error.help ? <a href={error.help}>{error.code}</a> : <code>{error.code}</code>}
      </p>
    </section>
  );
}

/** The sign of the service, as in the icon. */
function BrandSign() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0b6e6e" />
      <path d="M6 16h20" stroke="#9fe3d6" stroke-width="2.5" fill="none" />
      <g fill="#fff">
        <circle cx="6.5" cy="16" r="3.2" />
        <circle cx="16" cy="16" r="3.2" />
        <circle cx="25.5" cy="16" r="3.2" />
      </g>
    </svg>
  );
}

function Footer() {
  const current = status.value;
  if (!current) return null;
  return (
    <footer class="page">
      <ul class="depots" aria-label="Depots">
        {current.depots.map(({ id, state }) => (
          <li key={id} class={`depot ${state}`}>
            {id} <span>{state}</span>
          </li>
        ))}
        {current.depots.length === 0 && <li class="depot lost">no depots yet</li>}
      </ul>
      <span class="version">
        <a href="help">Help</a> · Longhaul {current.version}
      </span>
    </footer>
  );
}
