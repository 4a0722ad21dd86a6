import { fileNameOf, type OriginUrl, type PlanAnswer } from '@longhaul/shared';
import { CopyField } from './copy-field.tsx';
import { htmlSnippet } from './html-snippet.ts';

interface LinkCardProps {
  readonly plan: PlanAnswer;
  readonly url: OriginUrl;
}

/** The link to use, to take along or to follow. */
export function LinkCard({ plan: { masterUrl }, url }: LinkCardProps) {
  const name = fileNameOf(url);
  return (
    <section class="card" aria-labelledby="link-title">
      <h2 id="link-title">Your link</h2>
      <p class="hint">
        It never expires: every request is planned anew, and goes direct where no chain helps.
      </p>
      <CopyField label="Link through this master" text={masterUrl} />
      <CopyField label="For your web page" text={htmlSnippet(masterUrl, name)} />
      <a class="button download" href={masterUrl} title={`Download ${name}`}>
        Download {name}
      </a>
    </section>
  );
}
