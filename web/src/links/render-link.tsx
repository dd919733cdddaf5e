import { renderToStaticMarkup } from 'react-dom/server';
import { STRINGS as CHECKOUT_STRINGS } from '../checkout/locale.ts';
import { en as checkoutEn } from '../checkout/strings/en.ts';
import { LinkPage, type LinkWords, titleOf } from './link-page.tsx';
import { STRINGS } from './link-words.ts';
import type { LinkPageState } from './page-state.ts';
import { en } from './strings/en.ts';

export function renderLink(state: LinkPageState): { readonly html: string; readonly title: string } {
  const words: LinkWords = {
    ...(CHECKOUT_STRINGS[state.locale] ?? checkoutEn),
    ...(STRINGS[state.locale] ?? en),
  };
  return { html: renderToStaticMarkup(<LinkPage state={state} words={words} />), title: titleOf(state, words) };
}
