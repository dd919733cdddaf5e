import { renderToString } from 'react-dom/server';
import type { Story } from './stories.ts';
import { App } from './ui/app.tsx';

export function renderStory({ props }: Story): { readonly html: string; readonly lang: string; readonly dir: string } {
  const { locale, dir } = props.page;
  return { html: renderToString(<App {...props} />), lang: locale, dir };
}
