import './styles/page.css';
import { startTransition } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { firstProps } from './first-props.ts';
import type { PageState } from './page-state.ts';
import { App } from './ui/app.tsx';
import { LivePage } from './ui/live-page.tsx';

const root = document.getElementById('root');
const state = document.getElementById('state')?.textContent;
if (root !== null && state != null) {
  const page = JSON.parse(state) as PageState;
  // As a transition it is done in slices, between which the page can answer: on a slow phone it takes a while.
  startTransition(() => {
    hydrateRoot(root, page.kind === 'payment' ? <LivePage page={page} /> : <App {...firstProps(page)} />);
  });
  // The gateway was away when it was asked for this page. Not all of those who wait come back in the same moment.
  if (page.kind === 'unavailable') setTimeout(() => location.reload(), 4_000 + Math.random() * 4_000);
}
