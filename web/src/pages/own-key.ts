import { isTestKey, takeKey } from '../shared/reference-key.ts';

const VARIABLE = '$API_KEY';

/** Adds a field for a test key, which is inserted into all examples. The key is kept in memory only. */
export function addOwnKey(): void {
  const place = document.getElementById('own-key');
  if (place === null) return;
  const input = document.createElement('input');
  input.id = 'own-key-text';
  input.spellcheck = false;
  // The browser must not restore the key after a reload.
  input.autocomplete = 'off';
  input.placeholder = 'till_test_…';
  input.setAttribute('aria-describedby', 'own-key-note');
  const label = document.createElement('label');
  label.htmlFor = input.id;
  label.textContent = 'Your test key';
  const note = document.createElement('p');
  note.id = 'own-key-note';
  note.role = 'status';
  place.append(label, input, note);

  const fill = fillExamples();
  const show = () => {
    const text = input.value.trim();
    const isKey = isTestKey(text);
    fill(isKey ? text : VARIABLE);
    input.ariaInvalid = String(text !== '' && !isKey);
    note.textContent = noteOf(text, isKey);
  };
  input.addEventListener('input', show);
  takeKey((key) => {
    input.value = key;
    show();
  });
  show();
}

function noteOf(text: string, isKey: boolean): string {
  if (isKey) return 'The examples have your key. This page forgets it when it is closed.';
  if (text === '') return 'Fills in the examples. It stays in this page and is not stored.';
  return text.startsWith('till_live_') ? 'This is a live key. Use a test key here.' : 'This is not a test key.';
}

/** Returns a function that inserts a key into all examples. */
function fillExamples(): (value: string) => void {
  const texts: { readonly node: Text; readonly template: string }[] = [];
  for (const code of document.querySelectorAll('pre code')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode as Text;
      if (node.data.includes(VARIABLE)) texts.push({ node, template: node.data });
    }
  }
  return (value) => {
    for (const { node, template } of texts) node.data = template.replaceAll(VARIABLE, () => value);
  };
}
