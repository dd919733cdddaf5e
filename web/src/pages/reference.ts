import './reference.css';
import { addOwnKey } from './own-key.ts';

/**
 * The script of the API reference: search, copy buttons, examples with the reader's key, and a mark in the table of contents at the
 * section on the screen.
 */

const COPIED_MS = 1_500;

addCopyButtons();
addSearch();
addOwnKey();
markPlace();

function addCopyButtons(): void {
  for (const figure of document.querySelectorAll('figure')) {
    const code = figure.querySelector('pre');
    const caption = figure.querySelector('figcaption');
    if (code === null || caption === null) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.ariaLabel = `Copy ${caption.textContent?.trim().toLowerCase() ?? 'the example'}`;
    button.addEventListener('click', async () => {
      const isCopied = await copy(code);
      button.textContent = isCopied ? 'Copied' : 'Selected';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, COPIED_MS);
    });
    caption.append(button);
  }
}

/** Copies code to the clipboard. Pages over plain HTTP may not do so: there the text is selected, to be copied by keyboard. */
async function copy(code: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    return false;
  }
}

interface Entry {
  readonly item: HTMLElement;
  readonly link: HTMLAnchorElement;
  readonly group: HTMLElement | null;
  /** The title, method and path of the section. */
  readonly name: string;
  /** The full text of the section, which is also searched, for field names and error codes. */
  readonly text: string;
}

function addSearch(): void {
  const place = document.getElementById('search');
  const navigation = document.getElementById('contents');
  if (place === null || navigation === null) return;
  const input = document.createElement('input');
  input.type = 'search';
  input.placeholder = 'Search';
  input.ariaLabel = 'Search the reference';
  input.setAttribute('aria-keyshortcuts', '/');
  const count = document.createElement('p');
  count.className = 'unseen';
  count.role = 'status';
  place.append(input, count);

  let entries: readonly Entry[] | undefined;
  const matches = () => (entries ?? []).filter(({ item }) => !item.hidden);
  input.addEventListener('input', () => {
    entries ??= listEntries(navigation);
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = (where: 'name' | 'text') =>
      new Set(entries?.filter((entry) => words.every((word) => entry[where].includes(word))));
    const named = hits('name');
    const shown = named.size > 0 ? named : hits('text');
    for (const entry of entries) entry.item.hidden = !shown.has(entry);
    hideEmptyGroups(entries, words.length > 0);
    const found = matches().length;
    count.textContent = words.length === 0 ? '' : `${found} found`;
    place.classList.toggle('nothing', words.length > 0 && found === 0);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') matches()[0]?.link.click();
    if (event.key !== 'Escape') return;
    input.value = '';
    input.dispatchEvent(new Event('input'));
    input.blur();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}

function listEntries(navigation: HTMLElement): readonly Entry[] {
  return [...navigation.querySelectorAll<HTMLAnchorElement>('li > a:not(.group)')].flatMap((link) => {
    const item = link.closest('li');
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    const name = `${link.textContent} ${target?.querySelector('.endpoint')?.textContent ?? ''}`.toLowerCase();
    const text = `${name} ${target?.textContent?.toLowerCase() ?? ''}`;
    return item === null ? [] : [{ item, link, group: item.parentElement?.closest('li') ?? null, name, text }];
  });
}

/** Shows a group while one of its entries is shown, and unfolds a folded group if one of its entries matches. */
function hideEmptyGroups(entries: readonly Entry[], isSearching: boolean): void {
  const shown = new Set<HTMLElement>();
  for (const { item, group } of entries) {
    if (item.hidden) continue;
    for (let each = group; each !== null; each = each.parentElement?.closest('li') ?? null) shown.add(each);
  }
  const groups = new Set(entries.flatMap(({ group }) => ancestors(group)));
  for (const group of groups) {
    group.hidden = isSearching && !shown.has(group);
    const folded = group.querySelector<HTMLDetailsElement>(':scope > details');
    if (folded !== null) folded.open = isSearching;
  }
}

function ancestors(group: HTMLElement | null): HTMLElement[] {
  return group === null ? [] : [group, ...ancestors(group.parentElement?.closest('li') ?? null)];
}

/** Marks the present section in the table of contents: the last one whose heading is in the upper third of the window or above. */
function markPlace(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('#contents li a')].map((link) => [link.hash.slice(1), link]),
  );
  const places = [...document.querySelectorAll<HTMLElement>('main [id]')].filter(({ id }) => links.has(id));
  let current: HTMLAnchorElement | undefined;
  let isDue = false;
  const mark = () => {
    isDue = false;
    const passed = places.findLast(
      (place) => place.offsetParent !== null && place.getBoundingClientRect().top < innerHeight / 3,
    );
    const next = passed === undefined ? undefined : links.get(passed.id);
    if (next === current) return;
    current?.removeAttribute('aria-current');
    next?.setAttribute('aria-current', 'location');
    current = next;
    next?.scrollIntoView({ block: 'nearest' });
  };
  const soon = () => {
    if (!isDue) requestAnimationFrame(mark);
    isDue = true;
  };
  addEventListener('scroll', soon, { passive: true });
  soon();
}
