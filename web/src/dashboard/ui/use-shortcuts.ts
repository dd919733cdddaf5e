import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { usePagesSeen } from './pages.ts';

/** The longest time between G and the letter of a page. */
const SEQUENCE_MS = 1_500;

/** Keyboard shortcuts: ⌘K or ? for the palette, / for the search field, G and a letter for a page. */
export function useShortcuts(openPalette: () => void): void {
  const navigate = useNavigate();
  const pages = usePagesSeen();
  const now = useRef({ openPalette, pages });
  now.current = { openPalette, pages };
  useEffect(() => {
    let begunAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase();
      if (key === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault();
        now.current.openPalette();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping()) return;
      const isSecond = event.timeStamp - begunAt < SEQUENCE_MS;
      begunAt = key === 'g' && !isSecond ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const page = isSecond ? now.current.pages.find((each) => each.key === key) : undefined;
      if (page !== undefined) void navigate({ to: page.to });
      else if (key === '?') {
        // The question mark must not be typed into the palette.
        event.preventDefault();
        now.current.openPalette();
      } else if (key === '/') focusSearch(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigate]);
}

/** True while a field or a dialog gets the keys. */
function isTyping(): boolean {
  const { activeElement } = document;
  const isField = activeElement !== null && /^(INPUT|SELECT|TEXTAREA)$/.test(activeElement.tagName);
  return isField || document.querySelector('dialog[open]') !== null;
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('#content input[type="search"]');
  if (field === null) return;
  event.preventDefault();
  field.focus();
}
