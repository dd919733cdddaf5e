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
  // A transition hydrates in slices, so that the page stays responsive on a slow phone.
  startTransition(() => {
    hydrateRoot(root, page.kind === 'payment' ? <LivePage page={page} /> : <App {...firstProps(page)} />);
  });
  // The gateway was unreachable when it rendered this page. Reloads are spread, so that waiting pages do not return at
  // the same moment.
  if (page.kind === 'unavailable') setTimeout(() => location.reload(), 4_000 + Math.random() * 4_000);
}
