import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

/** How long the button says what it has done. */
const SAID_MS = 2000;

interface CopyFieldProps {
  readonly label: string;
  readonly text: string;
}

/** Text to take along, with a button that copies it. However long, it is one line that can be scrolled. */
export function CopyField({ label, text }: CopyFieldProps) {
  const says = useSignal('Copy');
  const line = useRef<HTMLInputElement>(null);
  const copy = async () => {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    // Where the browser refuses, the user's own keys still copy.
    if (!isCopied) line.current?.select();
    says.value = isCopied ? 'Copied' : 'Selected';
    setTimeout(() => {
      says.value = 'Copy';
    }, SAID_MS);
  };
  // The clipboard exists in secure contexts only; elsewhere a click on the line selects it all.
  const canCopy = 'clipboard' in navigator;
  return (
    <div class="copy-field">
      <h3 aria-hidden="true">{label}</h3>
      <div class="copy-row">
        <input
          ref={line}
          class="line"
          readOnly
          value={text}
          aria-label={label}
          onFocus={(event) => event.currentTarget.select()}
        />
        {canCopy && (
          <button type="button" class="quiet" aria-label={`Copy: ${label}`} onClick={() => void copy()}>
            <span aria-live="polite">{says.value}</span>
          </button>
        )}
      </div>
    </div>
  );
}
