import { renderToString } from 'react-dom/server';
import { RefundApp } from './refund/refund-app.tsx';
import type { Story } from './story-samples.ts';
import { App } from './ui/app.tsx';

export function renderStory({ props }: Story): { readonly html: string; readonly lang: string; readonly dir: string } {
  const { locale, dir } = props.page;
  const root = 'state' in props ? <RefundApp {...props} /> : <App {...props} />;
  return { html: renderToString(root), lang: locale, dir };
}
