import { signal } from '@preact/signals';
import { commandLines } from './command-lines.ts';
import { CopyField } from './copy-field.tsx';
import type { Shell } from './shell-quoting.ts';

const SHELLS: readonly (readonly [Shell, string])[] = [
  ['sh', 'sh, bash, zsh'],
  ['powershell', 'PowerShell'],
  ['cmd', 'cmd'],
];
/** Where the browser keeps the visitor's shell. */
const STORAGE_KEY = 'longhaul-shell';

const shell = signal<Shell>(rememberedShell());

interface CommandLineCardProps {
  readonly masterUrl: string;
  readonly fileName: string;
}

/** Lines for the visitor's shell, which the page remembers. */
export function CommandLineCard({ masterUrl, fileName }: CommandLineCardProps) {
  const lines = commandLines(shell.value, masterUrl, fileName);
  return (
    <section class="card" aria-labelledby="lines-title">
      <h2 id="lines-title">On a command line</h2>
      <p class="hint">Called again, each line goes on where it was. A refusal ends it with a failure.</p>
      <fieldset class="choice">
        <legend>Your shell</legend>
        {SHELLS.map(([kind, name]) => (
          <label key={kind}>
            <input
              type="radio"
              name="shell"
              value={kind}
              checked={shell.value === kind}
              onChange={() => chooseShell(kind)}
            />
            {name}
          </label>
        ))}
      </fieldset>
      {lines.map(({ program, line }) => (
        <CopyField key={program} label={program} text={line} />
      ))}
      {lines.length === 0 && <p>This link is too long for a line of cmd: choose PowerShell.</p>}
    </section>
  );
}

function chooseShell(kind: Shell): void {
  shell.value = kind;
  try {
    localStorage.setItem(STORAGE_KEY, kind);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

function rememberedShell(): Shell {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(STORAGE_KEY);
  } catch {
    // Browsers may forbid it.
  }
  const known = SHELLS.find(([kind]) => kind === kept)?.[0];
  return known ?? (navigator.userAgent.includes('Windows') ? 'powershell' : 'sh');
}
