import { LinkForm } from './link-form.tsx';
import type { PageError } from './master-api.ts';
import { page, status } from './page-state.ts';
import { PlanCard } from './plan-card.tsx';

/** The master's first page: paste a link, get the accelerated one and see why. */
export function Page() {
  const state = page.value;
  return (
    <>
      <main class="page">
        <header>
          <p class="brand">Longhaul</p>
          <h1>Far downloads, made fast</h1>
          <p class="lead">
            One long connection becomes a chain of short ones. Paste the link of a file and take the
            accelerated link along.
          </p>
        </header>
        {status.value?.note && <p class="note">{status.value.note}</p>}
        <LinkForm />
        <div aria-live="polite" aria-busy={state.kind === 'asking'}>
          {state.kind === 'error' && <ErrorCard error={state.error} />}
          {state.kind === 'plan' && <PlanCard key={state.plan.jobId} plan={state.plan} />}
        </div>
      </main>
      <Footer />
    </>
  );
}

function ErrorCard({ error }: { readonly error: PageError }) {
  return (
    <section class="card error" role="alert">
      <p>{error.message}</p>
      <p class="hint">
        Code: <code>{error.code}</code>
      </p>
    </section>
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
      <span class="version">Longhaul {current.version}</span>
    </footer>
  );
}
