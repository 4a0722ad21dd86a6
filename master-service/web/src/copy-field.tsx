import { useSignal } from '@preact/signals';

/** How long the button says that it has copied. */
const COPIED_MS = 2000;

interface CopyFieldProps {
  readonly label: string;
  readonly text: string;
}

/** Text to take along, with a button that copies it. However long, it is one line that can be scrolled. */
export function CopyField({ label, text }: CopyFieldProps) {
  const copied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.value = true;
    setTimeout(() => {
      copied.value = false;
    }, COPIED_MS);
  };
  // The clipboard exists in secure contexts only; elsewhere a click on the line selects it all.
  const canCopy = 'clipboard' in navigator;
  return (
    <div class="copy-field">
      <h3 aria-hidden="true">{label}</h3>
      <div class="copy-row">
        <input
          class="line"
          readOnly
          value={text}
          aria-label={label}
          onFocus={(event) => event.currentTarget.select()}
        />
        {canCopy && (
          <button type="button" class="quiet" aria-label={`Copy: ${label}`} onClick={() => void copy()}>
            <span aria-live="polite">{copied.value ? 'Copied' : 'Copy'}</span>
          </button>
        )}
      </div>
    </div>
  );
}
