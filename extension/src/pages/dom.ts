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
 * it, and who has come to it by the keyboard stays there. An entry is known by its `data-key`.
 */
export function showEntries(list: HTMLElement, entries: readonly HTMLElement[]): void {
  showChildren(list, entries, (old, fresh) => {
    if (old.getAttribute('data-key') !== fresh.getAttribute('data-key')) return old.replaceWith(fresh);
    return showChildren(old, [...fresh.children], (part, freshPart) => {
      if (!part.isEqualNode(freshPart)) part.replaceWith(freshPart);
    });
  });
}

function showChildren(
  parent: Element,
  fresh: readonly Element[],
  change: (old: Element, fresh: Element) => void,
): void {
  const before = [...parent.children];
  for (const [index, child] of fresh.entries()) {
    const old = before[index];
    if (old) change(old, child);
    else parent.append(child);
  }
  for (const old of before.slice(fresh.length)) old.remove();
}
