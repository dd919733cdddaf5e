import './styles/page.css';
import { type ReactNode, startTransition } from 'react';
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
  const hydrate = (node: ReactNode) => startTransition(() => void hydrateRoot(root, node));
  if (page.kind === 'payment') hydrate(<LivePage page={page} />);
  // Only merchants sign refunds, so payers do not load this code.
  else if (page.kind === 'refund') {
    void import('./refund/live-refund.tsx').then(({ LiveRefund }) => hydrate(<LiveRefund page={page} />));
  } else hydrate(<App {...firstProps(page)} />);
  // The gateway was unavailable when it rendered this page. The random delay keeps waiting pages from reloading at the same moment.
  if (page.kind === 'unavailable') setTimeout(() => location.reload(), 4_000 + Math.random() * 4_000);
}
