/**
 * Runs in pages where the user has chosen a key that leaves downloads to the browser: tells the background of
 * clicks with a key held, and of nothing else. It is a file of its own, without imports, because pages load
 * no modules of add-ons.
 */
const { runtime }: Pick<typeof chrome, 'runtime'> = globalThis.browser ?? globalThis.chrome;

function tell(event: MouseEvent | KeyboardEvent): void {
  // What the page itself makes up is not the user's.
  if (!event.isTrusted) return;
  const { altKey, ctrlKey, shiftKey } = event;
  const held = { alt: altKey, ctrl: ctrlKey, shift: shiftKey };
  // A click without a key ends what an earlier one with a key meant.
  const keys = Object.entries(held).flatMap(([key, isHeld]) => (isHeld ? [key] : []));
  // Rejects when the add-on has been updated meanwhile: then nobody listens to this copy any more.
  void Promise.resolve(runtime.sendMessage({ name: 'clicked', ask: { keys } })).catch(() => undefined);
}

addEventListener('click', tell, { capture: true, passive: true });
