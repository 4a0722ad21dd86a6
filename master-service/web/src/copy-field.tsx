import { useSignal } from '@preact/signals';

/** How long the button says that it has copied. */
const COPIED_MS = 2000;

interface CopyFieldProps {
  readonly label: string;
  readonly text: string;
}

/** A line of text to take along, with a button that copies it. */
export function CopyField({ label, text }: CopyFieldProps) {
  const copied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.value = true;
    setTimeout(() => {
      copied.value = false;
    }, COPIED_MS);
  };
  // The clipboard exists in secure contexts only; elsewhere a click on the text selects it all.
  const canCopy = 'clipboard' in navigator;
  return (
    <div class="copy-field">
      <h3>{label}</h3>
      <div class="copy-row">
        <code>{text}</code>
        {canCopy && (
          <button type="button" class="quiet" aria-label={`Copy: ${label}`} onClick={() => void copy()}>
            <span aria-live="polite">{copied.value ? 'Copied' : 'Copy'}</span>
          </button>
        )}
      </div>
    </div>
  );
}
