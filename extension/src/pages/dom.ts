/** The element with this id, of the expected kind. A page without it is a mistake of ours. */
export function byId<E extends HTMLElement>(id: string, kind: abstract new () => E): E {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return found;
}

/** A new element with a class and children; text stays text, whatever it contains. */
export function make<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  element.append(...children);
  return element;
}

/**
 * Shows these entries in a list, and leaves every part of it that is as before: who presses a button meanwhile presses
 * it, and who has come to it by the keyboard stays there, or in its entry where it is gone. An entry is known by its
 * `data-key`.
 */
export function showEntries(list: HTMLElement, entries: readonly HTMLElement[]): void {
  const focused = document.activeElement;
  const entry = focused?.closest<HTMLElement>('[data-key]');
  showChildren(list, entries);
  if (!entry || focused?.isConnected) return;
  entry.tabIndex = -1;
  entry.focus();
}

function showChildren(parent: Element, fresh: readonly Element[]): void {
  const before = [...parent.children];
  const shown = fresh.map((child) => {
    const at = before.findIndex((old) => nameOf(old) === nameOf(child));
    const [old] = at < 0 ? [] : before.splice(at, 1);
    if (old && !old.isEqualNode(child)) renew(old, child);
    return old ?? child;
  });
  // First: what is moved loses the focus.
  for (const old of before) old.remove();
  for (const [index, child] of shown.entries()) {
    const place = parent.children[index] ?? null;
    if (place !== child) parent.insertBefore(child, place);
  }
}

/** By which a child is found again, wherever it stands. */
function nameOf(child: Element): string {
  return (
    child.getAttribute('data-key') ?? [child.tagName, child.classList[0], child.getAttributeNames()].join()
  );
}

function renew(old: Element, fresh: Element): void {
  for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
  if (fresh.firstElementChild) showChildren(old, [...fresh.children]);
  else if (old.textContent !== fresh.textContent) old.textContent = fresh.textContent;
}
