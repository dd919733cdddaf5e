import { renderToString } from 'react-dom/server';
import { firstProps } from './first-props.ts';
import type { PageState } from './page-state.ts';
import { App } from './ui/app.tsx';

// biome-ignore lint/performance/noBarrelFile: the server's one door to the built page
export { LOCALES, pickLocale, STRINGS } from './locale.ts';

/** The markup of the root element, identical to the browser's first render. */
export function render(page: PageState): { readonly html: string } {
  return { html: renderToString(<App {...firstProps(page)} />) };
}
